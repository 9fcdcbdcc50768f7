"""Which rows of a dated table hold at an instant."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Table, and_, or_


def in_force(table: Table, as_of: datetime, known_at: datetime | None = None) -> ColumnElement[bool]:
    """The rows valid at ``as_of``, as we know it now or, with ``known_at``, as we knew it then.

    As known then: recorded by then, not yet retracted, and open if its end was written only later.
    """
    started = or_(table.c.valid_from.is_(None), table.c.valid_from <= as_of)
    not_ended = or_(table.c.valid_to.is_(None), table.c.valid_to > as_of)
    if known_at is None:
        return and_(started, not_ended, table.c.retracted_at.is_(None))
    return and_(
        started,
        or_(not_ended, table.c.closed_at > known_at),
        table.c.recorded_at <= known_at,
        or_(table.c.retracted_at.is_(None), table.c.retracted_at > known_at),
    )


def begun(table: Table, as_of: datetime) -> ColumnElement[bool]:
    """The rows whose figure has begun by ``as_of``: one without a stated start begins when it was first read; undated ones are old."""
    return or_(table.c.valid_from.is_not(None), table.c.observed_at.is_(None), table.c.observed_at <= as_of)


def seen_at(observed_at: datetime | None, checked_at: datetime | None, as_of: datetime) -> datetime | None:
    """The date of a figure as of ``as_of``: its latest reading by then, else its first; None when no date is known."""
    return checked_at if checked_at is not None and checked_at <= as_of else observed_at
