"""Instants of many rows, read without converting each: most rows share a few hundred instants, so each is converted once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, type_coerce
from sqlalchemy.types import NullType

RawTime = str | datetime | None


def raw(column: Column[datetime | None]) -> ColumnElement[Any]:
    """The column as the driver gives it: text on SQLite, a datetime on PostgreSQL."""
    return type_coerce(column, NullType()).label(column.name)


def instant_of(value: RawTime) -> datetime | None:
    """The instant in UTC. SQLite holds UTC without an offset."""
    if value is None:
        return None
    instant = datetime.fromisoformat(value) if isinstance(value, str) else value
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
