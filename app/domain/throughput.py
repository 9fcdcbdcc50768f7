"""How many tokens a second a job does on many machines and layouts at once, and why not more.

One estimate is a column of length one; the arithmetic is the same (step_time.py).
"""

from __future__ import annotations

import numpy as np

from app.domain.calibration import STACK_CLASS_OF, Calibration
from app.domain.configuration import RECOMPUTES, ConfigurationColumns
from app.domain.custom_speed import estimate_custom_speed
from app.domain.hardware import Floats, HardwareColumns
from app.domain.physics import BOTTLENECKS, SpeedColumns
from app.domain.speed_error import sigma_of
from app.domain.step_time import StepSeconds, step_seconds
from app.domain.step_work import StepWork, step_work
from app.domain.workload import TrainingJob


def estimate_speed(
    job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, calibration: Calibration
) -> SpeedColumns:
    """Speed of ``job`` on every row of ``hardware`` laid out as the same row of ``configuration``.

    Every row gets a finite, positive speed. Whether it fits in memory, and whether the card has the precision, is for others to say.
    The factors multiply to MFU against the dense peak of the row's own precision; data loading and checkpoint stalls are 1 here.
    """
    if job.model is None:
        return estimate_custom_speed(job, hardware, configuration, calibration)
    work = step_work(job, job.model)
    seconds = step_seconds(work, STACK_CLASS_OF[job.stack], hardware, configuration, calibration)
    mfu = seconds.ideal / seconds.total
    kernel = seconds.arithmetic + seconds.streaming + seconds.dequantisation + seconds.offload + seconds.update + seconds.fixed
    with_recompute = kernel + seconds.recompute
    with_bubble = with_recompute + seconds.bubble
    ones = np.ones_like(mfu)
    return SpeedColumns(
        units_per_second=work.units_per_step / seconds.total,
        seconds_per_step=seconds.total,
        mfu=mfu,
        hfu=mfu * (_hardware_flops(work, configuration) / work.model_flops),
        scaling_efficiency=with_recompute / seconds.total * seconds.used_share,
        sigma=sigma_of(job, hardware, seconds.network_assumed, configuration.precision, calibration),
        bottleneck=_bottleneck(seconds),
        network_assumed=seconds.network_assumed,
        factors={
            "kernel": np.minimum(seconds.ideal / kernel, 1.0),
            "communication": np.minimum(with_bubble / seconds.total, 1.0),  # the two sums round differently
            "recompute": kernel / with_recompute,
            "bubble": with_recompute / with_bubble,
            "data_loading": ones,
            "checkpoint_stall": ones,
        },
    )


def speed_notes(job: TrainingJob) -> tuple[str, ...]:
    """Codes of what the speed of every row of ``job`` takes for granted; a row's network is ``SpeedColumns.network_assumed``."""
    if job.model is None:
        return ("network_balance_assumed" if job.flops_per_unit is None else "network_efficiency_assumed",)
    return (f"stack_unknown_taken_as_{STACK_CLASS_OF['unknown']}",) if job.stack == "unknown" else ()


def _hardware_flops(work: StepWork, configuration: ConfigurationColumns) -> Floats:
    """FLOPs a token with the repeated forward passes counted."""
    policy = configuration.activation_checkpointing
    again = np.where(policy == RECOMPUTES.index("full"), work.block_forward + work.score_forward, 0.0)
    again = np.where(policy == RECOMPUTES.index("selective"), work.score_forward, again)
    return np.asarray(work.model_flops + again)


def _bottleneck(seconds: StepSeconds) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The largest single cause of each row's time, as an index into BOTTLENECKS."""
    causes = {
        "compute": seconds.arithmetic + seconds.recompute,
        "memory_bandwidth": seconds.streaming,
        "intra_node_link": seconds.inside_traffic,
        "inter_node_network": seconds.between_traffic,
        "pipeline_bubble": seconds.bubble,
        "dequantisation": seconds.dequantisation,
        "offload": seconds.offload,
        "optimizer": seconds.update,
    }
    most = np.zeros_like(seconds.total)
    named = np.zeros(len(most), dtype=np.int64)
    for name, value in causes.items():
        larger = value > most
        named = np.where(larger, BOTTLENECKS.index(name), named)
        most = np.where(larger, value, most)
    return named
