"""Checks of numbers that come from a caller: finite, positive, below a stated limit, or a WorkloadError that says what to change."""

from __future__ import annotations

import math

from app.domain.workload import WorkloadError

MAX_PARAMETERS = 1e15
MAX_LAYERS = 10_000
MAX_WIDTH = 1_000_000
"""Of the hidden size."""
MAX_FFN = 100_000_000
MAX_HEADS = 1_000_000
MAX_VOCABULARY = 100_000_000
MAX_EXPERTS = 1_000_000
MAX_POSITIONS = 1_000_000_000
MAX_TOKENS = 1e18
MAX_SAMPLES = 1e18
MAX_STEPS = 1e12
MAX_EPOCHS = 1e6
MAX_BATCH = 1_000_000_000
MAX_RANK = 65_536
MAX_FLOPS_PER_SAMPLE = 1e30
MAX_RATE = 1e15
MAX_LOSS = 100.0


def positive(value: float, pointer: str, most: float) -> float:
    """``value`` if it is a finite number above 0 and at most ``most``.

    Raises:
        WorkloadError: it is not; the text names the limit.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        raise WorkloadError(pointer=pointer, code="not_a_number", detail=f"A number above 0 is needed here, at most {most:g}.")
    if not 0 < value <= most:
        raise WorkloadError(pointer=pointer, code="out_of_range", detail=f"The number must be above 0 and at most {most:g}.")
    return value


def optional(value: float | None, pointer: str, most: float) -> float | None:
    """Like ``positive``, but None passes."""
    return None if value is None else positive(value, pointer, most)
