"""Publish records: only what differs from what is on record is written, in one transaction that also moves the catalogue's version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations

from sqlalchemy import Row, Table, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.interval import Interval
from app.domain.market import HistoricPrice, Offer
from app.domain.market_records import MarketRecords
from app.store import keys, series
from app.store.engine import write
from app.store.series import Ids, Keyed, OfferKey, Series
from app.store.tables import CatalogRow, OfferRow, PriceReadingRow, SourceRow, table_of
from app.store.timeline import Change, Outcome, Segment, apply, difference

_CHUNK = 500
_SMALL = 30
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


class ConflictingRecordsError(ValueError):
    """Two records of one batch say different things of the same key, with the same date and overlapping validity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What became of the records of one table. ``written`` counts statements that changed something."""

    written: int = 0
    confirmed: int = 0
    unchanged: int = 0
    older: int = 0
    rows_added: int = 0
    rows_closed: int = 0
    rows_retracted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishResult:
    """Counts by table, and the version of the catalogue after the transaction; ``moved`` when it is a new one."""

    counts: Mapping[str, Counts]
    catalog_version: int
    moved: bool

    @property
    def rows_added(self) -> int:
        """Rows added to all tables."""
        return sum(count.rows_added for count in self.counts.values())


async def publish(
    engine: AsyncEngine, records: MarketRecords, *, now: datetime, observed_at: datetime | None = None, run_id: int | None = None
) -> PublishResult:
    """Publish ``records`` in a transaction of its own; see ``publish_within``."""
    async with write(engine) as connection:
        return await publish_within(connection, records, now=now, observed_at=observed_at, run_id=run_id)


async def publish_within(
    connection: AsyncConnection,
    records: MarketRecords,
    *,
    now: datetime,
    observed_at: datetime | None = None,
    run_id: int | None = None,
) -> PublishResult:
    """Publish ``records`` inside the caller's write transaction.

    Args:
        connection: in a transaction opened by ``app.store.engine.write``.
        records: tariffs and stock name offers that are in the records or were published before. What the records leave out stays as it is.
        now: the instant of recording.
        observed_at: date of the records that carry no source of their own (offers, providers); None when unknown.
        run_id: the run that collected them.

    Raises:
        ConflictingRecordsError: the batch contradicts itself; nothing is written.
        KeyError: a tariff or a stock reading names an offer that was never published.
    """
    version = await _lock_catalog(connection)
    ids = Ids(offers=await _offer_ids(connection, records, now), sources=await _source_ids(connection, records))
    batches: list[tuple[Series, list[Keyed]]] = [
        (series.PROVIDERS, series.provider_statements(records.providers, observed_at)),
        (series.SHAPES, series.shape_statements(records.offers, ids, observed_at)),
        (series.TARIFFS, series.tariff_statements(records.tariffs, ids)),
        (series.FEES, series.fee_statements(records.fees, ids)),
        (series.QUOTAS, series.quota_statements(records.quotas, ids)),
        (series.STOCK, series.stock_statements(records.stock, ids)),
        (series.BILLING, series.billing_statements(records.billing_rules, ids)),
        (series.RATES, series.rate_statements(records.rates)),
    ]
    counts = {kind.table.name: await _publish_series(connection, kind, batch, now=now, run_id=run_id) for kind, batch in batches}
    counts["price_reading"] = await _add_readings(connection, records.history, now)
    moved = any(count.written or count.confirmed for count in counts.values())
    if moved:
        catalog = table_of(CatalogRow)
        version += 1
        await connection.execute(update(catalog).values(version=version, moved_at=now))
    return PublishResult(counts=counts, catalog_version=version, moved=moved)


async def _lock_catalog(connection: AsyncConnection) -> int:
    """Publishers queue here: on PostgreSQL by the row's lock, on SQLite the transaction already holds the write lock."""
    catalog = table_of(CatalogRow)
    return int((await connection.execute(select(catalog.c.version).with_for_update())).scalar_one())


async def _offer_ids(connection: AsyncConnection, records: MarketRecords, now: datetime) -> dict[OfferKey, int]:
    """Ids of all offers that the records name; new identities are added, retired ones that are offered again come back."""
    table = table_of(OfferRow)
    providers = {offer.provider for offer in records.offers}
    providers |= {tariff.offer[0] for tariff in records.tariffs} | {reading.offer[0] for reading in records.stock}
    known, retired = await _known_offers(connection, providers)
    missing: dict[OfferKey, Offer] = {offer.key: offer for offer in records.offers if offer.key not in known}
    if missing:
        columns = ("provider", "region", "sku", "gpus_per_node")
        rows = [dict(zip(columns, key, strict=True), recorded_at=now, retired_at=None) for key in missing]
        await connection.execute(insert(table), rows)
        known, _ = await _known_offers(connection, providers)
    back = [known[offer.key] for offer in records.offers if offer.key in retired]
    if back:
        statement = update(table).where(table.c.id == bindparam("row_id")).values(retired_at=None)
        await connection.execute(statement, [{"row_id": number} for number in back])
    return known


