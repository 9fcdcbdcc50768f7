"""When a price is only history: one rule for dated sources, one list for sources without a date."""

from __future__ import annotations

from datetime import UTC, datetime

from app.domain.market import DatePrecision
from tools.make_data.dates import latest_possible

HISTORY_BEFORE = datetime(2026, 1, 1, tzinfo=UTC)
"""A figure whose date cannot lie in 2026 is history: GPU-cloud list prices rose by a median 9 % (spot 70 %) between May and August 2026
alone."""

OLD_UNDATED = (
    "skypilot-catalog-catalogs-v5-",
    "skypilot-catalog-catalogs-v6-",
    "skypilot-catalog-catalogs-v8-hyperstack-",
    "skypilot-catalog-catalogs-v9-ibm-",
)
"""Undated sources that lie, by the order in which the catalogue's files were stored, far behind its living generation (v8)."""


def is_history(origin_id: str, observed_at: datetime | None, precision: DatePrecision) -> bool:
    """Whether a figure is only old: dated before the cut-off even at its latest reading, or from a source known to be left behind."""
    if observed_at is None:
        return origin_id.startswith(OLD_UNDATED)
    return latest_possible(observed_at, precision) < HISTORY_BEFORE
