"""How a new reading changes what is on record for one key. Pure: segments and a statement in, segments out.

A statement either names its start (a provider announces a rate "from 1 October") or does not (a price was simply seen). Rules:

- A plain reading speaks of the instant it was observed. Equal to what is in force then: nothing is written, the row counts as checked.
  Different and newer: the row is closed at that instant and a new one opened, up to the next announced change. Different with the same
  date: a correction, the row is retracted and recorded anew. Older: ignored.
- A statement with a start speaks of its whole interval, and gives way only to rows checked later than it and not before its start.
- Applying the same statement twice changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from app.domain.interval import Interval

_TICK = timedelta(microseconds=1)
Outcome = Literal["written", "confirmed", "unchanged", "older"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One row on record (``id`` None: not stored yet). ``values`` is what is compared, ``row`` all content columns."""

    id: int | None
    interval: Interval
    values: tuple[object, ...]
    observed_at: datetime | None
    checked_at: datetime | None
    row: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a source says. ``start`` None: it states no start. ``end`` None: it states no end."""

    start: datetime | None
    end: datetime | None
    values: tuple[object, ...]
    observed_at: datetime | None
    row: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What must be written: rows to close (id, instant), to retract (id), to mark as checked (id, instant), to insert."""

    close: tuple[tuple[int, datetime], ...]
    retract: tuple[int, ...]
    check: tuple[tuple[int, datetime], ...]
    insert: tuple[Segment, ...]


def apply(segments: Sequence[Segment], statement: Statement, now: datetime) -> tuple[tuple[Segment, ...], Outcome]:
    """The segments after ``statement``, and what became of it. ``segments`` do not overlap."""
    if statement.start is not None:
        return _overwrite(segments, statement, Interval(statement.start, statement.end))
    if not segments:
        return (_new(statement, Interval(None, statement.end)),), "written"
    probe = statement.observed_at or now
    if statement.end is not None and probe >= statement.end:
        probe = statement.end - _TICK
    current = next((segment for segment in segments if probe in segment.interval), None)
    if current is None:
        return _fill(segments, statement, probe)
    if current.values == statement.values:
        return _confirm(segments, current, statement)
    age = _compare(statement.observed_at, current.checked_at)
    if age < 0:
        return tuple(segments), "older"
    start = current.interval.start if age == 0 else probe
    return _overwrite(segments, statement, Interval(start, _sooner(statement.end, current.interval.end)))


def difference(before: Iterable[Segment], after: Iterable[Segment]) -> Change:
    """The writes that lead from the stored segments ``before`` to ``after``."""
    old = {segment.id: segment for segment in before if segment.id is not None}
    kept = {segment.id: segment for segment in after if segment.id is not None}
    pairs = [(old[number], segment) for number, segment in kept.items()]
    return Change(
        close=tuple((b.id, a.interval.end) for b, a in pairs if b.id is not None and a.interval.end != b.interval.end and a.interval.end),
        retract=tuple(number for number in old if number not in kept),
        check=tuple((b.id, a.checked_at) for b, a in pairs if b.id is not None and a.checked_at != b.checked_at and a.checked_at),
        insert=tuple(segment for segment in after if segment.id is None),
    )


def _new(statement: Statement, interval: Interval) -> Segment:
    """A row to be inserted."""
    return Segment(
        id=None,
        interval=interval,
        values=statement.values,
        observed_at=statement.observed_at,
        checked_at=statement.observed_at,
        row=statement.row,
    )


def _compare(left: datetime | None, right: datetime | None) -> int:
    """-1, 0 or 1: an unknown date counts as older than any known one."""
    if left == right:
        return 0
    if left is None or (right is not None and left < right):
        return -1
    return 1


def _sooner(left: datetime | None, right: datetime | None) -> datetime | None:
    """The earlier of two ends, None being never."""
    known = [end for end in (left, right) if end is not None]
    return min(known) if known else None


def _checked(segment: Segment, statement: Statement) -> Segment:
    """The segment with the later of the two dates."""
    return replace(segment, checked_at=statement.observed_at) if _compare(statement.observed_at, segment.checked_at) > 0 else segment


def _confirm(segments: Sequence[Segment], current: Segment, statement: Statement) -> tuple[tuple[Segment, ...], Outcome]:
    """Same figure as on record: mark it as checked, and take over an end that was not known before."""
    after = _checked(current, statement)
    outcome: Outcome = "confirmed" if after.checked_at != current.checked_at else "unchanged"
    if statement.end is not None and statement.end < current.interval.last and _compare(statement.observed_at, current.checked_at) >= 0:
        after = replace(after, interval=Interval(current.interval.start, statement.end))
        outcome = "written"
    return tuple(after if segment is current else segment for segment in segments), outcome


def _fill(segments: Sequence[Segment], statement: Statement, probe: datetime) -> tuple[tuple[Segment, ...], Outcome]:
    """Nothing is on record for the instant of the reading: open a row there, up to the next one known."""
    later = min((segment.interval.first for segment in segments if segment.interval.first > probe), default=None)
    earlier = any(segment.interval.last <= probe for segment in segments)
    interval = Interval(probe if earlier else None, _sooner(later, statement.end))
    return (*segments, _new(statement, interval)), "written"


def _overwrite(segments: Sequence[Segment], statement: Statement, target: Interval) -> tuple[tuple[Segment, ...], Outcome]:
    """Let ``statement`` hold over ``target``, except where an equal row or one checked later stands."""
    after: list[Segment] = []
    kept: list[Interval] = []
    older = False
    for segment in segments:
        if not segment.interval.overlaps(target):
            after.append(segment)
        elif segment.values == statement.values:
            after.append(_checked(segment, statement))
            kept.append(segment.interval)
        elif _seen_since(segment, target.first) and _compare(segment.checked_at, statement.observed_at) > 0:
            after.append(segment)
            kept.append(segment.interval)
            older = True
        else:
            after.extend(_outside(segment, target))
    pieces = target.without(kept)
    after.extend(_new(statement, piece) for piece in pieces)
    if pieces:
        return tuple(after), "written"
    if tuple(after) != tuple(segments):
        return tuple(after), "confirmed"
    return tuple(after), "older" if older else "unchanged"


def _seen_since(segment: Segment, instant: datetime) -> bool:
    """True when the row was last checked at ``instant`` or later."""
    return segment.checked_at is not None and segment.checked_at >= instant


def _outside(segment: Segment, target: Interval) -> Iterable[Segment]:
    """What remains of an overwritten row: the part before, and the part after if the row was seen there.

    A row that was last seen before the end of a newer statement says nothing about the time after it.
    """
    if segment.interval.first < target.first:
        yield replace(segment, interval=Interval(segment.interval.start, target.start))
    if target.end is not None and segment.interval.last > target.last and _seen_since(segment, target.end):
        yield replace(segment, id=None, interval=Interval(target.end, segment.interval.end))
