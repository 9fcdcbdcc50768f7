"""How each kind of record becomes a row: its key, what is compared, and what is merely carried along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Table

from app.domain.market import BillingRule, Fee, Offer, ProviderInfo, Quota, Rate, Source, Stock, Tariff
from app.domain.money import Money
from app.store import keys
from app.store.tables import (
    BillingRuleRow,
    FeeRow,
    OfferShapeRow,
    ProviderRow,
    QuotaRow,
    RateRow,
    StockRow,
    TariffRow,
    table_of,
)
from app.store.timeline import Statement

OfferKey = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """Row numbers of what records refer to."""

    offers: Mapping[OfferKey, int]
    sources: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """One statement about one key."""

    key: str
    provider: str | None
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One dated table: ``values`` are compared, ``carried`` are written with them; ``key`` and the time columns stand for themselves."""

    table: Table
    values: tuple[str, ...]
    carried: tuple[str, ...]

    def keyed(
        self,
        key: str,
        row: Mapping[str, object],
        *,
        observed_at: datetime | None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
    ) -> Keyed:
        """A statement whose row has exactly the columns of this series."""
        provider = row.get("provider")
        return Keyed(
            key=key,
            provider=provider if isinstance(provider, str) else None,
            statement=Statement(
                start=valid_from,
                end=valid_to,
                values=tuple(row[name] for name in self.values),
                observed_at=observed_at,
                row={"key": key, **{name: row[name] for name in (*self.values, *self.carried)}},
            ),
        )


_SOURCED = ("source_id", "date_precision", "evidence", "note")
PROVIDERS = Series(table=table_of(ProviderRow), values=("name", "kind", "homepage", "name_zh"), carried=("provider",))
SHAPES = Series(
    table=table_of(OfferShapeRow),
    values=(
        "country",
        "gpu",
        "gpu_memory_gb",
        "vcpus",
        "ram_gb",
        "local_nvme_gb",
        "intra_node_link",
        "inter_node_gbit_s",
        "maximum_nodes",
        "upstream",
        "component",
        "note",
    ),
    carried=("offer_id", "provider"),
)
TARIFFS = Series(
    table=table_of(TariffRow),
    values=("amount_nano", "currency", "kind"),
    carried=("offer_id", "provider", "option", "unit", "term_unit", "term_count", "upfront", "minimum_gpus", *_SOURCED),
)
FEES = Series(
    table=table_of(FeeRow),
    values=("amount_nano", "currency", "tier_to_gb", "free_gb"),
    carried=("provider", "region", "kind", "sku", "unit", "tier_from_gb", *_SOURCED),
)
QUOTAS = Series(
    table=table_of(QuotaRow),
    values=("default_amount", "approval"),
    carried=("provider", "scope", "code", "name", "gpu_family", "unit", *_SOURCED),
)
STOCK = Series(table=table_of(StockRow), values=("status",), carried=("offer_id", "provider", *_SOURCED))
BILLING = Series(table=table_of(BillingRuleRow), values=("step_seconds", "minimum_seconds"), carried=("provider", "option", *_SOURCED))
RATES = Series(table=table_of(RateRow), values=("rate",), carried=("base", "quote", "day", "source"))


def provider_statements(providers: Iterable[ProviderInfo], observed_at: datetime | None) -> list[Keyed]:
    """Providers carry no source of their own: they are as new as the batch."""
    return [
        PROVIDERS.keyed(
            keys.text_key((info.id,)),
            {"provider": info.id, "name": info.name, "kind": info.kind, "homepage": info.homepage, "name_zh": info.name_zh},
            observed_at=observed_at,
        )
        for info in providers
    ]


def shape_statements(offers: Iterable[Offer], ids: Ids, observed_at: datetime | None) -> list[Keyed]:
    """Offers carry no source of their own: they are as new as the batch."""
    return [
        SHAPES.keyed(
            keys.offer_key(offer.key),
            {
                "offer_id": ids.offers[offer.key],
                "provider": offer.provider,
                **{name: getattr(offer, name) for name in SHAPES.values},
            },
            observed_at=observed_at,
        )
        for offer in offers
    ]


