"""The ladder of layouts that a careful engineer climbs, by stack, with the caller's pins applied.

Order: replicas → sharding (optimizer, gradients, inside the node, everywhere) → tensor and pipeline parallel → leaner loss and optimizer →
offload. Earlier is simpler; among equals the earlier one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.configuration import AttentionKernel, LossKernel, Offload, Recompute, Sharding
from app.domain.gpus import Precision
from app.domain.llm import ModelShape
from app.domain.workload import Optimizer, Stack, TrainingJob

PLAIN, SPLIT, LEAN, OFFLOADED = range(4)
"""Steps of the ladder: data parallel and sharded; tensor and pipeline parallel; leaner loss or optimizer; offload to host memory."""

_SHARDINGS: dict[Stack, tuple[Sharding, ...]] = {
    "megatron": ("none", "zero1"),
    "fsdp": ("none", "zero2", "hybrid", "zero3"),
    "deepspeed": ("none", "zero1", "zero2", "zero3"),
    "hf_trainer": ("none", "zero2", "hybrid", "zero3"),
    "unsloth": ("none",),
    "torchtitan": ("none", "hybrid", "zero3"),
    "unknown": ("none", "zero1", "zero2", "hybrid", "zero3"),
}
_SPLIT_SHARDING: dict[Stack, Sharding] = {"megatron": "zero1", "torchtitan": "zero3", "unknown": "zero1"}
"""Stacks that split tensors and layers, and how they shard what is left."""
_OFFLOADS: dict[Stack, tuple[tuple[Sharding, Offload], ...]] = {
    "megatron": (("zero1", "optimizer"),),
    "fsdp": (("zero3", "parameters"),),
    "deepspeed": (("zero2", "optimizer"), ("zero3", "parameters")),
    "hf_trainer": (("zero2", "optimizer"), ("zero3", "parameters")),
    "unsloth": (),
    "torchtitan": (("zero3", "parameters"),),
    "unknown": (("zero2", "optimizer"), ("zero3", "parameters")),
}
_SELECTIVE_STACKS: frozenset[Stack] = frozenset({"megatron", "torchtitan", "unknown"})
_FUSED_LOSS_STACKS: frozenset[Stack] = frozenset({"megatron", "torchtitan", "unsloth"})
_TENSOR_WIDTHS = (2, 4, 8)
_PIPELINE_DEPTHS = (2, 4, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Fields of a ``Configuration`` that the caller insists on; None leaves the choice to the search."""

    precision: Precision | None = None
    micro_batch: int | None = None
    gradient_accumulation: int | None = None
    activation_checkpointing: Recompute | None = None
    sharding: Sharding | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    offload: Offload | None = None
    optimizer: Optimizer | None = None
    attention: AttentionKernel | None = None
    loss: LossKernel | None = None

    @property
    def layout(self) -> bool:
        """Whether anything of the layout itself is pinned."""
        return any(value is not None for value in (self.sharding, self.tensor_parallel, self.pipeline_parallel, self.offload))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One rung: how states are divided, and what is leaner than the caller's own choice."""

    step: int
    sharding: Sharding
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    offload: Offload = "none"
    optimizer: Optimizer
    loss: LossKernel


def ladder(job: TrainingJob, pins: Pins) -> tuple[Layout, ...]:
    """All layouts worth trying, simplest first."""
    optimizer = pins.optimizer or job.optimizer
    loss: LossKernel = pins.loss or ("fused" if job.stack in _FUSED_LOSS_STACKS else "stock")
    plain = [Layout(step=PLAIN, sharding=name, optimizer=optimizer, loss=loss) for name in _SHARDINGS[job.stack]]
    rungs = [*plain, *_split(job, optimizer, loss), *_lean(job, pins, plain)]
    if job.spec.allow_offload or pins.offload not in {None, "none"}:
        light = job.method in {"lora", "qlora"}  # adapters have next to no optimizer to offload
        rungs += [
            Layout(step=OFFLOADED, sharding=sharding, offload=offload, optimizer=optimizer, loss=loss)
            for sharding, offload in _OFFLOADS[job.stack]
            if not (light and offload == "optimizer")
        ]
    return _pinned(rungs, pins)


def recomputes(job: TrainingJob, pins: Pins) -> tuple[Recompute, ...]:
    """Kinds of activation checkpointing to try, cheapest first. A network of unknown shape has none."""
    if pins.activation_checkpointing is not None:
        return (pins.activation_checkpointing,)
    asked = job.spec.activation_checkpointing
    if asked != "auto":
        return (asked,)
    if job.model is None:
        return ("none",)
    return ("none", "selective", "full") if job.stack in _SELECTIVE_STACKS else ("none", "full")


def _split(job: TrainingJob, optimizer: Optimizer, loss: LossKernel) -> list[Layout]:
    """Tensor and pipeline parallel layouts, the least split first. 4-bit kernels are not split."""
    shape, sharding = job.model, _SPLIT_SHARDING.get(job.stack)
    if shape is None or sharding is None or job.method == "qlora":
        return []
    pairs = [
        (tensor, pipeline)
        for tensor in (1, *_TENSOR_WIDTHS)
        for pipeline in (1, *_PIPELINE_DEPTHS)
        if tensor * pipeline > 1 and _splits(shape, tensor, pipeline)
    ]
    return [
        Layout(step=SPLIT, sharding=sharding, tensor_parallel=tensor, pipeline_parallel=pipeline, optimizer=optimizer, loss=loss)
        for tensor, pipeline in sorted(pairs, key=lambda pair: (pair[0] * pair[1], pair[1]))
    ]


def _splits(shape: ModelShape, tensor: int, pipeline: int) -> bool:
    return shape.attention_heads % tensor == 0 and pipeline <= shape.layers


def _lean(job: TrainingJob, pins: Pins, plain: list[Layout]) -> list[Layout]:
    """The plain layouts with a fused loss, and with an 8-bit optimizer where the caller allows other numerics."""
    rungs: list[Layout] = []
    leanest = [replace(layout, step=LEAN, loss=pins.loss or "fused") for layout in plain]
    if job.model is not None and any(lean.loss != layout.loss for lean, layout in zip(leanest, plain, strict=True)):
        rungs += leanest
    may_change = job.spec.allow_8bit_optimizer and pins.optimizer is None
    if may_change and job.optimizer == "adamw" and job.method in {"full", "pretrain"}:
        rungs += [replace(layout, optimizer="adamw_8bit") for layout in leanest]
    return rungs


def _pinned(rungs: list[Layout], pins: Pins) -> tuple[Layout, ...]:
    """Rungs with the pinned fields put in, doubles removed, order kept. A pinned offload is no last resort but the order of the day."""
    if not pins.layout:
        return tuple(rungs)
    found: dict[tuple[object, ...], Layout] = {}
    for rung in rungs:
        layout = replace(
            rung,
            sharding=pins.sharding or rung.sharding,
            tensor_parallel=pins.tensor_parallel or rung.tensor_parallel,
            pipeline_parallel=pins.pipeline_parallel or rung.pipeline_parallel,
            offload=pins.offload or rung.offload,
        )
        step = LEAN if rung.step == LEAN else SPLIT if layout.tensor_parallel * layout.pipeline_parallel > 1 else PLAIN
        if layout.offload != "none" and pins.offload is None:
            step = OFFLOADED
        if rung.step == SPLIT and step == PLAIN:
            continue
        key = (layout.sharding, layout.tensor_parallel, layout.pipeline_parallel, layout.offload, layout.optimizer, layout.loss)
        found.setdefault(key, replace(layout, step=step))
    return tuple(found.values())
