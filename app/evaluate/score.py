"""The comparison of one measured row with its prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Row = Mapping[str, str]
"""One line of a CSV file, every cell as text."""


class SkippedError(Exception):
    """A row that cannot be expressed as a workload on hardware; the reason is a short name with underscores."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row. ``predicted``, ``p10``, ``p90`` and ``measured`` share a unit (tokens a second and GPU).

    ``skipped`` names the reason when there is no prediction. ``measured`` is None when the row has none that can be compared.
    ``constant_mfu`` is what a constant MFU of 0.4 predicts. ``group`` is the class shown in tables.
    """

    row_id: str
    source: str
    group: str = ""
    predicted: float | None = None
    p10: float | None = None
    p90: float | None = None
    constant_mfu: float | None = None
    measured: float | None = None
    skipped: str | None = None


def number(row: Row, column: str) -> float | None:
    """The cell as a positive number; None when it is empty or no such number."""
    text = (row.get(column) or "").replace(",", "").strip()
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 else None
