"""How a job is laid out on GPUs: one ``Configuration`` for words, ``ConfigurationColumns`` for arithmetic over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.gpus import PRECISIONS, Precision
from app.domain.hardware import Ints
from app.domain.workload import OPTIMIZERS, Optimizer

Sharding = Literal["none", "zero1", "zero2", "zero3", "hybrid"]
"""``none`` is DDP. ``hybrid`` shards fully inside the node and replicates across nodes (HSDP)."""
Offload = Literal["none", "optimizer", "parameters"]
"""``parameters`` offloads parameters and optimizer to host memory."""
Recompute = Literal["none", "selective", "full"]
LossKernel = Literal["stock", "fused"]
AttentionKernel = Literal["flash", "eager"]

SHARDINGS: tuple[Sharding, ...] = ("none", "zero1", "zero2", "zero3", "hybrid")
OFFLOADS: tuple[Offload, ...] = ("none", "optimizer", "parameters")
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")
LOSS_KERNELS: tuple[LossKernel, ...] = ("stock", "fused")
ATTENTION_KERNELS: tuple[AttentionKernel, ...] = ("flash", "eager")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One layout. One step runs ``gradient_accumulation`` micro-steps on each of the ``data_parallel_ranks``."""

    precision: Precision = "bf16"
    micro_batch: int = 1
    gradient_accumulation: int = 1
    activation_checkpointing: Recompute = "none"
    sharding: Sharding = "none"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    offload: Offload = "none"
    optimizer: Optimizer = "adamw"
    attention: AttentionKernel = "flash"
    loss: LossKernel = "stock"


def data_parallel_ranks(gpus: Ints, split: Ints) -> Ints:
    """Ranks that see different samples: GPUs / (tensor · pipeline), rounded down, at least 1. ``split`` is tensor · pipeline."""
    return np.asarray(np.maximum(gpus // split, 1), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationColumns:
    """Many layouts as integer columns of equal length; the enumerations hold indices into the tuples above."""

    precision: Ints
    micro_batch: Ints
    gradient_accumulation: Ints
    activation_checkpointing: Ints
    sharding: Ints
    tensor_parallel: Ints
    pipeline_parallel: Ints
    offload: Ints
    optimizer: Ints
    attention: Ints
    loss: Ints

    def __len__(self) -> int:
        return len(self.micro_batch)

    @property
    def split(self) -> Ints:
        """GPUs that hold one copy of the model between them: tensor · pipeline."""
        return self.tensor_parallel * self.pipeline_parallel

    @classmethod
    def of(cls, configurations: Sequence[Configuration]) -> ConfigurationColumns:
        """Columns from layouts, in order."""

        def column(values: list[int]) -> Ints:
            return np.array(values, dtype=np.int64)

        return cls(
            precision=column([PRECISIONS.index(c.precision) for c in configurations]),
            micro_batch=column([c.micro_batch for c in configurations]),
            gradient_accumulation=column([c.gradient_accumulation for c in configurations]),
            activation_checkpointing=column([RECOMPUTES.index(c.activation_checkpointing) for c in configurations]),
            sharding=column([SHARDINGS.index(c.sharding) for c in configurations]),
            tensor_parallel=column([c.tensor_parallel for c in configurations]),
            pipeline_parallel=column([c.pipeline_parallel for c in configurations]),
            offload=column([OFFLOADS.index(c.offload) for c in configurations]),
            optimizer=column([OPTIMIZERS.index(c.optimizer) for c in configurations]),
            attention=column([ATTENTION_KERNELS.index(c.attention) for c in configurations]),
            loss=column([LOSS_KERNELS.index(c.loss) for c in configurations]),
        )

    def take(self, index: Ints) -> ConfigurationColumns:
        """The rows at ``index``, as new columns."""
        return ConfigurationColumns(**{name: getattr(self, name)[index] for name in self.__dataclass_fields__})

    def at(self, row: int) -> Configuration:
        """One row in words."""
        return Configuration(
            precision=PRECISIONS[self.precision[row]],
            micro_batch=int(self.micro_batch[row]),
            gradient_accumulation=int(self.gradient_accumulation[row]),
            activation_checkpointing=RECOMPUTES[self.activation_checkpointing[row]],
            sharding=SHARDINGS[self.sharding[row]],
            tensor_parallel=int(self.tensor_parallel[row]),
            pipeline_parallel=int(self.pipeline_parallel[row]),
            offload=OFFLOADS[self.offload[row]],
            optimizer=OPTIMIZERS[self.optimizer[row]],
            attention=ATTENTION_KERNELS[self.attention[row]],
            loss=LOSS_KERNELS[self.loss[row]],
        )
