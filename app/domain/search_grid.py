"""All candidates of a search as one array: (GPUs per node, nodes) × layout × recomputation × micro-batch → live tensors in GB."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.domain.configuration import (
    ATTENTION_KERNELS,
    LOSS_KERNELS,
    OFFLOADS,
    RECOMPUTES,
    SHARDINGS,
    ConfigurationColumns,
    Recompute,
    data_parallel_ranks,
)
from app.domain.gpus import PRECISIONS
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.layouts import LEAN, PLAIN, Layout, Pins, ladder, recomputes
from app.domain.memory import allocate
from app.domain.workload import OPTIMIZERS, TrainingJob

MICRO_BATCHES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
_SURPLUS = 1.05
"""A micro-batch that does not divide a rank's sequences may enlarge the global batch by this factor at most."""
_MICRO_BATCHES_PER_STAGE = 4
"""A pipeline gets at least this many micro-batches a stage where the batch allows it, or its bubble eats what it saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Candidates of every pair; ``allocated_gb`` is infinite where a layout cannot be built.

    ``pair`` says for every shape which row of the arrays is its own; ``pair_gpus`` is (GPUs per node, nodes) of each row. A candidate is a
    flat index over (layout, recompute, micro-batch). ``few_sequences``: pairs with more data-parallel ranks than sequences, however split.
    """

    job: TrainingJob
    pins: Pins
    layouts: tuple[Layout, ...]
    recompute: tuple[Recompute, ...]
    micro_batches: tuple[int, ...]
    pair: Ints
    pair_gpus: Ints
    allocated_gb: Floats
    host_ram_gb: Floats
    few_sequences: Bools

    @property
    def dimensions(self) -> tuple[int, int, int]:
        """Lengths of (layout, recompute, micro-batch)."""
        return len(self.layouts), len(self.recompute), len(self.micro_batches)

    def steps(self) -> Ints:
        """The ladder's step of every layout."""
        return np.array([layout.step for layout in self.layouts], dtype=np.int64)

    def leanest(self) -> tuple[Ints, Floats]:
        """Per pair the candidate of least memory and its live tensors, GB (NaN where none can be built)."""
        flat = self.allocated_gb.reshape(len(self.allocated_gb), math.prod(self.dimensions))
        best = np.argmin(flat, axis=1)
        least = flat[np.arange(len(flat)), best]
        return best, np.where(np.isinf(least), np.nan, least)

    def configuration(self, pair: Ints, candidate: Ints, precision: Ints) -> ConfigurationColumns:
        """The chosen candidates in columns."""
        indices = np.unravel_index(candidate, self.dimensions)
        layout, recompute, micro = (np.asarray(index, dtype=np.int64) for index in indices)
        return _columns(self, self.pair_gpus[pair], layout, recompute, micro, precision)


def grid_of(job: TrainingJob, pins: Pins, shapes: HardwareColumns) -> Grid:
    """Work out every candidate's memory, once for each distinct (GPUs per node, nodes) of ``shapes``."""
    layouts, recompute = ladder(job, pins), recomputes(job, pins)
    key = shapes.gpus_per_node * (1 << 32) + shapes.nodes
    _, first, pair = np.unique(key, return_index=True, return_inverse=True)
    pairs = shapes.take(first)
    pair_gpus = np.stack([pairs.gpus_per_node, pairs.nodes], axis=1)
    micros = _micro_batches(job, pins, _ranks(pair_gpus, layouts))
    dimensions = (len(pairs), len(layouts), len(recompute), len(micros))
    grid = Grid(
        job=job,
        pins=pins,
        layouts=layouts,
        recompute=recompute,
        micro_batches=micros,
        pair=pair,
        pair_gpus=pair_gpus,
        allocated_gb=np.full(dimensions, np.inf),
        host_ram_gb=np.full(dimensions, np.nan),
        few_sequences=np.zeros(len(pairs), dtype=np.bool_),
    )
    buildable = _buildable(grid)
    enough = _ranks(pair_gpus, layouts) <= _sequences(job)
    grid.few_sequences[:] = buildable.any(axis=1) & ~(buildable & enough).any(axis=1)
    row, layout, kind, micro = np.nonzero(
        (buildable & enough)[:, :, None, None] & _worthwhile(grid)[:, :, None, :] & np.ones(dimensions, bool)
    )
    precision = np.full(len(row), PRECISIONS.index(pins.precision or job.precision))
    memory = allocate(job, pairs.take(row), _columns(grid, grid.pair_gpus[row], layout, kind, micro, precision))
    grid.allocated_gb[row, layout, kind, micro] = memory.allocated_gb
    grid.host_ram_gb[row, layout, kind, micro] = memory.host_ram_gb
    return grid


def _sequences(job: TrainingJob) -> float:
    """Sequences to share out among the ranks in one step; without limit for a job that only counts steps."""
    return np.inf if job.unit == "step" else float(job.global_batch_sequences)


