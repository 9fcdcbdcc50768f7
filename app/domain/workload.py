"""What is to be trained: the caller's words (``WorkloadSpec``) and what they mean in numbers (``TrainingJob``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.domain.gpus import Precision
from app.domain.llm import ModelShape

Method = Literal["pretrain", "full", "lora", "qlora"]
Stack = Literal["megatron", "fsdp", "deepspeed", "hf_trainer", "unsloth", "torchtitan", "unknown"]
Optimizer = Literal["adamw", "adamw_8bit", "paged_adamw_8bit", "adafactor", "sgd"]
Checkpointing = Literal["auto", "none", "selective", "full"]
Attention = Literal["flash", "eager"]
Loss = Literal["stock", "fused"]

METHODS: tuple[Method, ...] = ("pretrain", "full", "lora", "qlora")
STACKS: tuple[Stack, ...] = ("megatron", "fsdp", "deepspeed", "hf_trainer", "unsloth", "torchtitan", "unknown")
OPTIMIZERS: tuple[Optimizer, ...] = ("adamw", "adamw_8bit", "paged_adamw_8bit", "adafactor", "sgd")


class WorkloadError(ValueError):
    """A workload that cannot be understood. ``pointer`` is the JSON pointer inside the workload, ``hint`` says what to change."""

    def __init__(self, pointer: str, code: str, detail: str) -> None:
        super().__init__(detail)
        self.pointer = pointer
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A model by its dimensions. Only ``parameters_b`` is required; the rest is inferred, and each inference is said."""

    parameters_b: float
    layers: int | None = None
    hidden_size: int | None = None
    attention_heads: int | None = None
    kv_heads: int | None = None
    vocabulary_size: int | None = None
    ffn_size: int | None = None
    active_parameters_b: float | None = None
    experts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomNetwork:
    """Any other network. ``flops_per_sample`` counts forward and backward of one sample."""

    flops_per_sample: float | None = None
    parameters_b: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """Exactly one of the four is set; none at all only when a measurement and ``target.steps`` are given."""

    preset: str | None = None
    architecture: Architecture | None = None
    hf_config: Mapping[str, object] | None = None
    custom: CustomNetwork | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """Where training ends: by tokens, samples, steps, loss or a published benchmark."""

    tokens_b: float | None = None
    samples: float | None = None
    tokens_per_sample: float | None = None
    epochs: float | None = None
    steps: float | None = None
    global_batch_sequences: int | None = None
    loss: float | None = None
    benchmark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The caller's own measured speed on some GPUs: one of the two rates is set. ``gpu`` is a canonical name."""

    gpu: str
    gpus: int = 1
    tokens_per_second: float | None = None
    seconds_per_step: float | None = None
    global_batch_sequences: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSpec:
    """Data, checkpoints and results. ``None`` means not given: a stated default is used (R13)."""

    dataset_gb: float | None = None
    files: int | None = None
    located_provider: str | None = None
    located_region: str | None = None
    checkpoint_gb: float | None = None
    checkpoint_interval_minutes: float | None = None
    checkpoints_kept: int = 3
    download_gb: float | None = None
    keep_storage_days: float = 7.0
    upload_mbit_s: float = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSpec:
    """The caller's workload, checked for shape and limits but not yet resolved.

    ``assumed_mfu`` (0–1) takes the place of the speed model: every plan then runs at this MFU, whatever its size.
    """

    name: str = ""
    model: ModelSpec
    method: Method
    target: TargetSpec
    lora_rank: int = 16
    sequence_length: int | None = None
    global_batch_sequences: int | None = None
    precision: Precision = "bf16"
    optimizer: Optimizer = "adamw"
    allow_8bit_optimizer: bool = False
    allow_offload: bool = True
    activation_checkpointing: Checkpointing = "auto"
    stack: Stack = "unknown"
    measured: tuple[Measurement, ...] = ()
    assumed_mfu: float | None = None
    data: DataSpec = field(default_factory=DataSpec)
    attempts: float = 1.0
    setup_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A resolved workload: every number that physics needs.

    Work is counted in *units*: tokens for language models, samples for custom networks, steps when only a measurement is given.
    ``units_total`` of them are to be done; one optimizer step does ``units_per_step``. ``model`` is None for custom networks, whose
    ``flops_per_unit`` is then given (None when only a measurement is known). ``checkpoint_gb`` is the size of one saved checkpoint,
    ``trainable_parameters`` what the optimizer updates (0 when unknown: see ``spec.model.custom``). ``warnings`` are facts about the target
    that the user should know, such as a loss outside the law's range. ``precision`` is as asked; a card without it is a rejection, except
    that bf16 becomes fp16 on cards that know only that.
    """

    spec: WorkloadSpec
    model: ModelShape | None
    method: Method
    unit: Literal["token", "sample", "step"]
    units_total: float
    units_per_step: float
    flops_per_unit: float | None
    model_flops: float | None
    sequence_length: int
    global_batch_sequences: int
    lora_rank: int
    trainable_parameters: float
    precision: Precision
    optimizer: Optimizer
    stack: Stack
    checkpoint_gb: float
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def steps_total(self) -> float:
        """Optimizer steps to the target."""
        return self.units_total / self.units_per_step
