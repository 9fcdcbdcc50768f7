"""Model states: weights, gradients, optimizer, and how sharding and offload divide them. Bytes per GPU, in columns.

Sources: ZeRO (arXiv 1910.02054), PyTorch FSDP (arXiv 2304.11277), LoRA (arXiv 2106.09685), QLoRA (arXiv 2305.14314).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.domain.configuration import OFFLOADS, SHARDINGS, ConfigurationColumns, data_parallel_ranks
from app.domain.gpus import PRECISIONS, Precision
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.llm import ModelShape
from app.domain.memory_constants import CONSTANTS
from app.domain.workload import OPTIMIZERS, Optimizer, Stack, TrainingJob

TrainedWeights = Literal["mixed", "autocast", "pure"]
"""``mixed``: 16-bit weights and an fp32 master (DeepSpeed, Megatron). ``autocast``: fp32 weights computed in 16 bits (AMP, FSDP mixed
precision). ``pure``: 16 bits throughout, other numerics."""

_WIDE: tuple[Precision, ...] = ("tf32", "fp32")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecipe:
    """The fine points of a training stack that a ``Configuration`` does not name.

    Bytes are per parameter. ``step_copy``: AdamW's multi-tensor path copies the parameter list during the step. ``adapter_weight_bytes``
    is 4 or 2. ``unquantised_weight_bytes`` is for embeddings, head and norms beside 4-bit weights. ``loss_bytes_per_logit`` is (stock,
    fused). ``every_rank_loads_whole``: each rank materialises the model before it is sharded.
    """

    trained_weights: TrainedWeights = "mixed"
    mixed_gradient_bytes: float = 2.0
    step_copy: bool = False
    frozen_weight_bytes: float = 2.0
    quantised_weight_bytes: float = CONSTANTS.nf4_bytes
    unquantised_weight_bytes: float = 4.0
    quantised_weights_shard: bool = True
    adapter_weight_bytes: float = 4.0
    lora_on_all_linears: bool = True
    fused_kernels: bool = False
    loss_bytes_per_logit: tuple[float, float] = (CONSTANTS.loss_stock_bytes, CONSTANTS.loss_fused_bytes)
    loss_hidden: float = CONSTANTS.loss_hidden
    every_rank_loads_whole: bool = False


_RECIPES: dict[Stack, MemoryRecipe] = {
    "megatron": MemoryRecipe(mixed_gradient_bytes=4.0, fused_kernels=True),
    "fsdp": MemoryRecipe(trained_weights="autocast", step_copy=True, unquantised_weight_bytes=2.0),
    "deepspeed": MemoryRecipe(),
    "hf_trainer": MemoryRecipe(trained_weights="autocast", step_copy=True),
    "unsloth": MemoryRecipe(trained_weights="autocast", fused_kernels=True, loss_bytes_per_logit=(CONSTANTS.loss_fused_bytes, 0.0)),
    "torchtitan": MemoryRecipe(trained_weights="autocast", fused_kernels=True),
    "unknown": MemoryRecipe(),
}


def recipe_of(stack: Stack) -> MemoryRecipe:
    """What ``stack`` does by default. Megatron accumulates gradients in fp32; FSDP and the Hugging Face trainer keep fp32 weights."""
    return _RECIPES[stack]


@dataclass(frozen=True, slots=True, kw_only=True)
class _BytesPerParameter:
    """Bytes per trained parameter before sharding; ``cache``: 16-bit copies that autocast keeps during forward and backward."""

    weights: float
    master: float
    gradients: float
    moments: float
    step_copy: float
    cache: float


def _trained_bytes(recipe: MemoryRecipe, precision: Precision, optimizer: Optimizer) -> _BytesPerParameter:
    """One recipe in bytes. Optimizers with small state (8-bit, Adafactor, SGD without momentum) run on pure 16-bit weights.

    Totals at the worst moment: mixed 16 (18 with fp32 gradients), autocast 20, pure 10 with AdamW, 6 with 8-bit Adam, 4 with SGD.
    """
    wide = precision in _WIDE
    light = optimizer != "adamw"
    kind: TrainedWeights = "pure" if light else recipe.trained_weights
    moments = {"adamw": 8.0, "adamw_8bit": CONSTANTS.moments_8bit_bytes, "paged_adamw_8bit": 0.0, "adafactor": 0.0, "sgd": 0.0}[optimizer]
    copies = recipe.step_copy and not light
    if wide:
        return _BytesPerParameter(weights=4.0, master=0.0, gradients=4.0, moments=moments, step_copy=4.0 * copies, cache=0.0)
    if kind == "autocast":
        return _BytesPerParameter(weights=4.0, master=0.0, gradients=4.0, moments=moments, step_copy=4.0 * copies, cache=2.0)
    if kind == "pure":
        moments = moments / 2.0 if optimizer == "adamw" else moments
        return _BytesPerParameter(weights=2.0, master=0.0, gradients=2.0, moments=moments, step_copy=2.0 * copies, cache=0.0)
    return _BytesPerParameter(weights=2.0, master=4.0, gradients=recipe.mixed_gradient_bytes, moments=moments, step_copy=0.0, cache=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateColumns:
    """Bytes per GPU; ``host`` is per node.

    ``gathered``: units made whole for a moment under full sharding, and autocast copies. ``whole``: the model before it is sharded.
    ``head_gradients``: what exists of the gradients when backward begins.
    """

    weights: Floats
    gradients: Floats
    head_gradients: Floats
    optimizer: Floats
    step_copy: Floats
    gathered: Floats
    whole: Floats
    host: Floats
    fully_sharded: Bools


def floats(values: npt.ArrayLike) -> Floats:
    """``values`` as a float64 column."""
    return np.asarray(values, dtype=np.float64)


def sharding_degree(hardware: HardwareColumns, configuration: ConfigurationColumns) -> Ints:
    """Ranks over which states are divided; inside one node for ``hybrid``. It says nothing about which states are."""
    ranks = data_parallel_ranks(hardware.total_gpus, configuration.split)
    in_node = np.maximum(hardware.gpus_per_node // configuration.tensor_parallel, 1)
    return np.where(configuration.sharding == SHARDINGS.index("hybrid"), np.minimum(in_node, ranks), ranks)


def trained_parameters(job: TrainingJob) -> float:
    """Parameters that the optimizer updates."""
    if job.method in {"lora", "qlora"} or job.model is None:
        return job.trainable_parameters
    return job.model.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class _Division:
    """By how much each kind of state is divided over data-parallel ranks. ``fully_sharded`` rows gather weights unit by unit."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    fully_sharded: Bools
    gradients_only: Bools
    replicated: Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """States before offload, bytes per GPU."""

    weights: Floats
    gradients: Floats
    head_gradients: Floats
    optimizer: Floats
    step_copy: Floats
    cache: Floats
    whole: Floats


