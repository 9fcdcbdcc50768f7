"""Rows back into records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.market import BillingRule, Fee, ProviderInfo, Quota, Rate, Source
from app.domain.money import Money
from app.store.in_force import in_force, seen_at
from app.store.raw_time import instant_of
from app.store.tables import BillingRuleRow, FeeRow, ProviderRow, QuotaRow, RateRow, SourceRow, table_of

Sources = Mapping[int, tuple[str, str]]


async def read_sources(connection: AsyncConnection) -> dict[int, tuple[str, str]]:
    """Name and address of every source, by id."""
    table = table_of(SourceRow)
    return {row[0]: (row[1], row[2]) for row in (await connection.execute(select(table.c.id, table.c.name, table.c.url))).all()}


async def read_fees(connection: AsyncConnection, sources: Sources, as_of: datetime, known_at: datetime | None = None) -> list[Fee]:
    """Fees in force."""
    table = table_of(FeeRow)
    return [
        Fee(
            provider=row.provider,
            region=row.region,
            kind=row.kind,
            sku=row.sku,
            unit=row.unit,
            amount=None if row.amount_nano is None else Money(row.amount_nano, row.currency),
            tier_from_gb=row.tier_from_gb,
            tier_to_gb=row.tier_to_gb,
            free_gb=row.free_gb,
            source=source_of(row, sources, as_of),
            note=row.note,
        )
        for row in await _rows(connection, select(table).where(in_force(table, as_of, known_at)))
    ]


async def read_quotas(connection: AsyncConnection, sources: Sources, as_of: datetime, known_at: datetime | None = None) -> list[Quota]:
    """Quotas in force."""
    table = table_of(QuotaRow)
    return [
        Quota(
            provider=row.provider,
            scope=row.scope,
            code=row.code,
            name=row.name,
            gpu_family=row.gpu_family,
            unit=row.unit,
            default=None if row.default_amount is None else Decimal(row.default_amount),
            approval=row.approval,
            source=source_of(row, sources, as_of),
            note=row.note,
        )
        for row in await _rows(connection, select(table).where(in_force(table, as_of, known_at)))
    ]


async def read_billing_rules(
    connection: AsyncConnection, sources: Sources, as_of: datetime, known_at: datetime | None = None
) -> list[BillingRule]:
    """Billing rules in force."""
    table = table_of(BillingRuleRow)
    return [
        BillingRule(
            provider=row.provider,
            option=row.option,
            step_seconds=row.step_seconds,
            minimum_seconds=row.minimum_seconds,
            source=source_of(row, sources, as_of),
            note=row.note,
        )
        for row in await _rows(connection, select(table).where(in_force(table, as_of, known_at)))
    ]


async def read_provider_infos(connection: AsyncConnection, as_of: datetime, known_at: datetime | None = None) -> list[ProviderInfo]:
    """Platforms known, sorted by id."""
    table = table_of(ProviderRow)
    infos = [
        ProviderInfo(id=row.provider, name=row.name, kind=row.kind, homepage=row.homepage, name_zh=row.name_zh)
        for row in await _rows(connection, select(table).where(in_force(table, as_of, known_at)))
    ]
    return sorted(infos, key=lambda info: info.id)


async def read_rates(connection: AsyncConnection, as_of: datetime, known_at: datetime | None = None) -> list[Rate]:
    """Exchange rates of every day not after ``as_of``."""
    table = table_of(RateRow)
    query = select(table).where(in_force(table, as_of, known_at), table.c.day <= as_of.date())
    return [rate_of(row) for row in await _rows(connection, query)]


def rate_of(row: Any) -> Rate:
    """One row of ``fx_rate``."""
    return Rate(base=row.base, quote=row.quote, rate=Decimal(row.rate), day=row.day, source=row.source)


def source_of(row: Any, sources: Sources, as_of: datetime) -> Source:
    """Where a row was read, and when, as of ``as_of``."""
    name, url = sources[row.source_id]
    return Source(
        name=name,
        url=url,
        observed_at=seen_at(instant_of(row.observed_at), instant_of(row.checked_at), as_of),
        date_precision=row.date_precision,
        evidence=row.evidence,
    )


async def _rows(connection: AsyncConnection, query: Select[Any]) -> list[Any]:
    """All rows, as named tuples; their types are checked where records are built."""
    return list((await connection.execute(query)).all())
