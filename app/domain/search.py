"""Finds, for every hardware shape, the layout a careful engineer would choose: the fastest that fits, no leaner than it must be.

Needed memory does not depend on the GPU model, so it is worked out once for each distinct (GPUs per node, nodes); what fits then depends on
the card. Of the layouts that fit, only those that no simpler one beats in recomputation and micro-batch are timed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.calibration import Calibration
from app.domain.configuration import ConfigurationColumns
from app.domain.gpus import PRECISIONS, Gpu, Precision
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.layouts import LEAN, OFFLOADED, PLAIN, SPLIT, Pins
from app.domain.memory import device_gb, estimate_memory, fits_below_gb, tight_below_gb
from app.domain.physics import VERDICTS, MemoryColumns, SpeedColumns
from app.domain.search_grid import Grid, grid_of
from app.domain.throughput import estimate_speed
from app.domain.workload import TrainingJob

REASONS = ("none", "precision", "batch", "layout", "host_memory", "memory")
"""Why a shape has no layout. ``batch``: more data-parallel ranks than sequences in a step. ``layout``: the pinned one cannot be built."""

_STEPS: tuple[tuple[tuple[int, ...], bool], ...] = (
    ((PLAIN, SPLIT), False),
    ((LEAN,), False),
    ((PLAIN, SPLIT), True),
    ((LEAN,), True),
    ((OFFLOADED,), False),
    ((OFFLOADED,), True),
)
"""Steps of the ladder in the order tried; True: a tight fit will do. Offload is so slow that a tight fit goes before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One row a shape. Where ``found`` is False, ``reason`` (into REASONS) says why; the configuration is then the least hungry one.

    ``smallest_needed_gb`` is the likely need of the leanest permitted layout, NaN where none can be built. The speed of a row that
    was not found is that of the shown configuration, if it could run.
    """

    found: Bools
    reason: Ints
    configuration: ConfigurationColumns
    memory: MemoryColumns
    speed: SpeedColumns
    smallest_needed_gb: Floats


def search(job: TrainingJob, shapes: HardwareColumns, calibration: Calibration, pins: Pins | None = None) -> SearchResult:
    """Choose a layout for every shape.

    Rows are independent of each other and of their order. Among equally fast layouts the simplest wins.
    """
    pins = pins or Pins()
    wanted = pins.precision or job.precision
    precision = precision_on(wanted, shapes.gpus)[shapes.gpu_index]
    grid = grid_of(job, pins, shapes)
    chosen = _choose(_Search(job, shapes, calibration, grid, precision))
    leanest, least_gb = grid.leanest()
    candidate = np.where(chosen >= 0, chosen, leanest[grid.pair])
    configuration = grid.configuration(grid.pair, candidate, np.where(precision < 0, PRECISIONS.index(wanted), precision))
    memory = estimate_memory(job, shapes, configuration)
    found = (chosen >= 0) & (memory.verdict != VERDICTS.index("does_not_fit"))
    return SearchResult(
        found=found,
        reason=np.where(found, 0, _reasons(shapes, grid, precision)),
        configuration=configuration,
        memory=memory,
        speed=estimate_speed(job, shapes, configuration, calibration),
        smallest_needed_gb=device_gb(least_gb)[grid.pair],
    )


def precision_on(wanted: Precision, gpus: tuple[Gpu, ...]) -> Ints:
    """The precision to use on each GPU model, as an index into PRECISIONS; -1 where the card cannot do the job.

    bf16 becomes fp16 on cards that know only that (both 16 bits, the latter with loss scaling); nothing else is replaced.
    """

    def of(gpu: Gpu) -> int:
        if gpu.peak_tflops(wanted) is not None:
            return PRECISIONS.index(wanted)
        if wanted == "bf16" and gpu.fp16_tflops is not None:
            return PRECISIONS.index("fp16")
        return -1

    return np.array([of(gpu) for gpu in gpus], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Search:
    """What one search works on."""

    job: TrainingJob
    shapes: HardwareColumns
    calibration: Calibration
    grid: Grid
    precision: Ints


def _choose(search: _Search) -> Ints:
    """The chosen candidate of every shape, -1 where nothing fits. Each step of the ladder looks only at what is still without."""
    shapes = search.shapes
    usable = shapes.per_gpu([gpu.usable_memory_gb for gpu in shapes.gpus])
    chosen = np.full(len(shapes), -1, dtype=np.int64)
    for steps, tight in _STEPS:
        rows = np.flatnonzero((chosen < 0) & (search.precision >= 0))
        layouts = np.flatnonzero(np.isin(search.grid.steps(), steps))
        if len(rows) and len(layouts):
            limit = (tight_below_gb if tight else fits_below_gb)(usable)
            chosen[rows] = _fastest(search, rows, layouts, limit[rows])
    return chosen


def _fastest(search: _Search, rows: Ints, layouts: Ints, limit_gb: Floats) -> Ints:
    """The fastest candidate of ``layouts`` that fits each of ``rows``, -1 where none does."""
    grid = search.grid
    offload = bool((grid.steps()[layouts] == OFFLOADED).any())
    ram = search.shapes.ram_gb_per_node[rows] if offload else np.full(len(rows), np.nan)
    key = np.stack([grid.pair[rows].astype(np.float64), limit_gb, np.nan_to_num(ram, nan=np.inf)], axis=1)
    cases, case = np.unique(key, axis=0, return_inverse=True)
    case = case.reshape(-1)
    pair = cases[:, 0].astype(np.int64)
    fits = grid.allocated_gb[pair][:, layouts] <= cases[:, 1, None, None, None]
    if offload:
        fits &= grid.host_ram_gb[pair][:, layouts] <= cases[:, 2, None, None, None]
    micro = _largest(fits)
    worth = _worth_timing(micro, grid, layouts, pair)
    row, layout, recompute = np.nonzero(worth[case])
    picked = np.full(len(rows), -1, dtype=np.int64)
    if not len(row):
        return picked
    candidate = np.ravel_multi_index((layouts[layout], recompute, micro[case[row], layout, recompute]), grid.dimensions)
    shapes, precision = search.shapes.take(rows[row]), search.precision[rows[row]]
    configuration = grid.configuration(grid.pair[rows[row]], candidate, precision)
    rate = estimate_speed(search.job, shapes, configuration, search.calibration).units_per_second
    width = len(layouts) * len(grid.recompute)
    rates = np.full((len(rows), width), -np.inf)
    candidates = np.full((len(rows), width), -1, dtype=np.int64)
    place = layout * len(grid.recompute) + recompute
    rates[row, place], candidates[row, place] = rate, candidate
    return np.asarray(candidates[np.arange(len(rows)), np.argmax(rates, axis=1)])


def _largest(fits: Bools) -> Ints:
    """Index of the largest micro-batch that fits, (case, layout, recompute); -1 where none does."""
    last = fits.shape[-1] - 1 - np.argmax(fits[..., ::-1], axis=-1)
    return np.where(fits.any(axis=-1), last, -1)


def _worth_timing(micro: Ints, grid: Grid, layouts: Ints, pair: Ints) -> Bools:
    """Candidates that no simpler layout of the same family beats with as little recomputation and as large a micro-batch.

    Within a family (data parallel, inside nodes or everywhere; tensor; pipeline; both) a later rung sends more bytes than an earlier one.
    Splitting a model that fits one machine unsplit is not worth timing: it pays between nodes, where links are slow and ranks outnumber
    sequences.
    """
    entries = [grid.layouts[index] for index in layouts]
    families: dict[tuple[bool, bool, bool, str, str], list[int]] = {}
    for position, entry in enumerate(entries):
        split = (entry.tensor_parallel > 1, entry.pipeline_parallel > 1, entry.sharding == "hybrid")
        families.setdefault((*split, entry.optimizer, entry.loss), []).append(position)
    worth = np.zeros(micro.shape, dtype=np.bool_)
    for members in families.values():
        best = np.full((len(micro), len(grid.recompute)), -1, dtype=np.int64)
        for position in members:
            so_far = np.maximum.accumulate(best, axis=1)
            own = micro[:, position]
            before = np.maximum.accumulate(np.concatenate([np.full((len(own), 1), -1), own[:, :-1]], axis=1), axis=1)
            worth[:, position] = own > np.maximum(so_far, before)
            best = np.maximum(best, own)
    plain = np.array([entry.step == PLAIN for entry in entries])
    split_layouts = np.array([entry.step == SPLIT for entry in entries])
    if plain.any() and split_layouts.any():
        alone = ((grid.pair_gpus[pair, 1] == 1) & (micro[:, plain] >= 0).any(axis=(1, 2))).reshape(-1, 1, 1)
        worth &= ~(alone & split_layouts.reshape(1, -1, 1))
    return worth


def _reasons(shapes: HardwareColumns, grid: Grid, precision: Ints) -> Ints:
    """Why a shape without a layout has none."""
    buildable = np.asarray(np.isfinite(grid.allocated_gb).any(axis=(1, 2, 3)), dtype=np.bool_)
    usable = shapes.per_gpu([gpu.usable_memory_gb for gpu in shapes.gpus])
    offloaded = grid.steps() == OFFLOADED
    least = np.min(grid.allocated_gb[:, offloaded], axis=(1, 2, 3), initial=np.inf)
    only_ram = least[grid.pair] <= tight_below_gb(usable)
    reason = np.where(only_ram, REASONS.index("host_memory"), REASONS.index("memory"))
    reason = np.where(buildable[grid.pair], reason, REASONS.index("layout"))
    reason = np.where(grid.few_sequences[grid.pair], REASONS.index("batch"), reason)
    return np.where(precision < 0, REASONS.index("precision"), reason)
