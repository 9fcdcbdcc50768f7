"""Predicts the rows of a file with the columns of memory-measured.csv, each row's own configuration pinned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from app.domain.configuration import ConfigurationColumns
from app.domain.gpus import Gpu
from app.domain.hardware import HardwareColumns
from app.domain.llm import ModelShape
from app.domain.memory import allocate, estimate_memory
from app.domain.memory_constants import CONSTANTS
from app.domain.physics import VERDICTS, Verdict
from app.domain.units import GB, GIB
from app.evaluate.memory_rows import InexpressibleRowError, Meter, read_memory_row
from app.evaluate.score import Row, number

MEASURED_COLUMNS = ("peak_memory_gb_per_gpu", "outcome")
"""What a prediction must never see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScore:
    """One row. GB are 10^9 bytes.

    ``needed_gb_per_gpu`` is the prediction in the row's own ``meter``, ``device_gb_per_gpu`` the driver's reading that the verdict uses.
    ``verdict`` is None where the row names no card. ``measured_gb_per_gpu`` and ``outcome`` (``fits`` or ``oom``) were measured.
    """

    row_id: str
    source: str
    meter: Meter | None = None
    needed_gb_per_gpu: float | None = None
    device_gb_per_gpu: float | None = None
    verdict: Verdict | None = None
    measured_gb_per_gpu: float | None = None
    outcome: str | None = None
    skipped: str | None = None

    @property
    def error(self) -> float | None:
        """Prediction over measurement, less one; None when either is missing."""
        if self.needed_gb_per_gpu is None or self.measured_gb_per_gpu is None:
            return None
        return self.needed_gb_per_gpu / self.measured_gb_per_gpu - 1.0

    @property
    def false_fit(self) -> bool:
        """``fits`` was said of a row that ran out of memory."""
        return self.verdict == "fits" and self.outcome == "oom"

    @property
    def false_oom(self) -> bool:
        """``does_not_fit`` was said of a row that ran."""
        return self.verdict == "does_not_fit" and self.outcome == "fits"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErrors:
    """Absolute and signed relative errors of a group of rows, in per cent."""

    rows: int
    median_percent: float
    p90_percent: float
    bias_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySummary:
    """All rows together: errors in all and by meter, verdicts against outcomes, and why rows were skipped."""

    used: int
    skipped: Mapping[str, int]
    overall: MemoryErrors | None
    by_meter: Mapping[str, MemoryErrors]
    ran: int
    ran_out: int
    false_fits: int
    false_ooms: int


def evaluate_memory(rows: Iterable[Row], *, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> list[MemoryScore]:
    """One score a row, in order. The prediction sees no column of MEASURED_COLUMNS."""
    return [_score(row, gpus, presets) for row in rows]


def _score(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> MemoryScore:
    base = MemoryScore(row_id=row["id"], source=row["source"])
    try:
        predicted = _predict(base, {name: value for name, value in row.items() if name not in MEASURED_COLUMNS}, gpus, presets)
    except InexpressibleRowError as skipped:
        return replace(base, skipped=skipped.reason)
    printed = None if "card size" in row["note"] else number(row, "peak_memory_gb_per_gpu")
    unit = GIB / GB if "unit=gib" in row["note"].lower() else 1.0
    return replace(predicted, measured_gb_per_gpu=None if printed is None else printed * unit, outcome=row.get("outcome") or None)


def _predict(base: MemoryScore, row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> MemoryScore:
    read = read_memory_row(row, gpus, presets)
    hardware, configuration = HardwareColumns.of([read.hardware]), ConfigurationColumns.of([read.configuration])
    memory = estimate_memory(read.job, hardware, configuration, read.recipe)
    allocated = float(allocate(read.job, hardware, configuration, read.recipe).allocated_gb[0])
    device = float(memory.needed_gb[0])
    by_meter: Mapping[Meter, float] = {"allocated": allocated, "reserved": allocated * CONSTANTS.central_factor, "device": device}
    return replace(
        base,
        meter=read.meter,
        needed_gb_per_gpu=by_meter[read.meter],
        device_gb_per_gpu=device,
        verdict=VERDICTS[memory.verdict[0]] if read.gpu_known else None,
    )


def summarize_memory(scores: Sequence[MemoryScore]) -> MemorySummary:
    """Errors and verdicts over all rows."""
    judged = [score for score in scores if score.verdict is not None and score.outcome in {"fits", "oom"}]
    measured = [score for score in scores if score.error is not None]
    meters = sorted({score.meter for score in measured if score.meter is not None})
    return MemorySummary(
        used=sum(score.skipped is None for score in scores),
        skipped=dict(sorted(Counter(score.skipped for score in scores if score.skipped is not None).items())),
        overall=_errors(measured) if measured else None,
        by_meter={meter: _errors([score for score in measured if score.meter == meter]) for meter in meters},
        ran=sum(score.outcome == "fits" for score in judged),
        ran_out=sum(score.outcome == "oom" for score in judged),
        false_fits=sum(score.false_fit for score in judged),
        false_ooms=sum(score.false_oom for score in judged),
    )


def _errors(scores: Sequence[MemoryScore]) -> MemoryErrors:
    signed = [score.error for score in scores if score.error is not None]
    absolute = [abs(error) for error in signed]
    return MemoryErrors(
        rows=len(signed),
        median_percent=100.0 * median(absolute),
        p90_percent=100.0 * float(np.quantile(absolute, 0.9)),
        bias_percent=100.0 * median(signed),
    )
