"""``POST /estimate``: does this workload fit this hardware, how, and how long does it take? No prices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.domain.answer import WorkloadView
from app.domain.assumptions import Assumptions, Figure
from app.domain.configuration import Configuration
from app.domain.explain import change_text, search_reason_text
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.knowledge import Knowledge
from app.domain.layouts import Pins
from app.domain.measured import scale_of
from app.domain.memory import memory_of_row
from app.domain.physics import MemoryEstimate, SpeedEstimate, Verdict
from app.domain.resolve import resolve
from app.domain.search import REASONS, search
from app.domain.smallest_change import smallest_changes
from app.domain.storage_io import data_loading_factor, reading_seconds
from app.domain.units import SECONDS_PER_HOUR
from app.domain.views import speed_view, workload_view
from app.domain.workload import WorkloadSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answer. ``configuration``, ``memory`` and ``speed`` are None when no layout can be built at all."""

    verdict: Verdict
    configuration: Configuration | None
    memory: MemoryEstimate | None
    speed: SpeedEstimate | None
    compute_hours: float | None
    gpu_hours: float | None
    model_flops: float | None
    workload: WorkloadView
    reasons: tuple[str, ...]


def estimate(spec: WorkloadSpec, hardware: Hardware, pins: Pins, *, knowledge: Knowledge) -> Estimate:
    """Memory, speed and time of ``spec`` on ``hardware``; what ``pins`` leaves open, the search chooses.

    Compute hours count training steps only: no set-up, evaluation, failures or goodput, which belong to a plan (``POST /recommend``).

    Raises:
        WorkloadError: the workload cannot be understood, or its measurement is implausible.
    """
    job = resolve(spec, presets=knowledge.presets, gpus=knowledge.gpus)
    shapes = HardwareColumns.of([hardware])
    found = search(job, shapes, knowledge.calibration, pins)
    scale = scale_of(job, knowledge.gpus, knowledge.calibration)
    texts = knowledge.texts["en"]
    reason = REASONS[found.reason[0]]
    reasons: list[str] = []
    if not found.found[0]:
        (change,) = smallest_changes(job, shapes, found.reason, pins)
        reasons = [search_reason_text(texts, reason, hardware, job, float(found.smallest_needed_gb[0])), change_text(texts, change)]
    runnable = bool(found.found[0]) or reason in {"memory", "host_memory"}
    view = workload_view(job)
    if not runnable:
        return Estimate(
            verdict="does_not_fit",
            configuration=None,
            memory=None,
            speed=None,
            compute_hours=None,
            gpu_hours=None,
            model_flops=job.model_flops,
            workload=view,
            reasons=tuple(reasons),
        )
    memory = memory_of_row(job, found.memory, found.configuration.at(0), 0)
    rate = found.speed.units_per_second * (1.0 if scale is None else scale.factors(found.speed))
    nvme = np.zeros(1, dtype=np.bool_)
    reading = reading_seconds(job, shapes.nodes, nvme, _with_storage(knowledge.assumptions, hardware))
    loading = float(data_loading_factor(job.units_total, rate, reading)[0])
    speed = speed_view(job, found.speed, 0, scale, loading=loading, stall=1.0)
    hours = job.units_total / speed.units_per_second / SECONDS_PER_HOUR
    return Estimate(
        verdict=memory.verdict if found.found[0] else "does_not_fit",
        configuration=found.configuration.at(0),
        memory=memory,
        speed=speed,
        compute_hours=hours,
        gpu_hours=hours * hardware.gpus,
        model_flops=job.model_flops,
        workload=view,
        reasons=tuple(reasons),
    )


def _with_storage(assumptions: Assumptions, hardware: Hardware) -> Assumptions:
    """The assumptions with the storage speed that the caller states, if it does."""
    if hardware.storage_gb_s is None:
        return assumptions
    return replace(assumptions, shared_read_gb_per_s_per_node=Figure(hardware.storage_gb_s, "GB/s", "stated by the caller"))
