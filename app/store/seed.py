"""Load the data set that ships with the software, once per content."""

from __future__ import annotations

import dataclasses
import hashlib

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.clock import Clock, utc_now
from app.domain.market_records import MarketRecords
from app.store.engine import write
from app.store.observations import publish_within
from app.store.tables import CatalogRow, table_of


async def seed(engine: AsyncEngine, records: MarketRecords, *, clock: Clock = utc_now) -> bool:
    """Publish ``records`` unless exactly these were loaded before; True when they were published now.

    Figures that a newer run collected stay in force: the records carry their own dates, and an older reading never replaces a newer one.
    Replicas that start together queue on the catalogue's row; the second finds the digest and does nothing.

    Raises:
        ConflictingRecordsError: the records contradict themselves.
    """
    digest = digest_of(records)
    catalog = table_of(CatalogRow)
    async with engine.connect() as connection:
        if (await connection.execute(select(catalog.c.seed_digest))).scalar_one() == digest:
            return False
    async with write(engine) as connection:
        if (await connection.execute(select(catalog.c.seed_digest).with_for_update())).scalar_one() == digest:
            return False
        await publish_within(connection, records, now=clock())
        await connection.execute(update(catalog).values(seed_digest=digest))
    return True


def digest_of(records: MarketRecords) -> str:
    """SHA-256 of all records, whatever their order."""
    total = hashlib.sha256()
    for field in dataclasses.fields(records):
        total.update(field.name.encode())
        for line in sorted(repr(record) for record in getattr(records, field.name)):
            total.update(line.encode())
    return total.hexdigest()
