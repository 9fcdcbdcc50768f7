"""Speed of networks that are no language model: by FLOPs a sample, or, when only a measurement is known, relative to a card."""

from __future__ import annotations

import numpy as np

from app.domain.calibration import Calibration
from app.domain.configuration import ConfigurationColumns
from app.domain.gpus import PRECISIONS
from app.domain.hardware import Floats, HardwareColumns
from app.domain.kernel_efficiency import matmul_tflops, own_peak_tflops
from app.domain.network import Links, links, ring_seconds
from app.domain.physics import BOTTLENECKS, SpeedColumns
from app.domain.workload import TrainingJob

_NOMINAL_STEP_FLOPS = 1e15
"""Work of a step of which nothing is known: any number does, since a measurement scales it away."""
_REFERENCE_BANDWIDTH = 2.039e12
_REFERENCE_MATMUL = 271e12
_BALANCE = 0.5
"""Share of an unknown step that follows memory bandwidth rather than arithmetic: the even guess."""


def estimate_custom_speed(
    job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, calibration: Calibration
) -> SpeedColumns:
    """Speed by FLOPs a unit at a stated efficiency, less the gradient exchange when the number of parameters is known.

    Without FLOPs (only a measurement is known) the rows are right relative to each other: half of the step is taken to follow the
    matrix-product rate and half the memory bandwidth. The measured ratio (measured.py) then gives the scale.
    """
    products = np.array([[matmul_tflops(gpu, name, calibration) * 1e12 for name in PRECISIONS] for gpu in hardware.gpus])
    peaks = np.array([[own_peak_tflops(gpu, name) * 1e12 for name in PRECISIONS] for gpu in hardware.gpus])
    where = (hardware.gpu_index, configuration.precision)
    peak = peaks[where]
    gpus = hardware.total_gpus.astype(np.float64)
    if job.flops_per_unit is not None:
        step_flops = job.flops_per_unit * job.units_per_step
        compute = step_flops / (gpus * peak * calibration.custom_efficiency)
    else:
        step_flops = _NOMINAL_STEP_FLOPS
        bandwidth = hardware.per_gpu([gpu.memory_bandwidth_gb_s * 1e9 for gpu in hardware.gpus])
        slowness = (1.0 - _BALANCE) * _REFERENCE_MATMUL / products[where] + _BALANCE * _REFERENCE_BANDWIDTH / bandwidth
        compute = step_flops / (_REFERENCE_MATMUL * calibration.custom_efficiency) * slowness / gpus
    wires = links(hardware, calibration)
    exchange = _exchange_seconds(job, hardware, wires)
    exposed = exchange - calibration.overlap["ordinary"] * np.minimum(exchange, compute * 2.0 / 3.0)
    total = (compute + exposed) * (1.0 + calibration.loss_per_doubling * np.log2(hardware.nodes.astype(np.float64)))
    mfu = np.minimum(step_flops / (gpus * peak * total), 1.0)
    ones = np.ones_like(total)
    slower = np.where(hardware.nodes > 1, BOTTLENECKS.index("inter_node_network"), BOTTLENECKS.index("intra_node_link"))
    return SpeedColumns(
        units_per_second=job.units_per_step / total,
        seconds_per_step=total,
        mfu=mfu,
        hfu=mfu,
        scaling_efficiency=compute / total,
        sigma=np.full(len(hardware), calibration.sigma["custom"]),
        bottleneck=np.where(exposed > compute, slower, BOTTLENECKS.index("compute")).astype(np.int64),
        network_assumed=wires.node_assumed,
        factors={
            "kernel": np.minimum(step_flops / (gpus * peak * compute), 1.0),
            "communication": compute / total,
            "recompute": ones,
            "bubble": ones,
            "data_loading": ones,
            "checkpoint_stall": ones,
        },
    )


def _exchange_seconds(job: TrainingJob, hardware: HardwareColumns, wires: Links) -> Floats:
    """All-reduce of 16-bit gradients over all GPUs; nothing when the number of parameters is unknown."""
    custom, gpus = job.spec.model.custom, hardware.total_gpus.astype(np.float64)
    if custom is None or not custom.parameters_b:
        return np.zeros_like(gpus)
    rate = np.where(hardware.nodes > 1, np.minimum(wires.node, wires.intra), wires.intra)
    return 2.0 * ring_seconds(custom.parameters_b * 1e9 * 2.0, gpus, rate)