async def _known_offers(connection: AsyncConnection, providers: set[str]) -> tuple[dict[OfferKey, int], set[OfferKey]]:
    """Ids by key, and the keys that are retired."""
    table = table_of(OfferRow)
    query = select(table.c.provider, table.c.region, table.c.sku, table.c.gpus_per_node, table.c.id, table.c.retired_at)
    if len(providers) <= _SMALL:
        query = query.where(table.c.provider.in_(sorted(providers)))
    rows = (await connection.execute(query)).all()
    return {(row[0], row[1], row[2], row[3]): row[4] for row in rows}, {(row[0], row[1], row[2], row[3]) for row in rows if row[5]}


async def _source_ids(connection: AsyncConnection, records: MarketRecords) -> dict[tuple[str, str], int]:
    """Ids of all sources that the records name."""
    table = table_of(SourceRow)
    wanted = series.sources_of((records.tariffs, records.fees, records.quotas, records.stock, records.billing_rules))
    query = select(table.c.name, table.c.url, table.c.id)
    if len(wanted) <= _SMALL:
        query = query.where(table.c.name.in_(sorted({name for name, _ in wanted})))
    known = {(row[0], row[1]): row[2] for row in (await connection.execute(query)).all()}
    missing = sorted(wanted - known.keys())
    if missing:
        await connection.execute(insert(table), [{"name": name, "url": url} for name, url in missing])
        known = {(row[0], row[1]): row[2] for row in (await connection.execute(query)).all()}
    return known


async def _publish_series(
    connection: AsyncConnection, kind: Series, batch: Sequence[Keyed], *, now: datetime, run_id: int | None
) -> Counts:
    """Compare one table's statements with what is on record and write the difference."""
    grouped: dict[str, list[Keyed]] = defaultdict(list)
    for keyed in batch:
        grouped[keyed.key].append(keyed)
    before = await _segments(connection, kind, grouped, now)
    outcomes: dict[Outcome, int] = defaultdict(int)
    changes: list[Change] = []
    for key, group in grouped.items():
        ordered = _in_order(kind, key, group)
        segments = before.get(key, ())
        for keyed in ordered:
            segments, outcome = apply(segments, keyed.statement, now)
            outcomes[outcome] += 1
        changes.append(difference(before.get(key, ()), segments))
    await _execute(connection, kind.table, changes, now=now, run_id=run_id)
    return Counts(
        **outcomes,
        rows_added=sum(len(change.insert) for change in changes),
        rows_closed=sum(len(change.close) for change in changes),
        rows_retracted=sum(len(change.retract) for change in changes),
    )


def _in_order(kind: Series, key: str, group: Sequence[Keyed]) -> list[Keyed]:
    """Oldest reading first, so that the newest has the last word; the order of the batch does not matter.

    Raises:
        ConflictingRecordsError: two of them cannot be put in order.
    """
    if len(group) == 1:
        return list(group)

    def date_and_start(keyed: Keyed) -> tuple[datetime, datetime, datetime, str]:
        said = keyed.statement
        return (said.observed_at or _EARLIEST, said.start or _EARLIEST, said.end or _LATEST, repr(said.values))

    ordered = sorted(group, key=date_and_start)
    for one, two in combinations([keyed.statement for keyed in ordered], 2):
        same_date = one.observed_at == two.observed_at and one.values != two.values
        if same_date and Interval(one.start, one.end).overlaps(Interval(two.start, two.end)):
            msg = f"{kind.table.name} {key}: {one.values} and {two.values} at once"
            raise ConflictingRecordsError(msg)
    return ordered


