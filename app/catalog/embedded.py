"""The market that ships with the software: app/data/*.csv as records. Every row names its source and the state of its date."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from app.domain.hardware import IntraLink
from app.domain.market import (
    BillingRule,
    DatePrecision,
    Fee,
    FeeKind,
    HistoricPrice,
    Offer,
    PriceKind,
    ProviderInfo,
    PurchaseOption,
    Quota,
    Rate,
    Source,
    Stock,
    Tariff,
    TariffUnit,
)
from app.domain.market_records import MarketRecords
from app.domain.money import Money

FOLDER = Path(__file__).resolve().parents[1] / "data"

Row = dict[str, str]


def load_embedded(folder: Path = FOLDER) -> MarketRecords:
    """All market records but the price history, which ``load_history`` reads. Reads the files on every call; callers keep the result.

    Raises:
        FileNotFoundError: a file of the data set is missing.
        ValueError, KeyError: a file is not as ``make data`` writes it.
    """
    reader = _Reader(folder)
    return MarketRecords(
        providers=tuple(reader.providers()),
        offers=tuple(reader.offers()),
        tariffs=tuple(reader.tariffs()),
        fees=tuple(reader.fees()),
        quotas=tuple(reader.quotas()),
        stock=tuple(reader.stock()),
        billing_rules=tuple(reader.billing_rules()),
        rates=tuple(reader.rates()),
        history=(),
    )


def load_history(folder: Path = FOLDER) -> tuple[HistoricPrice, ...]:
    """The thinned price history."""
    return tuple(_Reader(folder).history())


@lru_cache(maxsize=1024)
def _day(text: str) -> datetime | None:
    """A day as the instant it begins, UTC; None when empty."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def _figure(text: str) -> float | None:
    return float(text) if text else None


class _Reader:
    """Reads the files of one folder; equal sources share one object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._origins = {row["id"]: (row["name"], row["url"]) for row in self._rows("sources")}
        self._sources: dict[tuple[str, str, str], Source] = {}

    def _rows(self, name: str) -> Iterator[Row]:
        with (self._folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)

    def _source(self, row: Row) -> Source:
        key = (row["source"], row["observed"], row["date_precision"])
        if key not in self._sources:
            name, url = self._origins[row["source"]]
            precision = cast("DatePrecision", row["date_precision"])
            self._sources[key] = Source(name=name, url=url, observed_at=_day(row["observed"]), date_precision=precision)
        return self._sources[key]

    def providers(self) -> Iterator[ProviderInfo]:
        for row in self._rows("providers"):
            kind = cast("Literal['hyperscaler', 'gpu_cloud', 'marketplace', 'broker', 'china', 'other']", row["kind"])
            yield ProviderInfo(id=row["id"], name=row["name"], kind=kind, homepage=row["homepage"], name_zh=row["name_zh"])

    def offers(self) -> Iterator[Offer]:
        for row in self._rows("offers"):
            yield Offer(
                provider=row["provider"],
                region=row["region"],
                country=row["country"] or None,
                sku=row["sku"],
                gpu=row["gpu"],
                gpus_per_node=int(row["gpus_per_node"]),
                gpu_memory_gb=float(row["gpu_memory_gb"]),
                vcpus=_figure(row["vcpus"]),
                ram_gb=_figure(row["ram_gb"]),
                local_nvme_gb=_figure(row["local_nvme_gb"]),
                intra_node_link=cast("IntraLink", row["intra_node_link"]),
                inter_node_gbit_s=_figure(row["inter_node_gbit_s"]),
                maximum_nodes=int(row["maximum_nodes"]) if row["maximum_nodes"] else None,
                upstream=row["upstream"] or None,
                component=row["component"] == "yes",
                note=row["note"],
            )

    def tariffs(self) -> Iterator[Tariff]:
        for row in self._rows("tariffs"):
            yield Tariff(
                offer=(row["provider"], row["region"], row["sku"], int(row["gpus_per_node"])),
                option=cast("PurchaseOption", row["option"]),
                amount=Money.of(row["amount"], row["currency"]),
                unit=cast("TariffUnit", row["unit"]),
                term_unit=row["term_unit"] or None,
                term_count=int(row["term_count"]) if row["term_count"] else None,
                upfront=cast("Literal['none', 'all']", row["upfront"]),
                minimum_gpus=int(row["minimum_gpus"]),
                kind=cast("PriceKind", row["kind"]),
                valid_from=_day(row["valid_from"]),
                valid_to=_day(row["valid_to"]),
                source=self._source(row),
                note=row["note"],
            )

    def fees(self) -> Iterator[Fee]:
        for row in self._rows("fees"):
            yield Fee(
                provider=row["provider"],
                region=row["region"],
                kind=cast("FeeKind", row["kind"]),
                sku=row["sku"],
                unit=row["unit"],
                amount=Money.of(row["amount"], row["currency"]) if row["amount"] else None,
                tier_from_gb=float(row["tier_from_gb"]),
                tier_to_gb=_figure(row["tier_to_gb"]),
                free_gb=float(row["free_gb"]),
                source=self._source(row),
                note=row["note"],
            )

    def quotas(self) -> Iterator[Quota]:
        for row in self._rows("quotas"):
            yield Quota(
                provider=row["provider"],
                scope=row["scope"],
                code=row["code"],
                name=row["name"],
                gpu_family=row["gpu_family"],
                unit=row["unit"],
                default=Decimal(row["default"]) if row["default"] else None,
                approval=row["approval"],
                source=self._source(row),
                note=row["note"],
            )

    def stock(self) -> Iterator[Stock]:
        for row in self._rows("stock"):
            yield Stock(
                offer=(row["provider"], row["region"], row["sku"], int(row["gpus_per_node"])),
                status=cast("Literal['available', 'unavailable']", row["status"]),
                source=self._source(row),
            )

    def billing_rules(self) -> Iterator[BillingRule]:
        for row in self._rows("billing_rules"):
            yield BillingRule(
                provider=row["provider"],
                option=cast("PurchaseOption", row["option"]) if row["option"] else None,
                step_seconds=int(row["step_seconds"]),
                minimum_seconds=int(row["minimum_seconds"]),
                source=self._source(row),
                note=row["note"],
            )

    def rates(self) -> Iterator[Rate]:
        for row in self._rows("rates"):
            day = date.fromisoformat(row["day"])
            yield Rate(base=row["base"], quote=row["quote"], rate=Decimal(row["rate"]), day=day, source=row["source"])

    def history(self) -> Iterator[HistoricPrice]:
        for row in self._rows("history"):
            yield HistoricPrice(
                day=date.fromisoformat(row["day"]),
                provider=row["provider"],
                region=row["region"],
                sku=row["sku"],
                gpu=row["gpu"],
                gpus_per_node=int(row["gpus_per_node"]),
                option=cast("PurchaseOption", row["option"]),
                price_per_gpu_hour=Money.of(row["price_per_gpu_hour"], row["currency"]),
                source=self._origins[row["source"]][0],
                note=row["note"],
            )