def _micro_batches(job: TrainingJob, pins: Pins, ranks: Ints) -> tuple[int, ...]:
    """The axis of micro-batches. Under a pinned accumulation: the ones with which some of ``ranks`` just make the global batch."""
    if pins.micro_batch is not None:
        return (pins.micro_batch,)
    if job.unit == "step":
        return (1,)
    if pins.gradient_accumulation is not None:
        return tuple(np.unique(-(-job.global_batch_sequences // (ranks * pins.gradient_accumulation))).tolist())
    return MICRO_BATCHES


def _table(layouts: tuple[Layout, ...], name: str) -> Ints:
    """One integer field of every layout."""
    return np.array([getattr(layout, name) for layout in layouts], dtype=np.int64)


def _ranks(pair_gpus: Ints, layouts: tuple[Layout, ...]) -> Ints:
    """Data-parallel ranks, (pair, layout)."""
    split = _table(layouts, "tensor_parallel") * _table(layouts, "pipeline_parallel")
    return data_parallel_ranks(pair_gpus.prod(axis=1)[:, None], split)


def _buildable(grid: Grid) -> Bools:
    """Whether the groups come out even, tensor groups lie inside a node and sharding has something to divide, (pair, layout)."""
    per_node, nodes = grid.pair_gpus[:, 0, None], grid.pair_gpus[:, 1, None]
    tensor, pipeline = _table(grid.layouts, "tensor_parallel"), _table(grid.layouts, "pipeline_parallel")
    even = (per_node % tensor == 0) & ((per_node * nodes) % (tensor * pipeline) == 0)
    if grid.job.model is not None:
        even &= (grid.job.model.attention_heads % tensor == 0) & (pipeline <= grid.job.model.layers)
    if grid.pins.sharding is not None:
        return np.asarray(even)
    step = grid.steps()
    divides = ((step == PLAIN) | (step == LEAN)) & np.array(
        [layout.sharding != "none" and layout.offload == "none" for layout in grid.layouts]
    )
    hybrid = np.array([layout.sharding == "hybrid" for layout in grid.layouts])
    return np.asarray(even & (~divides | (_ranks(grid.pair_gpus, grid.layouts) > 1)) & (~hybrid | ((nodes > 1) & (per_node > tensor))))


def _worthwhile(grid: Grid) -> Bools:
    """Micro-batches that share out a rank's sequences without much surplus and keep a pipeline busy, (pair, layout, micro-batch).

    A pinned accumulation must make the global batch; an open micro-batch is then the smallest that does.
    """
    ranks = _ranks(grid.pair_gpus, grid.layouts)[:, :, None]
    if grid.pins.gradient_accumulation is not None and grid.job.unit != "step":
        each = ranks * grid.pins.gradient_accumulation
        made = each * np.array(grid.micro_batches)
        least = (grid.pins.micro_batch is not None) | (made - each < _sequences(grid.job))
        return np.asarray((made >= _sequences(grid.job)) & least)
    if grid.pins.micro_batch is not None or grid.job.unit == "step":
        return np.ones((len(grid.pair_gpus), len(grid.layouts), len(grid.micro_batches)), dtype=np.bool_)
    micros = np.array(grid.micro_batches)
    share = np.ceil(_sequences(grid.job) / ranks)
    pipeline = _table(grid.layouts, "pipeline_parallel")[None, :, None]
    even = np.ceil(share / micros) * micros <= share * _SURPLUS
    busy = (pipeline == 1) | (micros <= np.maximum(share // (_MICRO_BATCHES_PER_STAGE * pipeline), 1))
    return np.asarray(even & busy)


def _columns(grid: Grid, gpus: Ints, layout: Ints, recompute: Ints, micro: Ints, precision: Ints) -> ConfigurationColumns:
    """Configurations from indices into the grid's axes; ``gpus`` holds (GPUs per node, nodes)."""
    pins = grid.pins
    micro_batch = np.array(grid.micro_batches, dtype=np.int64)[micro]
    tensor, pipeline = _table(grid.layouts, "tensor_parallel")[layout], _table(grid.layouts, "pipeline_parallel")[layout]
    if pins.gradient_accumulation is not None:
        accumulation = np.full(len(layout), pins.gradient_accumulation)
    elif grid.job.unit == "step":
        accumulation = np.ones(len(layout), dtype=np.int64)
    else:
        ranks = data_parallel_ranks(gpus.prod(axis=1), tensor * pipeline)
        accumulation = -(-grid.job.global_batch_sequences // (ranks * micro_batch))

    def named(values: list[int]) -> Ints:
        return np.array(values, dtype=np.int64)[layout]

    return ConfigurationColumns(
        precision=precision,
        micro_batch=micro_batch,
        gradient_accumulation=accumulation,
        activation_checkpointing=np.array([RECOMPUTES.index(kind) for kind in grid.recompute], dtype=np.int64)[recompute],
        sharding=named([SHARDINGS.index(entry.sharding) for entry in grid.layouts]),
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        offload=named([OFFLOADS.index(entry.offload) for entry in grid.layouts]),
        optimizer=named([OPTIMIZERS.index(entry.optimizer) for entry in grid.layouts]),
        attention=np.full(len(layout), ATTENTION_KERNELS.index(pins.attention or "flash")),
        loss=named([LOSS_KERNELS.index(entry.loss) for entry in grid.layouts]),
    )
