"""What is read row by row: the catalogue's version, stored answers, price history, runs, quarantine.

Lists are pages by keyset: the ``id`` of the last row shown is given back, and rows come in an order that later writes do not disturb.
Offers, fees, quotas and the rates in use are read from the market in memory (app/catalog/snapshot.py), not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.market import HistoricPrice, PriceKind, PurchaseOption, Source, TariffUnit
from app.domain.money import Money
from app.store.engine import read, write
from app.store.facts import read_sources, source_of
from app.store.tables import (
    CatalogRow,
    CollectRunRow,
    OfferRow,
    OfferShapeRow,
    PriceReadingRow,
    QuarantineRow,
    RecommendationRow,
    TariffRow,
    table_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogState:
    """The version of what is published and when it last moved (None: nothing was ever published)."""

    version: int
    moved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceInterval:
    """One price of one offer over the time it held. ``closed`` intervals stay on record; retracted ones are not shown."""

    id: int
    provider: str
    region: str
    sku: str
    gpu: str
    gpus_per_node: int
    option: PurchaseOption
    amount: Money
    unit: TariffUnit
    term_unit: str | None
    term_count: int | None
    kind: PriceKind
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectRun:
    """How one attempt to collect a provider went."""

    id: int
    provider: str
    slot: datetime | None
    started_at: datetime
    finished_at: datetime | None
    outcome: str
    observations: int
    rejections: int
    rows_written: int
    pages: tuple[str, ...]
    detail: str
    code_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A record or batch that was refused, and why."""

    id: int
    provider: str
    scope: str
    reason: str
    pointer: str
    detail: str
    evidence: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None


async def catalog_state(engine: AsyncEngine) -> CatalogState:
    """The catalogue's version: when it is the same, so is everything that a market is made of."""
    table = table_of(CatalogRow)
    async with read(engine) as connection:
        row = (await connection.execute(select(table.c.version, table.c.moved_at))).one()
    return CatalogState(version=row.version, moved_at=row.moved_at)


async def store_recommendation(
    engine: AsyncEngine,
    *,
    id: str,  # noqa: A002
    catalog_version: int,
    created_at: datetime,
    request: str,
    body: bytes,
) -> None:
    """Keep an answer. Under an id that exists nothing changes: ids are digests of the answer, so the bytes are the same."""
    table = table_of(RecommendationRow)
    insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert
    row = {"id": id, "catalog_version": catalog_version, "created_at": created_at, "request": request, "body": body}
    async with write(engine) as connection:
        await connection.execute(insert(table).values(row).on_conflict_do_nothing())


async def read_recommendation(engine: AsyncEngine, id: str) -> bytes | None:  # noqa: A002
    """The stored bytes, None when there is no such answer."""
    table = table_of(RecommendationRow)
    async with read(engine) as connection:
        body: bytes | None = (await connection.execute(select(table.c.body).where(table.c.id == id))).scalar_one_or_none()
    return body


async def price_intervals(
    engine: AsyncEngine,
    *,
    as_of: datetime,
    provider: str | None = None,
    region: str | None = None,
    sku: str | None = None,
    option: PurchaseOption | None = None,
    after_id: int = 0,
    limit: int = 100,
) -> list[PriceInterval]:
    """Intervals of prices that began before ``as_of`` or have no known start, in the order of their recording."""
    tariff, offer, shape = table_of(TariffRow), table_of(OfferRow), table_of(OfferShapeRow)
    query = (
        select(tariff, offer.c.region, offer.c.sku, offer.c.gpus_per_node, shape.c.gpu)
        .join_from(tariff, offer, tariff.c.offer_id == offer.c.id)
        .join(shape, (shape.c.offer_id == offer.c.id) & shape.c.valid_to.is_(None) & shape.c.retracted_at.is_(None))
        .where(tariff.c.retracted_at.is_(None), tariff.c.valid_from.is_(None) | (tariff.c.valid_from <= as_of), tariff.c.id > after_id)
        .order_by(tariff.c.id)
        .limit(limit)
    )
    wanted = {offer.c.provider: provider, offer.c.region: region, offer.c.sku: sku, tariff.c.option: option}
    query = query.where(*(column == value for column, value in wanted.items() if value is not None))
    async with read(engine) as connection:
        sources = await read_sources(connection)
        rows: list[Any] = list((await connection.execute(query)).all())
    return [
        PriceInterval(
            id=row.id,
            provider=row.provider,
            region=row.region,
            sku=row.sku,
            gpu=row.gpu,
            gpus_per_node=row.gpus_per_node,
            option=row.option,
            amount=Money(row.amount_nano, row.currency),
            unit=row.unit,
            term_unit=row.term_unit,
            term_count=row.term_count,
            kind=row.kind,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            recorded_at=row.recorded_at,
            source=source_of(row, sources, as_of),
        )
        for row in rows
    ]


