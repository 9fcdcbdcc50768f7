"""Dates as sources state them: a day, a month, a year, or nothing.

The earliest day meant is taken, so that no price looks fresher than it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from app.domain.market import DatePrecision

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_YEAR = re.compile(r"(\d{4})")


def observed(text: str) -> tuple[datetime | None, DatePrecision]:
    """The instant a stated date begins (UTC) and how exact it is; an empty text is ``(None, "unknown")``.

    Raises:
        ValueError: the text is no ISO day, month or year.
    """
    if not text:
        return None, "unknown"
    if match := _DAY.fullmatch(text):
        year, month, day = map(int, match.groups())
        return datetime(year, month, day, tzinfo=UTC), "day"
    if match := _MONTH.fullmatch(text):
        year, month = map(int, match.groups())
        return datetime(year, month, 1, tzinfo=UTC), "month"
    if match := _YEAR.fullmatch(text):
        return datetime(int(match.group(1)), 1, 1, tzinfo=UTC), "year"
    msg = f"not a date: {text!r}"
    raise ValueError(msg)


def latest_possible(start: datetime, precision: DatePrecision) -> datetime:
    """The last day that a stated date can mean: 2024 can mean 31 December."""
    if precision == "year":
        return start.replace(month=12, day=31)
    if precision == "month":
        following = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        return datetime.fromtimestamp(following.timestamp() - 86400, tz=UTC)
    return start
