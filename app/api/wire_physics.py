"""What the estimator says of a workload on machines, as JSON: shared by recommendations and estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from app.api.wire import Figure, Out
from app.domain.configuration import AttentionKernel, LossKernel, Offload, Recompute, Sharding
from app.domain.gpus import Precision
from app.domain.physics import Verdict
from app.domain.workload import Optimizer


class WorkloadOut(Out):
    """The workload as understood."""

    name: str
    """The caller's name for it."""
    model: str | None
    """The model's name; null when only a measurement is known."""
    method: str
    """How it is trained."""
    parameters_b: Figure | None
    """Parameters in billions."""
    active_parameters_b: Figure | None
    """Parameters that touch one token, in billions."""
    trainable_parameters_b: Figure | None
    """Parameters that the optimizer updates, in billions."""
    tokens_b: Figure | None
    """Tokens to train on, in billions; null for networks that do not count tokens."""
    steps: Figure
    """Optimizer steps."""
    model_flops: Figure | None
    """FLOPs that the model needs in all; recomputation is not counted."""
    sequence_length: int
    """Tokens a sequence."""
    global_batch_sequences: int
    """Sequences of one optimizer step."""
    assumptions: list[str]
    """Everything that was inferred."""
    warnings: list[str]
    """What the caller should know about the target."""


class ConfigurationOut(Out):
    """How the job is laid out on the GPUs."""

    precision: Precision
    """Arithmetic of the matrix products."""
    micro_batch: int
    """Sequences a GPU works on at once."""
    gradient_accumulation: int
    """Micro-steps of one optimizer step."""
    activation_checkpointing: Recompute
    """What is recomputed in the backward pass."""
    sharding: Sharding
    """What is spread over data-parallel ranks."""
    tensor_parallel: int
    """GPUs that share each layer."""
    pipeline_parallel: int
    """Stages that the layers are split into."""
    offload: Offload
    """What is kept in host memory."""
    optimizer: Optimizer
    """The optimizer."""
    attention: AttentionKernel
    """Attention kernel."""
    loss: LossKernel
    """Loss kernel."""


class MemoryOut(Out):
    """Memory of one GPU at the peak, GB = 10^9 bytes."""

    verdict: Verdict
    """``tight`` means: likely to fit, not sure to."""
    needed_gb_per_gpu: Figure
    """The likely need."""
    available_gb_per_gpu: Figure
    """What a process can allocate."""
    peak_phase: str
    """When the peak comes."""
    breakdown_gb: Mapping[str, Figure]
    """weights, gradients, optimizer, activations, logits, overhead; they sum to the need."""
    host_ram_gb_per_node: Figure
    """Host memory of one machine, GB."""
    notes: list[str]
    """What decided the verdict."""


class SpeedOut(Out):
    """Speed over all GPUs of the plan."""

    units_per_second: Figure
    """Units of work a second."""
    unit: str
    """token, sample or step."""
    tokens_per_second: Figure | None
    """Tokens a second; null for networks that do not count tokens."""
    tokens_per_second_p10: Figure | None
    """Nine of ten real runs are faster than this."""
    tokens_per_second_p90: Figure | None
    """One of ten real runs is faster than this."""
    seconds_per_step: Figure
    """Seconds of one optimizer step."""
    mfu: Figure | None
    """FLOPs that the model needs ÷ dense peak."""
    hfu: Figure | None
    """The same with recomputation counted."""
    efficiency: Figure | None
    """Share of the dense peak that is put to use."""
    scaling_efficiency: Figure
    """Speed ÷ (number of GPUs × speed of one)."""
    bottleneck: str
    """What limits the speed."""
    factors: Mapping[str, Figure]
    """Named factors, each at most 1."""
    basis: Literal["model", "measured", "stated"]
    """``measured``: the caller's own measurement calibrates it; ``stated``: the caller's ``assumed_mfu``."""
    sigma: Figure
    """Standard deviation of the logarithm of real speed ÷ this estimate."""
