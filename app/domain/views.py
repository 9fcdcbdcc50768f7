"""From columns to one plan's words: workload, memory and speed as the public contract shows them."""

from __future__ import annotations

import math

from app.domain.answer import WorkloadView
from app.domain.drift import Z90
from app.domain.measured import Scale
from app.domain.physics import (
    BOTTLENECKS,
    FACTORS,
    SpeedColumns,
    SpeedEstimate,
)
from app.domain.workload import TrainingJob


def workload_view(job: TrainingJob, notes: tuple[str, ...] = ()) -> WorkloadView:
    """The workload as understood, with everything that was assumed; ``notes`` are assumptions of the plans rather than of the workload."""
    model = job.model
    tokens = job.units_total if job.unit == "token" else None
    return WorkloadView(
        name=job.spec.name,
        model=None if model is None else model.name,
        method=job.method,
        parameters_b=None if model is None else model.parameters / 1e9,
        active_parameters_b=None if model is None else model.active_parameters / 1e9,
        trainable_parameters_b=job.trainable_parameters / 1e9 if job.trainable_parameters else None,
        tokens_b=None if tokens is None else tokens / 1e9,
        steps=job.steps_total,
        model_flops=job.model_flops,
        sequence_length=job.sequence_length,
        global_batch_sequences=job.global_batch_sequences,
        assumptions=(*job.assumptions, *notes),
        warnings=job.warnings,
    )


def speed_view(job: TrainingJob, speed: SpeedColumns, row: int, known: Scale | None, *, loading: float, stall: float) -> SpeedEstimate:
    """Speed of one row, with the plan's own data loading and checkpoint stalls taken in.

    Args:
        job: whose units are counted.
        speed: what the model says, before the measurement.
        row: which one.
        known: what the caller knows better, which scales the model.
        loading: share of time that data loading leaves, (0, 1].
        stall: share of time that checkpoints leave, (0, 1].
    """
    scale = 1.0 if known is None else float(known.factors(speed)[row])
    sigma = float(speed.sigma[row]) if known is None else known.sigma
    kept = loading * stall
    rate = float(speed.units_per_second[row]) * scale * kept
    tokens = rate if job.unit == "token" else None
    factors = {name: float(speed.factors[name][row]) for name in FACTORS}
    factors["kernel"] *= scale
    factors["data_loading"] *= loading
    factors["checkpoint_stall"] *= stall
    counted = job.model_flops is not None
    mfu = float(speed.mfu[row]) * scale * kept
    return SpeedEstimate(
        units_per_second=rate,
        unit=job.unit,
        tokens_per_second=tokens,
        tokens_per_second_p10=None if tokens is None else tokens * math.exp(-Z90 * sigma),
        tokens_per_second_p90=None if tokens is None else tokens * math.exp(Z90 * sigma),
        seconds_per_step=job.units_per_step / rate,
        mfu=mfu if counted else None,
        hfu=float(speed.hfu[row]) * scale * kept if counted else None,
        efficiency=mfu if counted else None,
        scaling_efficiency=float(speed.scaling_efficiency[row]),
        bottleneck="data_loading" if loading < 1.0 else BOTTLENECKS[speed.bottleneck[row]],
        factors=factors,
        basis="model" if known is None else known.basis,
        sigma=sigma,
    )