async def _segments(
    connection: AsyncConnection, kind: Series, grouped: Mapping[str, Sequence[Keyed]], now: datetime
) -> dict[str, tuple[Segment, ...]]:
    """What is on record for the keys, as far back as a statement may reach.

    Old closed rows are read only of keys that have a gap at that point, so that a run does not read a provider's whole history.
    """
    if not grouped:
        return {}
    table = kind.table
    content = [table.c[name] for name in ("key", *kind.values, *kind.carried)]
    times = [table.c[name] for name in ("id", "valid_from", "valid_to", "observed_at", "checked_at")]
    live = select(*times, *content).where(table.c.retracted_at.is_(None))
    horizon = _horizon(grouped, now)
    touched = live.where(table.c.valid_to.is_(None) | (table.c.valid_to > horizon))
    providers = {keyed.provider for group in grouped.values() for keyed in group}
    if None not in providers and len(providers) <= _SMALL:
        touched = touched.where(table.c.provider.in_(sorted(name for name in providers if name)))
    found: dict[str, list[Segment]] = defaultdict(list)
    for row in (await connection.execute(touched)).all():
        found[row.key].append(_segment(kind, row))
    gaps = [key for key in grouped if not any(horizon in segment.interval for segment in found.get(key, ()))]
    if found or await _has_rows(connection, table):
        for chunk in (gaps[start : start + _CHUNK] for start in range(0, len(gaps), _CHUNK)):
            for key in chunk:
                found.pop(key, None)
            for row in (await connection.execute(live.where(table.c.key.in_(chunk)))).all():
                found[row.key].append(_segment(kind, row))
    return {key: tuple(sorted(found[key], key=lambda segment: segment.interval.first)) for key in grouped if key in found}


async def _has_rows(connection: AsyncConnection, table: Table) -> bool:
    """False on an empty table, where nothing needs to be looked up."""
    return (await connection.execute(select(table.c.id).limit(1))).first() is not None


def _horizon(grouped: Mapping[str, Sequence[Keyed]], now: datetime) -> datetime:
    """The earliest instant of which a statement of the batch speaks."""
    instants = [now]
    for group in grouped.values():
        for keyed in group:
            said = keyed.statement
            instants += [instant for instant in (said.start, said.end, said.observed_at) if instant is not None]
    return min(instants)


def _segment(kind: Series, row: Row[tuple[object, ...]]) -> Segment:
    """A row as a segment."""
    values = row._mapping  # noqa: SLF001 - the documented way to read a row by column name
    return Segment(
        id=row.id,
        interval=Interval(row.valid_from, row.valid_to),
        values=tuple(values[name] for name in kind.values),
        observed_at=row.observed_at,
        checked_at=row.checked_at,
        row={name: values[name] for name in ("key", *kind.values, *kind.carried)},
    )


async def _execute(connection: AsyncConnection, table: Table, changes: Iterable[Change], *, now: datetime, run_id: int | None) -> None:
    """Write changes: retract and close first, since of each key only one row may be open."""
    row = table.c.id == bindparam("row_id")
    changes = list(changes)
    retract = [{"row_id": number} for change in changes for number in change.retract]
    if retract:
        await connection.execute(update(table).where(row).values(retracted_at=now), retract)
    close = [{"row_id": number, "end": end} for change in changes for number, end in change.close]
    if close:
        await connection.execute(update(table).where(row).values(valid_to=bindparam("end"), closed_at=now), close)
    check = [{"row_id": number, "instant": instant} for change in changes for number, instant in change.check]
    if check:
        await connection.execute(update(table).where(row).values(checked_at=bindparam("instant")), check)
    rows = [
        {
            **segment.row,
            "valid_from": segment.interval.start,
            "valid_to": segment.interval.end,
            "closed_at": None,
            "recorded_at": now,
            "retracted_at": None,
            "run_id": run_id,
            "observed_at": segment.observed_at,
            "checked_at": segment.checked_at,
        }
        for change in changes
        for segment in change.insert
    ]
    if rows:
        await connection.execute(insert(table), rows)


async def _add_readings(connection: AsyncConnection, history: Sequence[HistoricPrice], now: datetime) -> Counts:
    """Add the readings that are not there yet; a reading never changes."""
    if not history:
        return Counts()
    table = table_of(PriceReadingRow)
    wanted = {keys.reading_digest(reading): reading for reading in history}
    if (await connection.execute(select(func.count()).select_from(table))).scalar_one():
        digests = list(wanted)
        for chunk in (digests[start : start + _CHUNK] for start in range(0, len(digests), _CHUNK)):
            for (digest,) in (await connection.execute(select(table.c.digest).where(table.c.digest.in_(chunk)))).all():
                wanted.pop(digest)
    rows = [
        {
            "digest": digest,
            "day": reading.day,
            "provider": reading.provider,
            "region": reading.region,
            "sku": reading.sku,
            "gpu": reading.gpu,
            "gpus_per_node": reading.gpus_per_node,
            "option": reading.option,
            "amount_nano": reading.price_per_gpu_hour.nano,
            "currency": reading.price_per_gpu_hour.currency,
            "source": reading.source,
            "note": reading.note,
            "recorded_at": now,
        }
        for digest, reading in wanted.items()
    ]
    if rows:
        await connection.execute(insert(table), rows)
    return Counts(written=len(rows), unchanged=len(history) - len(rows), rows_added=len(rows))
