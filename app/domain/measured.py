"""What the caller knows of the speed better than the model (R19): its own measurements, or an MFU to assume."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.calibration import Calibration
from app.domain.gpus import Gpu
from app.domain.hardware import Floats, Hardware, HardwareColumns, usual_link
from app.domain.limits import optional
from app.domain.physics import SpeedColumns
from app.domain.search import search
from app.domain.workload import Measurement, TrainingJob, WorkloadError

_GPUS_PER_MACHINE = 8
_PLAUSIBLE = (0.05, 5.0)
"""Outside this ratio of measured to estimated speed a unit or a count is wrong, not the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What multiplies the model's speed: a ``ratio`` of real to estimated speed, or what brings every plan to one stated ``mfu``.

    ``sigma`` is the ln-sd that is left.
    """

    basis: Literal["measured", "stated"]
    ratio: float | None
    mfu: float | None
    sigma: float

    def factors(self, speed: SpeedColumns) -> Floats:
        """The factor of every row of ``speed``."""
        if self.mfu is not None:
            return self.mfu / speed.mfu
        return np.full(len(speed.mfu), self.ratio)


def scale_of(job: TrainingJob, gpus: Mapping[str, Gpu], calibration: Calibration) -> Scale | None:
    """What the caller knows better than the model: measurements, or an MFU to assume; None for neither.

    Each measurement is compared with the estimate for the layout that the search would choose on machines of up to eight such cards with
    their usual link; several are combined by their geometric mean, and their mutual spread, when larger, is kept in ``sigma``. A job that
    counts steps has no model of its own: the ratio then carries the whole scale.

    Raises:
        WorkloadError: a measurement lies so far from any possible speed that a unit or a count must be wrong; or both are given.
    """
    own = calibration.sigma["measured"]
    mfu = optional(job.spec.assumed_mfu, "/assumed_mfu", 1.0)
    if mfu is not None:
        if job.spec.measured:
            raise WorkloadError(pointer="/assumed_mfu", code="contradiction", detail="Give either measured or assumed_mfu, not both.")
        if job.flops_per_unit is None:
            raise WorkloadError(
                pointer="/assumed_mfu", code="contradiction", detail="An MFU says nothing of a network whose FLOPs are unknown."
            )
        return Scale(basis="stated", ratio=None, mfu=mfu, sigma=own)
    if not job.spec.measured:
        return None
    logs = np.array([_log_ratio(job, index, gpus, calibration) for index in range(len(job.spec.measured))], dtype=np.float64)
    return Scale(basis="measured", ratio=float(np.exp(logs.mean())), mfu=None, sigma=max(own, float(logs.std())))


def _log_ratio(job: TrainingJob, index: int, gpus: Mapping[str, Gpu], calibration: Calibration) -> float:
    measurement = job.spec.measured[index]
    shapes = HardwareColumns.of([_hardware(gpus[measurement.gpu], measurement.gpus)])
    estimate = float(search(job, shapes, calibration).speed.units_per_second[0])
    real = units_per_second(job, measurement)
    ratio = real / estimate
    if job.flops_per_unit is not None and not _PLAUSIBLE[0] <= ratio <= _PLAUSIBLE[1]:
        detail = (
            f"{real:,.4g} {job.unit}s a second on {measurement.gpus} × {measurement.gpu} "
            f"is {ratio:,.3g} times the estimate of {estimate:,.4g}. "
            "Check that the figure is the total over all these GPUs, and counts the unit it should."
        )
        raise WorkloadError(pointer=f"/measured/{index}", code="measurement_implausible", detail=detail)
    return math.log(ratio)


def units_per_second(job: TrainingJob, measurement: Measurement) -> float:
    """The measured rate in the job's own units, all GPUs together; a step without its own batch is one of the job's steps."""
    if measurement.tokens_per_second is not None:
        return measurement.tokens_per_second
    if measurement.seconds_per_step is None:
        raise WorkloadError(
            pointer="/measured", code="missing_rate", detail="Give tokens_per_second or seconds_per_step for each measurement."
        )
    per_step = job.units_per_step
    if measurement.global_batch_sequences is not None:
        per_step *= measurement.global_batch_sequences / job.global_batch_sequences
    return per_step / measurement.seconds_per_step


def _hardware(gpu: Gpu, count: int) -> Hardware:
    """The measured machines, as such cards usually stand: equal ones of up to eight."""
    per_node = max(size for size in range(1, _GPUS_PER_MACHINE + 1) if count % size == 0)
    return Hardware(gpu=gpu, gpus_per_node=per_node, nodes=count // per_node, intra_node_link=usual_link(gpu, per_node))
