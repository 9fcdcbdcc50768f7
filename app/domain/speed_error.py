"""How far a speed estimate may be off: the standard deviation of ln(measured / estimated) by class of row."""

from __future__ import annotations

import numpy as np

from app.domain.calibration import Calibration
from app.domain.gpus import PRECISIONS, Gpu
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.workload import TrainingJob

_WELL_KNOWN = frozenset({"Ampere", "Hopper"})
"""Generations with hundreds of measured runs."""


def gpu_known(gpu: Gpu) -> bool:
    """Whether this class of card is well covered by measured training runs: NVIDIA's data-centre cards of two generations."""
    return gpu.vendor == "NVIDIA" and gpu.architecture in _WELL_KNOWN and gpu.form_factor != "consumer"


def sigma_of(job: TrainingJob, hardware: HardwareColumns, network_assumed: Bools, precision: Ints, calibration: Calibration) -> Floats:
    """Spread of each row: a base by kind of job, and independent widenings added in squares."""
    table = calibration.sigma
    expert = job.model is not None and job.model.experts > 0
    base = table["moe"] if expert else table["adapter" if job.method in {"lora", "qlora"} else "dense"]
    variance = np.full(len(hardware), base**2)
    if job.stack == "unknown":
        variance += table["stack_unknown"] ** 2
    variance += hardware.per_gpu([0.0 if gpu_known(gpu) else table["gpu_uncommon"] ** 2 for gpu in hardware.gpus])
    variance += np.where(network_assumed, table["network_assumed"] ** 2, 0.0)
    variance += np.where(precision == PRECISIONS.index("fp8"), table["fp8"] ** 2, 0.0)
    return np.asarray(np.sqrt(variance))
