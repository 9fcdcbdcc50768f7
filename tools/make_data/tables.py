"""Records as CSV text: one function a file, columns as app.catalog.embedded reads them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from app.domain.gpus import Gpu
from app.domain.market import BillingRule, Fee, HistoricPrice, Offer, ProviderInfo, Quota, Rate, Source, Stock, Tariff
from app.domain.money import Money
from tools.make_data.origins import Origin

SOURCED = ("source", "observed", "date_precision")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV text with a header and Unix line ends; None is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(value) for value in row] for row in rows)
    return stream.getvalue()


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.9f}".rstrip("0").rstrip(".")
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, Money):
        return f"{value.decimal:f}".rstrip("0").rstrip(".") if value.nano else "0"
    return str(value)


class Ids:
    """Ids of sources by name and address."""

    def __init__(self, origins: Iterable[Origin]) -> None:
        """Take all origins.

        Raises:
            ValueError: two sources share an id.
        """
        self._by_place: dict[tuple[str, str], str] = {}
        seen: dict[str, Origin] = {}
        for origin in sorted(set(origins)):
            if origin.id in seen:
                msg = f"two sources share the id {origin.id!r}: {seen[origin.id].url} and {origin.url}"
                raise ValueError(msg)
            seen[origin.id] = origin
            self._by_place[origin.name, origin.url] = origin.id
        self.origins = [seen[name] for name in sorted(seen)]

    def of(self, source: Source) -> tuple[object, ...]:
        """The three columns that state where a figure was read and when."""
        return (self._by_place[source.name, source.url], source.observed_at, source.date_precision)


def sources(ids: Ids) -> str:
    """sources.csv."""
    return table(("id", "name", "url", "licence"), ((o.id, o.name, o.url, o.licence) for o in ids.origins))


def providers(records: Iterable[ProviderInfo]) -> str:
    """providers.csv."""
    return table(("id", "name", "kind", "homepage", "name_zh"), ((p.id, p.name, p.kind, p.homepage, p.name_zh) for p in records))


def gpus(cards: Mapping[str, Gpu]) -> str:
    """gpus.csv."""
    columns = tuple(Gpu.__dataclass_fields__)
    return table(columns, (tuple(getattr(card, column) for column in columns) for card in cards.values()))


def offers(records: Iterable[Offer], first_source: Mapping[tuple[str, str, str, int], Source], ids: Ids) -> str:
    """offers.csv; the source columns name the newest source that lists the machine."""
    columns = tuple(Offer.__dataclass_fields__)
    rows = ((*(getattr(offer, column) for column in columns), *ids.of(first_source[offer.key])) for offer in records)
    return table((*columns, *SOURCED), rows)


def tariffs(records: Iterable[Tariff], ids: Ids) -> str:
    """tariffs.csv."""
    columns = (
        "provider",
        "region",
        "sku",
        "gpus_per_node",
        "option",
        "amount",
        "currency",
        "unit",
        "term_unit",
        "term_count",
        "upfront",
        "minimum_gpus",
        "kind",
        "valid_from",
        "valid_to",
        *SOURCED,
        "note",
    )
    rows = (
        (
            *t.offer,
            t.option,
            t.amount,
            t.amount.currency,
            t.unit,
            t.term_unit,
            t.term_count,
            t.upfront,
            t.minimum_gpus,
            t.kind,
            t.valid_from,
            t.valid_to,
            *ids.of(t.source),
            t.note,
        )
        for t in records
    )
    return table(columns, rows)


def fees(records: Iterable[Fee], ids: Ids) -> str:
    """fees.csv."""
    columns = ("provider", "region", "kind", "sku", "unit", "amount", "currency", "tier_from_gb", "tier_to_gb", "free_gb", *SOURCED, "note")
    rows = (
        (
            f.provider,
            f.region,
            f.kind,
            f.sku,
            f.unit,
            f.amount,
            f.amount.currency if f.amount else None,
            f.tier_from_gb,
            f.tier_to_gb,
            f.free_gb,
            *ids.of(f.source),
            f.note,
        )
        for f in records
    )
    return table(columns, rows)


def quotas(records: Iterable[Quota], ids: Ids) -> str:
    """quotas.csv."""
    columns = ("provider", "scope", "code", "name", "gpu_family", "unit", "default", "approval", *SOURCED, "note")
    rows = ((q.provider, q.scope, q.code, q.name, q.gpu_family, q.unit, q.default, q.approval, *ids.of(q.source), q.note) for q in records)
    return table(columns, rows)


def stock(records: Iterable[Stock], ids: Ids) -> str:
    """stock.csv."""
    columns = ("provider", "region", "sku", "gpus_per_node", "status", *SOURCED)
    return table(columns, ((*s.offer, s.status, *ids.of(s.source)) for s in records))


def billing_rules(records: Iterable[BillingRule], ids: Ids) -> str:
    """billing_rules.csv."""
    columns = ("provider", "option", "step_seconds", "minimum_seconds", *SOURCED, "note")
    return table(columns, ((r.provider, r.option, r.step_seconds, r.minimum_seconds, *ids.of(r.source), r.note) for r in records))


def rates(records: Iterable[Rate]) -> str:
    """rates.csv."""
    return table(("day", "base", "quote", "rate", "source"), ((r.day, r.base, r.quote, r.rate, r.source) for r in records))


def history(records: Iterable[HistoricPrice]) -> str:
    """history.csv; ``source`` holds the id."""
    columns = ("provider", "gpu", "region", "option", "sku", "gpus_per_node", "day", "price_per_gpu_hour", "currency", "source", "note")
    rows = (
        (
            h.provider,
            h.gpu,
            h.region,
            h.option,
            h.sku,
            h.gpus_per_node,
            h.day,
            h.price_per_gpu_hour,
            h.price_per_gpu_hour.currency,
            h.source,
            h.note,
        )
        for h in records
    )
    return table(columns, rows)


def regions(records: Iterable[tuple[str, str, str | None]]) -> str:
    """regions.csv."""
    return table(("provider", "region", "country"), records)