def state_columns(job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, recipe: MemoryRecipe) -> StateColumns:
    """States of every row.

    A pipeline stage holds its layers and one of the two vocabulary matrices; tensor parallelism divides everything. Where a job has no
    model shape, its trained parameters are spread evenly.
    """
    division = _division(hardware, configuration)
    table = _Table(recipe, configuration)
    if job.method in {"lora", "qlora"}:
        parts = _adapter_parts(job, configuration, recipe, division, table)
    else:
        parts = _trained_parts(job, configuration, division, table)
    offload_all = configuration.offload == OFFLOADS.index("parameters")
    offload_optimizer = offload_all | (configuration.offload == OFFLOADS.index("optimizer"))
    fully_sharded = division.fully_sharded | offload_all
    unit = _gathered_unit(job, configuration.tensor_parallel.astype(np.float64), recipe, table)
    host = np.where(offload_optimizer, parts.optimizer, 0.0) + np.where(offload_all, parts.weights + parts.gradients, 0.0)
    return StateColumns(
        weights=np.where(offload_all, 0.0, parts.weights),
        gradients=np.where(offload_all, 0.0, parts.gradients),
        head_gradients=np.where(offload_all, 0.0, parts.head_gradients),
        optimizer=np.where(offload_optimizer, 0.0, parts.optimizer),
        step_copy=np.where(offload_optimizer, 0.0, parts.step_copy),
        gathered=np.where(fully_sharded, unit, 0.0) + parts.cache,
        whole=parts.whole,
        host=floats(host * hardware.gpus_per_node * CONSTANTS.host_ram_factor),
        fully_sharded=fully_sharded,
    )


class _Table:
    """``_BytesPerParameter`` of every (precision, optimizer), looked up per row."""

    def __init__(self, recipe: MemoryRecipe, configuration: ConfigurationColumns) -> None:
        self._entries = [_trained_bytes(recipe, precision, optimizer) for precision in PRECISIONS for optimizer in OPTIMIZERS]
        self._row = configuration.precision * len(OPTIMIZERS) + configuration.optimizer
        wide = np.array([4.0 if precision in _WIDE else 2.0 for precision in PRECISIONS])
        self.compute = floats(wide[configuration.precision])
        self.light = configuration.optimizer != OPTIMIZERS.index("adamw")

    def per_row(self, name: Literal["weights", "master", "gradients", "moments", "step_copy", "cache"]) -> Floats:
        """Bytes per parameter of one kind."""
        return floats(np.array([getattr(entry, name) for entry in self._entries])[self._row])


def _division(hardware: HardwareColumns, configuration: ConfigurationColumns) -> _Division:
    """Which states each strategy divides, and by how many ranks."""
    sharding = configuration.sharding
    degree = sharding_degree(hardware, configuration).astype(np.float64)
    everything = (sharding == SHARDINGS.index("zero3")) | (sharding == SHARDINGS.index("hybrid"))
    gradients = everything | (sharding == SHARDINGS.index("zero2"))
    none = sharding == SHARDINGS.index("none")
    return _Division(
        weights=np.where(everything, degree, 1.0),
        gradients=np.where(gradients, degree, 1.0),
        optimizer=np.where(none, 1.0, degree),
        fully_sharded=everything & (degree > 1.0),
        gradients_only=gradients & ~everything & (degree > 1.0),
        replicated=none & (data_parallel_ranks(hardware.total_gpus, configuration.split) > 1),
    )


