"""Half-open intervals of UTC time: what "valid from … to …" means everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


class IntervalError(ValueError):
    """An interval that is empty, reversed, or not in UTC."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The instants ``start <= t < end``. ``start`` None: always until ``end``; ``end`` None: open, no end is known.

    Raises:
        IntervalError: a bound is naive or not UTC, or the end is not after the start.
    """

    start: datetime | None
    end: datetime | None

    def __post_init__(self) -> None:
        for bound in (self.start, self.end):
            if bound is not None and bound.utcoffset() != timedelta(0):
                msg = f"a bound must be aware UTC, got {bound!r}"
                raise IntervalError(msg)
        if self.start is not None and self.end is not None and self.end <= self.start:
            msg = f"the end {self.end} is not after the start {self.start}"
            raise IntervalError(msg)

    @property
    def first(self) -> datetime:
        """The start as a comparable instant; the earliest datetime stands for "always"."""
        return _EARLIEST if self.start is None else self.start

    @property
    def last(self) -> datetime:
        """The end as a comparable instant; the latest datetime stands for "open"."""
        return _LATEST if self.end is None else self.end

    def __contains__(self, instant: datetime) -> bool:
        return self.first <= instant < self.last

    def overlaps(self, other: Interval) -> bool:
        """True when some instant lies in both."""
        return self.first < other.last and other.first < self.last

    def without(self, others: Iterable[Interval]) -> tuple[Interval, ...]:
        """What is left of this interval when ``others`` are cut out of it, in order of time."""
        left: list[Interval] = []
        cursor, exhausted = self.start, False
        for other in sorted((o for o in others if o.overlaps(self)), key=lambda o: o.first):
            if other.first > (_EARLIEST if cursor is None else cursor):
                left.append(Interval(cursor, other.start))
            if other.last >= self.last:
                exhausted = True
                break
            if cursor is None or other.last > cursor:
                cursor = other.end
        if not exhausted:
            left.append(Interval(cursor, self.end))
        return tuple(left)
