"""The comparison of one measured row with its prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Row = Mapping[str, str]
"""One line of a CSV file, every cell as text."""


Reason = Literal[
    "method_not_supported",
    "mixes_generation_and_training",
    "precision_not_supported",
    "quantisation_not_supported",
    "optimizer_not_supported",
    "gpu_not_known",
    "gpu_count_not_stated",
    "gpus_not_evenly_on_nodes",
    "sequence_length_not_stated",
    "not_a_language_model",
    "model_size_not_known",
    "dimensions_contradict_each_other",
    "not_a_throughput",
    "baseline_not_stated",
    "workload_not_expressed",
]
"""Why a row is not predicted."""


class SkippedError(Exception):
    """A row that cannot be expressed as a workload on hardware; the reason is a short name with underscores."""

    def __init__(self, reason: Reason) -> None:
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