def _trained_parts(job: TrainingJob, configuration: ConfigurationColumns, division: _Division, table: _Table) -> _Parts:
    """Every parameter is trained. Without sharding, all-reduce buckets are a second copy of the gradients.

    Autocast recipes keep a 16-bit copy in forward and backward; under SHARD_GRAD_OP that copy is whole and the fp32 weights are divided.
    """
    shape = job.model
    stage = on_stage(shape, trained_parameters(job), configuration.pipeline_parallel) / configuration.tensor_parallel
    copied = table.per_row("cache") > 0.0
    whole = stage * table.per_row("weights")
    gradients = stage * table.per_row("gradients") / division.gradients
    head = (0.0 if shape is None else shape.head_parameters or shape.embedding_parameters) / configuration.tensor_parallel
    return _Parts(
        weights=whole / np.where(division.gradients_only & copied, division.gradients, division.weights),
        gradients=np.where(division.replicated, 2.0 * gradients, gradients),
        head_gradients=head * table.per_row("gradients") / division.gradients,
        optimizer=stage * (table.per_row("master") + table.per_row("moments")) / division.optimizer,
        step_copy=stage * table.per_row("step_copy") / division.optimizer,
        cache=np.where(division.weights > 1.0, 0.0, stage * table.per_row("cache")),
        whole=whole,
    )


def _adapter_parts(
    job: TrainingJob, configuration: ConfigurationColumns, recipe: MemoryRecipe, division: _Division, table: _Table
) -> _Parts:
    """The base is frozen; adapters have weights, gradients and moments of their own."""
    tensor = configuration.tensor_parallel.astype(np.float64)
    pipeline = configuration.pipeline_parallel
    adapters = on_stage(job.model, trained_parameters(job), pipeline, spread=True) / tensor
    base, whole = _frozen_base(job, pipeline, tensor, recipe, table.compute)
    base_divided = base / division.weights if job.method == "lora" or recipe.quantised_weights_shard else base
    moments = np.where(table.light, table.per_row("moments"), 2.0 * recipe.adapter_weight_bytes)
    nothing = np.zeros_like(base)
    return _Parts(
        weights=base_divided + adapters * recipe.adapter_weight_bytes / division.weights,
        gradients=adapters * recipe.adapter_weight_bytes / division.gradients,
        head_gradients=nothing,
        optimizer=adapters * moments / division.optimizer,
        step_copy=nothing,
        cache=nothing,
        whole=whole,
    )


def on_stage(shape: ModelShape | None, parameters: float, pipeline: Ints, *, spread: bool = False) -> Floats:
    """Parameters of the fullest pipeline stage, out of ``parameters``. ``spread``: in equal parts over the layers (adapters)."""
    if shape is None:
        return parameters / pipeline.astype(np.float64)
    share = np.ceil(shape.layers / pipeline) / shape.layers
    if spread:
        return parameters * share
    ends = shape.embedding_parameters + shape.head_parameters
    one_end = max(shape.embedding_parameters, shape.head_parameters)
    return np.where(pipeline > 1, (parameters - ends) * share + one_end, parameters)


def _frozen_base(job: TrainingJob, pipeline: Ints, tensor: Floats, recipe: MemoryRecipe, compute_bytes: Floats) -> tuple[Floats, Floats]:
    """Bytes of the frozen weights on one stage, and of the same model as it is first loaded (16 bits, or quantised)."""
    shape = job.model
    if shape is None:
        nothing = np.zeros_like(tensor)
        return nothing, nothing
    all_of_it = on_stage(shape, shape.parameters, pipeline) / tensor
    if job.method == "lora":
        base = all_of_it * np.maximum(recipe.frozen_weight_bytes, compute_bytes)
        return base, all_of_it * compute_bytes
    ends = shape.embedding_parameters + shape.head_parameters
    quantised = on_stage(shape, shape.parameters - ends, pipeline, spread=True) / tensor
    base = quantised * recipe.quantised_weight_bytes + (all_of_it - quantised) * recipe.unquantised_weight_bytes
    return base, base


def _gathered_unit(job: TrainingJob, tensor: Floats, recipe: MemoryRecipe, table: _Table) -> Floats:
    """One layer and the root unit (both vocabulary matrices) made whole; in full fine-tuning the layer's gradient too."""
    shape, compute_bytes = job.model, table.compute
    if shape is None:
        return trained_parameters(job) * compute_bytes / 10.0 / tensor  # a tenth of the network is one unit: an assumption
    ends = shape.embedding_parameters + shape.head_parameters
    layer = (shape.parameters - ends) / shape.layers
    if job.method == "qlora":
        return (layer * recipe.quantised_weight_bytes + ends * compute_bytes) / tensor
    if job.method == "lora":
        return (layer + ends) * compute_bytes / tensor
    return (layer * (compute_bytes + table.per_row("gradients")) + ends * compute_bytes) / tensor
