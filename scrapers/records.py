"""Observations become records of the market, with the source and the date that only the runner knows, and points for the batch rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time
from decimal import ROUND_HALF_EVEN, Decimal

from app.domain.market import BillingRule, Fee, Offer, Quota, Source, Stock, Tariff
from app.domain.market_records import MarketRecords
from app.domain.money import Money
from app.domain.quality import PricePoint, Rules
from scrapers.base import Provider
from scrapers.seen import BillingSeen, FeeSeen, OfferSeen, QuotaSeen, Reading, Seen, StockSeen

Countries = Mapping[tuple[str, str], str]
"""Country by (provider, region), for pages that do not say it."""


def records_of(provider: Provider, reading: Reading, sources: Mapping[str, Source], countries: Countries | None = None) -> MarketRecords:
    """The records of one reading.

    Args:
        provider: whose pages they are.
        reading: what its scraper saw; one that is refused as a whole gives no records.
        sources: by ``Page.id``, with the date of the fetch. Figures of a dated table carry their own URL and date.
        countries: where regions are, for offers whose page does not say it.

    Raises:
        KeyError: a page has no source.
    """
    seen = () if reading.refused else reading.observations
    offers: dict[tuple[str, str, str, int], Offer] = {}
    tariffs, fees, quotas, stock, billing = [], [], [], [], []
    for each in seen:
        source = _source(provider, each, sources)
        match each:
            case OfferSeen():
                offer = _offer(provider, each, countries or {})
                offers.setdefault(offer.key, offer)
                tariffs.append(_tariff(each, offer, source))
            case FeeSeen():
                fees.append(_fee(provider, each, source))
            case QuotaSeen():
                quotas.append(_quota(provider, each, source))
            case StockSeen():
                stock.append(Stock(offer=(provider.id, each.region, each.sku, each.gpus), status=each.status, source=source))
            case BillingSeen():
                billing.append(
                    BillingRule(
                        provider=provider.id,
                        option=each.option,
                        step_seconds=each.step_seconds,
                        minimum_seconds=each.minimum_seconds,
                        source=source,
                        note=each.note,
                    )
                )
    return MarketRecords(
        providers=(provider.info,),
        offers=tuple(offers.values()),
        tariffs=tuple(tariffs),
        fees=tuple(fees),
        quotas=tuple(quotas),
        stock=tuple(stock),
        billing_rules=tuple(billing),
        rates=(),
        history=(),
    )


def _source(provider: Provider, seen: Seen, sources: Mapping[str, Source]) -> Source:
    if seen.stated is None:
        return sources[seen.page]
    read = datetime.combine(seen.stated.day, time(), UTC)
    return Source(name=f"{provider.name}: {seen.stated.url}", url=seen.stated.url, observed_at=read, date_precision="day")


def _offer(provider: Provider, seen: OfferSeen, countries: Countries) -> Offer:
    return Offer(
        provider=provider.id,
        region=seen.region,
        country=seen.country or countries.get((provider.id, seen.region)),
        sku=seen.sku,
        gpu=seen.gpu,
        gpus_per_node=seen.gpus,
        gpu_memory_gb=seen.gpu_memory_gb,
        vcpus=seen.vcpus,
        ram_gb=seen.ram_gb,
        local_nvme_gb=seen.local_nvme_gb,
        intra_node_link=seen.link,
        inter_node_gbit_s=seen.inter_node_gbit_s,
        maximum_nodes=seen.maximum_nodes,
        upstream=seen.upstream,
        component=seen.component,
        note=seen.note,
    )


def _tariff(seen: OfferSeen, offer: Offer, source: Source) -> Tariff:
    return Tariff(
        offer=offer.key,
        option=seen.option,
        amount=seen.node_amount,
        unit=seen.per.unit,
        term_unit=None if seen.term is None else seen.term.unit,
        term_count=None if seen.term is None else seen.term.count,
        upfront=seen.upfront,
        minimum_gpus=seen.minimum_gpus,
        kind=seen.kind,
        valid_from=seen.valid_from,
        valid_to=seen.valid_to,
        source=source,
        note=seen.note,
    )


def _fee(provider: Provider, seen: FeeSeen, source: Source) -> Fee:
    return Fee(
        provider=provider.id,
        region=seen.region,
        kind=seen.kind,
        sku=seen.sku,
        unit=seen.unit,
        amount=seen.amount,
        tier_from_gb=seen.tier_from_gb,
        tier_to_gb=seen.tier_to_gb,
        free_gb=seen.free_gb,
        source=source,
        note=seen.note,
    )


def _quota(provider: Provider, seen: QuotaSeen, source: Source) -> Quota:
    return Quota(
        provider=provider.id,
        scope=seen.scope,
        code=seen.code,
        name=seen.name,
        gpu_family=seen.gpu_family,
        unit=seen.unit,
        default=seen.default,
        approval=seen.approval,
        source=source,
        note=seen.note,
    )


def price_points(provider: Provider, reading: Reading) -> tuple[PricePoint, ...]:
    """The prices of a reading as the batch rules want them; terms of unknown length and prices of components are left out.

    On marketplaces and at brokers every machine is its own, so that numbers of GPUs form no family.
    """
    own = provider.kind in {"marketplace", "broker"}
    points = []
    for seen in reading.offers:
        price = seen.node_hour(provider.month_hours)
        if price is None or seen.component:
            continue
        per_gpu = (price / seen.gpus).scaleb(9).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
        term = None if seen.term is None else str(seen.term)
        points.append(
            PricePoint(
                key=seen.key,
                thing=seen.offer_key,
                family=None if own else (seen.region, seen.gpu, seen.option, term, seen.upfront, seen.note),
                gpu=seen.gpu,
                gpus=seen.gpus,
                option=seen.option,
                per_gpu_hour=Money(int(per_gpu), seen.amount.currency),
            )
        )
    return tuple(points)


def rules_of(provider: Provider, bands: Mapping[str, tuple[Decimal, Decimal]] | None = None) -> Rules:
    """The batch rules of a provider; ``bands`` by card, per GPU-hour in the provider's currency."""
    expect = provider.expect
    return Rules(
        minimum=expect.offers[0],
        maximum=expect.offers[1],
        currency=provider.currency,
        band=expect.price_band,
        bands=bands or {},
        gpus=expect.gpus,
    )
