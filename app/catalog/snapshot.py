"""The market as of an instant, read from the database into columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.catalog.columns import MarketFacts, OfferFigures, TariffFigures, build_market, hours_since_epoch, latest_rates
from app.clock import Clock, utc_now
from app.domain.gpus import Gpu
from app.domain.market import Offer, Tariff
from app.domain.market_columns import Market
from app.domain.money import Money
from app.store.engine import read
from app.store.facts import Sources, read_billing_rules, read_fees, read_provider_infos, read_quotas, read_rates, read_sources, source_of
from app.store.in_force import begun, in_force, seen_at
from app.store.raw_time import instant_of, raw
from app.store.tables import CatalogRow, OfferRow, OfferShapeRow, StockRow, TariffRow, table_of

Rows = Sequence[Any]
_IDENTITY = ("id", "provider", "region", "sku", "gpus_per_node")
_SHAPE = (
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
)
_TARIFF = (
    "offer_id",
    "option",
    "amount_nano",
    "currency",
    "unit",
    "term_unit",
    "term_count",
    "upfront",
    "minimum_gpus",
    "kind",
)
_TIMES = ("observed_at", "checked_at", "valid_from", "valid_to")
_PROVENANCE = ("source_id", "date_precision", "evidence", "note")


async def load_market(
    engine: AsyncEngine,
    *,
    gpus: Mapping[str, Gpu],
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    clock: Clock = utc_now,
) -> Market:
    """The market in force at ``as_of`` (None: now), equal to ``market_from_records`` of what was published.

    Tariffs that start later, have ended or were retracted are left out, as are retired offers and offers of a GPU that ``gpus`` lacks. With
    ``known_at``, the market is the one that was known then: nothing that was recorded or corrected later counts.
    """
    instant = clock() if as_of is None else as_of
    async with read(engine) as connection:
        offers = await _offer_rows(connection, instant, known_at)
        tariffs = await _tariff_rows(connection, instant, known_at, [row.id for row in offers])
        stock = await _stock(connection, instant, known_at)
        sources = await read_sources(connection)
        facts = MarketFacts(
            as_of=instant,
            catalog_version=int((await connection.execute(select(table_of(CatalogRow).c.version))).scalar_one()),
            providers=await read_provider_infos(connection, instant, known_at),
            fees=await read_fees(connection, sources, instant, known_at),
            quotas=await read_quotas(connection, sources, instant, known_at),
            billing_rules=await read_billing_rules(connection, sources, instant, known_at),
            rates=latest_rates(await read_rates(connection, instant, known_at), instant),
        )
    entry_of = {row.id: entry for entry, row in enumerate(offers)}

    def tariff_at(entry: int) -> Tariff:
        row = tariffs[entry]
        return _tariff(row, _offer(offers[entry_of[row.offer_id]]), sources, instant)

    return build_market(
        _offer_figures(offers, stock),
        _tariff_figures(tariffs, entry_of, instant),
        facts,
        gpus=gpus,
        offer_at=lambda entry: _offer(offers[entry]),
        tariff_at=tariff_at,
    )


async def _offer_rows(connection: AsyncConnection, as_of: datetime, known_at: datetime | None) -> Rows:
    """Identity and figures of the offers on sale."""
    offer, shape = table_of(OfferRow), table_of(OfferShapeRow)
    query = (
        select(*(offer.c[name] for name in _IDENTITY), *(shape.c[name] for name in _SHAPE))
        .join_from(offer, shape, shape.c.offer_id == offer.c.id)
        .where(and_(in_force(shape, as_of, known_at), or_(offer.c.retired_at.is_(None), offer.c.retired_at > as_of)))
    )
    return (await connection.execute(query)).all()


async def _tariff_rows(connection: AsyncConnection, as_of: datetime, known_at: datetime | None, offer_ids: Sequence[int]) -> Rows:
    """Tariffs in force of the offers on sale."""
    table = table_of(TariffRow)
    columns = [table.c[name] for name in (*_TARIFF, *_PROVENANCE)]
    query = select(*columns, *(raw(table.c[name]) for name in _TIMES)).where(in_force(table, as_of, known_at), begun(table, as_of))
    on_sale = set(offer_ids)
    return [row for row in (await connection.execute(query)).all() if row[0] in on_sale]


async def _stock(connection: AsyncConnection, as_of: datetime, known_at: datetime | None) -> dict[int, str]:
    """Status by offer id."""
    table = table_of(StockRow)
    query = select(table.c.offer_id, table.c.status).where(in_force(table, as_of, known_at))
    return {row[0]: row[1] for row in (await connection.execute(query)).all()}


def _offer_figures(rows: Rows, stock: Mapping[int, str]) -> OfferFigures:
    """Rows of offers as one list a column."""
    columns = _columns(rows, (*_IDENTITY, *_SHAPE))
    return OfferFigures(
        provider=columns["provider"],
        region=columns["region"],
        country=columns["country"],
        sku=columns["sku"],
        gpu=columns["gpu"],
        gpus_per_node=columns["gpus_per_node"],
        vcpus=columns["vcpus"],
        ram_gb=columns["ram_gb"],
        local_nvme_gb=columns["local_nvme_gb"],
        link=columns["intra_node_link"],
        inter_node_gbit_s=columns["inter_node_gbit_s"],
        maximum_nodes=columns["maximum_nodes"],
        component=columns["component"],
        stock=[stock.get(number) for number in columns["id"]],
    )


def _tariff_figures(rows: Rows, entry_of: Mapping[int, int], as_of: datetime) -> TariffFigures:
    """Rows of tariffs as one list a column."""
    columns = _columns(rows, _TARIFF)
    seen = [(row.observed_at, row.checked_at) for row in rows]
    hours = {pair: hours_since_epoch(seen_at(instant_of(pair[0]), instant_of(pair[1]), as_of)) for pair in set(seen)}
    return TariffFigures(
        offer=[entry_of[number] for number in columns["offer_id"]],
        option=columns["option"],
        amount_nano=columns["amount_nano"],
        currency=columns["currency"],
        unit=columns["unit"],
        term_unit=columns["term_unit"],
        term_count=columns["term_count"],
        upfront=columns["upfront"],
        minimum_gpus=columns["minimum_gpus"],
        kind=columns["kind"],
        observed_hours=np.array([hours[pair] for pair in seen], dtype=np.float64),
    )


def _columns(rows: Rows, names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """One list a column; the rows begin with the columns ``names``."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _offer(row: Any) -> Offer:
    """The record behind a row."""
    return Offer(
        provider=row.provider,
        region=row.region,
        country=row.country,
        sku=row.sku,
        gpu=row.gpu,
        gpus_per_node=row.gpus_per_node,
        gpu_memory_gb=row.gpu_memory_gb,
        vcpus=row.vcpus,
        ram_gb=row.ram_gb,
        local_nvme_gb=row.local_nvme_gb,
        intra_node_link=row.intra_node_link,
        inter_node_gbit_s=row.inter_node_gbit_s,
        maximum_nodes=row.maximum_nodes,
        upstream=row.upstream,
        component=row.component,
        note=row.note,
    )


def _tariff(row: Any, offer: Offer, sources: Sources, as_of: datetime) -> Tariff:
    """The record behind a row."""
    return Tariff(
        offer=offer.key,
        option=row.option,
        amount=Money(row.amount_nano, row.currency),
        unit=row.unit,
        term_unit=row.term_unit,
        term_count=row.term_count,
        upfront=row.upfront,
        minimum_gpus=row.minimum_gpus,
        kind=row.kind,
        valid_from=instant_of(row.valid_from),
        valid_to=instant_of(row.valid_to),
        source=source_of(row, sources, as_of),
        note=row.note,
    )
