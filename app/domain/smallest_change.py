"""What would let a refused shape in: the least change to the workload or the hardware, with its number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.domain.gpus import PRECISIONS
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.layouts import OFFLOADED, Pins
from app.domain.memory import device_gb, tight_below_gb
from app.domain.search import REASONS, precision_on
from app.domain.search_grid import Grid, grid_of
from app.domain.workload import TrainingJob

ChangeCode = Literal[
    "allow_8bit_optimizer",
    "allow_offload",
    "qlora",
    "more_gpus",
    "larger_card",
    "more_host_memory",
    "larger_batch",
    "larger_accumulation",
    "precision",
    "layout",
]
_MULTIPLES = (2, 4, 8, 16, 32, 64)
"""How many times the nodes to try before saying that the card is too small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change, with its number where it has one.

    ``value``: GPUs in all (``more_gpus``), GB of device memory (``larger_card``) or of host memory a node (``more_host_memory``), sequences
    a step (``larger_batch``), micro-steps (``larger_accumulation``). ``word``: the precision to ask for (``precision``), else empty.
    """

    code: ChangeCode
    value: float | None = None
    word: str = ""


def smallest_changes(job: TrainingJob, shapes: HardwareColumns, reason: Ints, pins: Pins | None = None) -> tuple[Change, ...]:
    """One change for each refused row of ``shapes``; ``reason`` holds its codes (into ``search.REASONS``).

    Changes of the workload come before changes of hardware. Meant for the few examples that are shown, not for thousands of rows.
    """
    pins = pins or Pins()
    grid = grid_of(job, pins, shapes)
    usable = shapes.per_gpu([gpu.usable_memory_gb for gpu in shapes.gpus])
    limit = tight_below_gb(usable)
    lighter = [(code, _least_gb(grid_of(other, pins, shapes)) <= limit) for code, other in _lighter_jobs(job, pins)]
    wider = _wider(job, pins, shapes, limit)
    least = device_gb(_least_gb(grid))
    accumulation = _accumulation(job, pins, shapes, limit)

    def for_memory(row: int) -> Change:
        if not np.isnan(accumulation[row]):
            return Change(code="larger_accumulation", value=float(accumulation[row]))
        if (code := next((code for code, fits in lighter if fits[row]), None)) is not None:
            return Change(code=code)
        if not np.isnan(wider[row]):
            return Change(code="more_gpus", value=float(wider[row]))
        return Change(code="larger_card", value=float(least[row]) if np.isfinite(least[row]) else None)

    def of_row(row: int) -> Change:
        match REASONS[reason[row]]:
            case "precision":
                gpu = shapes.gpus[int(shapes.gpu_index[row])]
                return Change(code="precision", word=next((name for name in PRECISIONS if precision_on(name, (gpu,))[0] >= 0), ""))
            case "batch":
                return Change(code="larger_batch", value=float(shapes.total_gpus[row]))
            case "layout":
                known = not np.isnan(accumulation[row])
                return Change(code="larger_accumulation", value=float(accumulation[row])) if known else Change(code="layout")
            case "host_memory":
                return Change(code="more_host_memory", value=_host_gb(grid, int(grid.pair[row]), float(limit[row])))
            case _:
                return for_memory(row)

    return tuple(of_row(row) for row in range(len(shapes)))


def _lighter_jobs(job: TrainingJob, pins: Pins) -> list[tuple[ChangeCode, TrainingJob]]:
    """The same job with one more thing permitted."""
    jobs: list[tuple[ChangeCode, TrainingJob]] = []
    trains_all = job.method in {"full", "pretrain"}
    if trains_all and job.optimizer == "adamw" and pins.optimizer is None and not job.spec.allow_8bit_optimizer:
        jobs.append(("allow_8bit_optimizer", replace(job, spec=replace(job.spec, allow_8bit_optimizer=True))))
    if not job.spec.allow_offload and pins.offload is None:
        jobs.append(("allow_offload", replace(job, spec=replace(job.spec, allow_offload=True))))
    if job.method == "lora":
        jobs.append(("qlora", replace(job, method="qlora")))
    return jobs


def _accumulation(job: TrainingJob, pins: Pins, shapes: HardwareColumns, limit_gb: Floats) -> Floats:
    """The least accumulation with which every other pin stands and the card suffices; NaN where the pinned one is not to blame."""
    found = np.full(len(shapes), np.nan)
    if pins.gradient_accumulation is None or job.unit == "step":
        return found
    grid = grid_of(job, replace(pins, gradient_accumulation=None), shapes)
    for row in range(len(shapes)):
        pair = int(grid.pair[row])
        fitting = np.flatnonzero(grid.allocated_gb[pair].reshape(-1) <= limit_gb[row])
        if len(fitting):
            rows = np.full(len(fitting), pair, dtype=np.int64)
            found[row] = grid.configuration(rows, fitting, np.zeros_like(rows)).gradient_accumulation.min()
    return np.where(found > pins.gradient_accumulation, found, np.nan)


def _least_gb(grid: Grid) -> Floats:
    """Least live tensors of every shape, GB; infinite where nothing can be built."""
    _, least = grid.leanest()
    return np.nan_to_num(least, nan=np.inf)[grid.pair]


def _wider(job: TrainingJob, pins: Pins, shapes: HardwareColumns, limit_gb: Floats) -> Floats:
    """GPUs in all with which the same card would do, as a multiple of the nodes; NaN where no multiple helps."""
    rows = np.arange(len(shapes))
    gpus = np.full(len(shapes), np.nan)
    tiled = shapes.take(np.tile(rows, len(_MULTIPLES)))
    wide = replace(tiled, nodes=tiled.nodes * np.repeat(_MULTIPLES, len(shapes)))
    fits: Bools = np.asarray(_least_gb(grid_of(job, pins, wide)) <= np.tile(limit_gb, len(_MULTIPLES))).reshape(len(_MULTIPLES), -1)
    first = np.argmax(fits, axis=0)
    return np.where(fits.any(axis=0), shapes.total_gpus * np.array(_MULTIPLES)[first], gpus)


def _host_gb(grid: Grid, pair: int, limit_gb: float) -> float:
    """Least host memory of the offloaded candidates that fit the card, GB per node."""
    offloaded = grid.steps() == OFFLOADED
    fits = grid.allocated_gb[pair, offloaded] <= limit_gb
    return float(np.min(grid.host_ram_gb[pair, offloaded][fits], initial=np.inf))
