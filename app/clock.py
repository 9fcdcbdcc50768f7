"""The only place that reads the clock. Everything else is given the instant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present instant, aware, in UTC."""
    return datetime.now(UTC)