async def price_readings(
    engine: AsyncEngine,
    *,
    provider: str | None = None,
    region: str | None = None,
    sku: str | None = None,
    gpu: str | None = None,
    option: PurchaseOption | None = None,
    after: tuple[date, int] | None = None,
    limit: int = 100,
) -> list[tuple[int, HistoricPrice]]:
    """Readings of archives with their ids, by day and id; ``after`` is the day and id of the last one shown."""
    table = table_of(PriceReadingRow)
    query = select(table).order_by(table.c.day, table.c.id).limit(limit)
    wanted = {table.c.provider: provider, table.c.region: region, table.c.sku: sku, table.c.gpu: gpu, table.c.option: option}
    query = query.where(*(column == value for column, value in wanted.items() if value is not None))
    if after is not None:
        day, number = after
        query = query.where((table.c.day > day) | ((table.c.day == day) & (table.c.id > number)))
    return [
        (
            row.id,
            HistoricPrice(
                day=row.day,
                provider=row.provider,
                region=row.region,
                sku=row.sku,
                gpu=row.gpu,
                gpus_per_node=row.gpus_per_node,
                option=row.option,
                price_per_gpu_hour=Money(row.amount_nano, row.currency),
                source=row.source,
                note=row.note,
            ),
        )
        for row in await _rows(engine, query)
    ]


async def collect_runs(
    engine: AsyncEngine, *, provider: str | None = None, outcome: str | None = None, before_id: int | None = None, limit: int = 100
) -> list[CollectRun]:
    """Runs, the newest first; ``before_id`` is the id of the last one shown."""
    table = table_of(CollectRunRow)
    query = select(table).order_by(table.c.id.desc()).limit(limit)
    wanted = {table.c.provider: provider, table.c.outcome: outcome}
    query = query.where(*(column == value for column, value in wanted.items() if value is not None))
    if before_id is not None:
        query = query.where(table.c.id < before_id)
    return [
        CollectRun(
            id=row.id,
            provider=row.provider,
            slot=row.slot,
            started_at=row.started_at,
            finished_at=row.finished_at,
            outcome=row.outcome,
            observations=row.observations,
            rejections=row.rejections,
            rows_written=row.rows_written,
            pages=tuple(row.pages),
            detail=row.detail,
            code_version=row.code_version,
        )
        for row in await _rows(engine, query)
    ]


async def quarantined(
    engine: AsyncEngine,
    *,
    provider: str | None = None,
    reason: str | None = None,
    resolved: bool | None = None,
    before_id: int | None = None,
    limit: int = 100,
) -> list[Quarantined]:
    """What was refused, the newest first; ``resolved`` None shows both kinds, ``before_id`` is the id of the last one shown."""
    table = table_of(QuarantineRow)
    query = select(table).order_by(table.c.id.desc()).limit(limit)
    wanted = {table.c.provider: provider, table.c.reason: reason}
    query = query.where(*(column == value for column, value in wanted.items() if value is not None))
    if resolved is not None:
        query = query.where(table.c.resolved_at.is_not(None) if resolved else table.c.resolved_at.is_(None))
    if before_id is not None:
        query = query.where(table.c.id < before_id)
    return [
        Quarantined(
            id=row.id,
            provider=row.provider,
            scope=row.scope,
            reason=row.reason,
            pointer=row.pointer,
            detail=row.detail,
            evidence=row.evidence,
            first_seen_at=row.first_seen_at,
            last_seen_at=row.last_seen_at,
            resolved_at=row.resolved_at,
            resolved_by=row.resolved_by,
        )
        for row in await _rows(engine, query)
    ]


async def _rows(engine: AsyncEngine, query: Select[Any]) -> list[Any]:
    """All rows of a query, as named tuples."""
    async with read(engine) as connection:
        return list((await connection.execute(query)).all())
