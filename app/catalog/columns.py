"""Build the market's columns from plain figures: pure, and the same whether the figures come from records or from the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

import numpy as np

from app.domain.gpus import Gpu
from app.domain.hardware import INTRA_LINKS, Floats, Ints
from app.domain.interval import Interval
from app.domain.market import PURCHASE_OPTIONS, BillingRule, Fee, Offer, ProviderInfo, Quota, Rate, Stock, Tariff
from app.domain.market_columns import PRICE_KINDS, Market, OfferColumns, TariffColumns
from app.domain.market_records import MarketRecords
from app.domain.money import NANO
from app.domain.units import HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_WEEK, TERM_HOURS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OfferKey = tuple[str, str, str, int]

_UNIT_HOURS = {"node_hour": 1.0, "node_day": HOURS_PER_DAY, "node_week": HOURS_PER_WEEK, "node_month": HOURS_PER_MONTH}
_STOCK_CODES = {None: -1, "unavailable": 0, "available": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFigures:
    """One list a column, one entry an offer, in any order."""

    provider: Sequence[str]
    region: Sequence[str]
    country: Sequence[str | None]
    sku: Sequence[str]
    gpu: Sequence[str]
    gpus_per_node: Sequence[int]
    vcpus: Sequence[float | None]
    ram_gb: Sequence[float | None]
    local_nvme_gb: Sequence[float | None]
    link: Sequence[str]
    inter_node_gbit_s: Sequence[float | None]
    maximum_nodes: Sequence[int | None]
    component: Sequence[bool]
    stock: Sequence[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TariffFigures:
    """One list a column, one entry a tariff in force; ``offer`` is the entry's place in ``OfferFigures``.

    ``observed_hours`` is in hours since the epoch, NaN when unknown.
    """

    offer: Sequence[int] | Ints
    option: Sequence[str]
    amount_nano: Sequence[int]
    currency: Sequence[str]
    unit: Sequence[str]
    term_unit: Sequence[str | None]
    term_count: Sequence[int | None]
    upfront: Sequence[str]
    minimum_gpus: Sequence[int]
    kind: Sequence[str]
    observed_hours: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketFacts:
    """The rest of a market: few rows, kept as records."""

    as_of: datetime
    catalog_version: int
    providers: Sequence[ProviderInfo]
    fees: Sequence[Fee]
    quotas: Sequence[Quota]
    billing_rules: Sequence[BillingRule]
    rates: Sequence[Rate]


def hours_since_epoch(instant: datetime | None) -> float:
    """Hours since 1970-01-01 UTC, NaN for an unknown instant."""
    return np.nan if instant is None else (instant - EPOCH) / timedelta(hours=1)


def build_market(
    offers: OfferFigures,
    tariffs: TariffFigures,
    facts: MarketFacts,
    *,
    gpus: Mapping[str, Gpu],
    offer_at: Callable[[int], Offer],
    tariff_at: Callable[[int], Tariff],
) -> Market:
    """Sort, encode and bundle.

    ``offer_at`` and ``tariff_at`` take the place of an entry in the figures. Offers of a GPU that ``gpus`` does not know are left out with
    their tariffs: nothing can be said of their speed. The order of the entries does not matter.
    """
    known = np.array([name in gpus for name in offers.gpu], dtype=np.bool_)
    places = tuple(sorted(set(zip(offers.provider, offers.region, strict=True))))
    place = _codes(list(zip(offers.provider, offers.region, strict=True)), places)
    sku = _codes(offers.sku, tuple(sorted(set(offers.sku))))
    count = np.array(offers.gpus_per_node, dtype=np.int64)
    order = np.lexsort((count, sku, place))
    order = order[known[order]]
    row_of = np.full(len(known), -1, dtype=np.int64)
    row_of[order] = np.arange(len(order))

    used = tuple(sorted({name for name in offers.gpu if name in gpus}))
    provider_names = tuple(sorted(set(offers.provider)))
    countries = tuple(sorted({country for country in offers.country if country is not None}))
    columns = OfferColumns(
        provider=_codes(offers.provider, provider_names)[order],
        place=place[order],
        country=_codes(offers.country, countries)[order],
        gpu=_codes(offers.gpu, used)[order],
        gpus_per_node=count[order],
        link=_codes(offers.link, INTRA_LINKS)[order],
        inter_node_gbit_s=_floats(offers.inter_node_gbit_s)[order],
        vcpus=_floats(offers.vcpus)[order],
        ram_gb=_floats(offers.ram_gb)[order],
        local_nvme_gb=_floats(offers.local_nvme_gb)[order],
        maximum_nodes=np.array([value or 0 for value in offers.maximum_nodes], dtype=np.int64)[order],
        component=np.array(offers.component, dtype=np.bool_)[order],
        in_stock=np.array([_STOCK_CODES[value] for value in offers.stock], dtype=np.int64)[order],
    )
    currencies = tuple(sorted(set(tariffs.currency)))
    tariff_columns, tariff_order = _tariff_columns(tariffs, row_of, currencies)
    return Market(
        as_of=facts.as_of,
        catalog_version=facts.catalog_version,
        providers=provider_names,
        places=places,
        countries=countries,
        currencies=currencies,
        gpus=tuple(gpus[name] for name in used),
        offers=columns,
        tariffs=tariff_columns,
        fees=tuple(sorted(facts.fees, key=_fee_key)),
        quotas=tuple(sorted(facts.quotas, key=lambda q: (q.provider, q.scope, q.code, q.name, q.gpu_family, q.unit))),
        billing_rules=tuple(sorted(facts.billing_rules, key=lambda rule: (rule.provider, rule.option or "", rule.step_seconds))),
        rates=tuple(sorted(facts.rates, key=lambda rate: (rate.base, rate.quote, rate.day, rate.source))),
        offer_at=lambda row: offer_at(int(order[row])),
        tariff_at=lambda row: tariff_at(int(tariff_order[row])),
        provider_kinds={info.id: info.kind for info in sorted(facts.providers, key=lambda info: info.id)},
    )


def market_from_records(records: MarketRecords, *, gpus: Mapping[str, Gpu], as_of: datetime, catalog_version: int = 0) -> Market:
    """The market as of ``as_of`` from plain records, without a database.

    Only tariffs whose interval contains ``as_of`` enter; one without a stated start begins when it was first read. Of the rates, the latest
    day not after ``as_of`` per pair and source; of the stock of an offer, the latest reading.

    Raises:
        KeyError: a tariff names an offer that the records lack.
    """
    offers = records.offers
    row_by_key = {offer.key: row for row, offer in enumerate(offers)}
    in_force = [
        tariff
        for tariff in records.tariffs
        if as_of in Interval(tariff.valid_from, tariff.valid_to)
        and (tariff.valid_from is not None or tariff.source.observed_at is None or tariff.source.observed_at <= as_of)
    ]
    stock = _latest_stock(records.stock)
    return build_market(
        OfferFigures(
            provider=[offer.provider for offer in offers],
            region=[offer.region for offer in offers],
            country=[offer.country for offer in offers],
            sku=[offer.sku for offer in offers],
            gpu=[offer.gpu for offer in offers],
            gpus_per_node=[offer.gpus_per_node for offer in offers],
            vcpus=[offer.vcpus for offer in offers],
            ram_gb=[offer.ram_gb for offer in offers],
            local_nvme_gb=[offer.local_nvme_gb for offer in offers],
            link=[offer.intra_node_link for offer in offers],
            inter_node_gbit_s=[offer.inter_node_gbit_s for offer in offers],
            maximum_nodes=[offer.maximum_nodes for offer in offers],
            component=[offer.component for offer in offers],
            stock=[stock.get(offer.key) for offer in offers],
        ),
        TariffFigures(
            offer=[row_by_key[tariff.offer] for tariff in in_force],
            option=[tariff.option for tariff in in_force],
            amount_nano=[tariff.amount.nano for tariff in in_force],
            currency=[tariff.amount.currency for tariff in in_force],
            unit=[tariff.unit for tariff in in_force],
            term_unit=[tariff.term_unit for tariff in in_force],
            term_count=[tariff.term_count for tariff in in_force],
            upfront=[tariff.upfront for tariff in in_force],
            minimum_gpus=[tariff.minimum_gpus for tariff in in_force],
            kind=[tariff.kind for tariff in in_force],
            observed_hours=np.array([hours_since_epoch(tariff.source.observed_at) for tariff in in_force], dtype=np.float64),
        ),
        MarketFacts(
            as_of=as_of,
            catalog_version=catalog_version,
            providers=records.providers,
            fees=records.fees,
            quotas=records.quotas,
            billing_rules=records.billing_rules,
            rates=latest_rates(records.rates, as_of),
        ),
        gpus=gpus,
        offer_at=offers.__getitem__,
        tariff_at=in_force.__getitem__,
    )


def latest_rates(rates: Sequence[Rate], as_of: datetime) -> tuple[Rate, ...]:
    """Of each (base, quote, source), the rate of the latest day not after ``as_of``."""
    latest: dict[tuple[str, str, str], Rate] = {}
    for rate in rates:
        pair = (rate.base, rate.quote, rate.source)
        if rate.day <= as_of.date() and (pair not in latest or latest[pair].day < rate.day):
            latest[pair] = rate
    return tuple(latest.values())


def _latest_stock(stock: Sequence[Stock]) -> dict[OfferKey, str]:
    """Status per offer; of several readings the latest, and of equal dates the worse."""
    ordered = sorted(stock, key=lambda reading: (reading.source.observed_at or EPOCH, reading.status == "unavailable"))
    return {reading.offer: reading.status for reading in ordered}


def _tariff_columns(tariffs: TariffFigures, row_of: Ints, currencies: tuple[str, ...]) -> tuple[TariffColumns, Ints]:
    """Encoded columns sorted by key, and the entry behind each row; tariffs of offers that were left out are left out."""
    offer = row_of[np.array(tariffs.offer, dtype=np.int64)]
    terms = {pair: _term_hours(*pair) for pair in set(zip(tariffs.term_unit, tariffs.term_count, strict=True))}
    term_hours = np.array([terms[pair] for pair in zip(tariffs.term_unit, tariffs.term_count, strict=True)], dtype=np.float64)
    unit_hours = np.array([_UNIT_HOURS.get(unit, np.nan) for unit in tariffs.unit], dtype=np.float64)
    unit_hours = np.where(np.isnan(unit_hours), term_hours, unit_hours)
    amount_nano = np.array(tariffs.amount_nano, dtype=np.int64)
    columns = TariffColumns(
        offer=offer,
        option=_codes(tariffs.option, PURCHASE_OPTIONS),
        amount=amount_nano / NANO,
        currency=_codes(tariffs.currency, currencies),
        unit_hours=unit_hours,
        term_hours=term_hours,
        upfront=np.array([value == "all" for value in tariffs.upfront], dtype=np.bool_),
        minimum_gpus=np.array(tariffs.minimum_gpus, dtype=np.int64),
        kind=_codes(tariffs.kind, PRICE_KINDS),
        observed_hours=tariffs.observed_hours,
    )
    order = np.lexsort(
        (
            columns.observed_hours,
            amount_nano,
            columns.currency,
            columns.kind,
            columns.minimum_gpus,
            columns.upfront,
            columns.term_hours,
            columns.unit_hours,
            columns.option,
            columns.offer,
        )
    )
    order = order[offer[order] >= 0]
    return TariffColumns(**{field.name: getattr(columns, field.name)[order] for field in fields(TariffColumns)}), order


def _term_hours(unit: str | None, count: int | None) -> float:
    """Length of a commitment; 0 without one, NaN when it is asked but its length is unknown."""
    if unit is None:
        return 0.0
    return np.nan if count is None else TERM_HOURS[unit] * count


def _codes(values: Sequence[object], table: Sequence[object]) -> Ints:
    """Positions in ``table``; -1 for None and for what the table lacks."""
    position = {value: code for code, value in enumerate(table)}
    return np.array([position.get(value, -1) for value in values], dtype=np.int64)


def _floats(values: Sequence[float | None]) -> Floats:
    """Floats with NaN for unknown."""
    return np.array(values, dtype=np.float64)


def _fee_key(fee: Fee) -> tuple[str, str, str, str, str, float, int]:
    """Sorting key of fees: unknown amounts last within a tier."""
    nano = -1 if fee.amount is None else fee.amount.nano
    return (fee.provider, fee.region, fee.kind, fee.sku, fee.unit, fee.tier_from_gb, nano)