def tariff_statements(tariffs: Iterable[Tariff], ids: Ids) -> list[Keyed]:
    """Prices."""
    return [
        TARIFFS.keyed(
            keys.tariff_key(tariff),
            {
                "offer_id": ids.offers[tariff.offer],
                "provider": tariff.offer[0],
                "option": tariff.option,
                "unit": tariff.unit,
                "term_unit": tariff.term_unit,
                "term_count": tariff.term_count,
                "upfront": tariff.upfront,
                "minimum_gpus": tariff.minimum_gpus,
                "kind": tariff.kind,
                **_money(tariff.amount),
                **_sourced(tariff.source, tariff.note, ids),
            },
            observed_at=tariff.source.observed_at,
            valid_from=tariff.valid_from,
            valid_to=tariff.valid_to,
        )
        for tariff in tariffs
    ]


def fee_statements(fees: Iterable[Fee], ids: Ids) -> list[Keyed]:
    """Fee tiers."""
    return [
        FEES.keyed(
            keys.fee_key(fee),
            {
                "provider": fee.provider,
                "region": fee.region,
                "kind": fee.kind,
                "sku": fee.sku,
                "unit": fee.unit,
                "tier_from_gb": float(fee.tier_from_gb),
                "tier_to_gb": None if fee.tier_to_gb is None else float(fee.tier_to_gb),
                "free_gb": float(fee.free_gb),
                **_money(fee.amount),
                **_sourced(fee.source, fee.note, ids),
            },
            observed_at=fee.source.observed_at,
        )
        for fee in fees
    ]


def quota_statements(quotas: Iterable[Quota], ids: Ids) -> list[Keyed]:
    """Quotas of new accounts."""
    return [
        QUOTAS.keyed(
            keys.quota_key(quota),
            {
                "provider": quota.provider,
                "scope": quota.scope,
                "code": quota.code,
                "name": quota.name,
                "gpu_family": quota.gpu_family,
                "unit": quota.unit,
                "default_amount": None if quota.default is None else f"{quota.default:f}",
                "approval": quota.approval,
                **_sourced(quota.source, quota.note, ids),
            },
            observed_at=quota.source.observed_at,
        )
        for quota in quotas
    ]


def stock_statements(stock: Iterable[Stock], ids: Ids) -> list[Keyed]:
    """Availability."""
    return [
        STOCK.keyed(
            keys.offer_key(reading.offer),
            {
                "offer_id": ids.offers[reading.offer],
                "provider": reading.offer[0],
                "status": reading.status,
                **_sourced(reading.source, "", ids),
            },
            observed_at=reading.source.observed_at,
        )
        for reading in stock
    ]


def billing_statements(rules: Iterable[BillingRule], ids: Ids) -> list[Keyed]:
    """Billing rules."""
    return [
        BILLING.keyed(
            keys.billing_key(rule),
            {
                "provider": rule.provider,
                "option": rule.option,
                "step_seconds": rule.step_seconds,
                "minimum_seconds": rule.minimum_seconds,
                **_sourced(rule.source, rule.note, ids),
            },
            observed_at=rule.source.observed_at,
        )
        for rule in rules
    ]


def rate_statements(rates: Iterable[Rate]) -> list[Keyed]:
    """Exchange rates. The day is part of the key, so another figure for the same day is a correction."""
    return [
        RATES.keyed(
            keys.rate_key(rate),
            {"base": rate.base, "quote": rate.quote, "day": rate.day, "source": rate.source, "rate": f"{rate.rate:f}"},
            observed_at=None,
        )
        for rate in rates
    ]


def sources_of(records: Iterable[Sequence[Tariff | Fee | Quota | Stock | BillingRule]]) -> set[tuple[str, str]]:
    """All (name, url) that the records name."""
    return {(record.source.name, record.source.url) for group in records for record in group}


def _money(amount: Money | None) -> dict[str, object]:
    return {"amount_nano": None if amount is None else amount.nano, "currency": None if amount is None else amount.currency}


def _sourced(source: Source, note: str, ids: Ids) -> dict[str, object]:
    return {
        "source_id": ids.sources[source.name, source.url],
        "date_precision": source.date_precision,
        "evidence": source.evidence,
        "note": note,
    }
