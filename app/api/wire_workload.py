"""The workload of a request, as JSON (design: what is trained, to which target, with which data)."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from app.api.wire import In, checked_json
from app.domain.gpus import Precision
from app.domain.workload import (
    Architecture,
    Checkpointing,
    CustomNetwork,
    DataSpec,
    Measurement,
    Method,
    ModelSpec,
    Optimizer,
    Stack,
    TargetSpec,
    WorkloadSpec,
)

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
_ARCHITECTURE = (
    "parameters_b",
    "layers",
    "hidden_size",
    "attention_heads",
    "kv_heads",
    "vocabulary_size",
    "ffn_size",
    "active_parameters_b",
    "experts",
)


def _config(value: dict[str, Any]) -> dict[str, Any]:
    return checked_json(value, depth=10, nodes=20_000)


class CustomNetworkIn(In):
    """A network that is no transformer: its work by FLOPs a sample, its memory by parameters."""

    flops_per_sample: float | None = Field(default=None, gt=0, le=1e24)
    """Floating-point operations of the forward and backward pass of one sample."""
    parameters_b: float | None = Field(default=None, gt=0, le=100_000)
    """Parameters, in billions."""


class ModelIn(In):
    """The model: exactly one of a preset's name, an architecture (``parameters_b`` and what else is known), ``hf_config`` or ``custom``."""

    preset: Name | None = Field(default=None, examples=["llama-2-7b"])
    """Name of a well-known model; ``GET /models`` lists them."""
    hf_config: Annotated[dict[str, Any], AfterValidator(_config)] | None = None
    """The content of a Hugging Face ``config.json``."""
    custom: CustomNetworkIn | None = None
    """Any other network."""
    parameters_b: float | None = Field(default=None, gt=0, le=100_000)
    """Parameters, in billions, all experts together."""
    layers: int | None = Field(default=None, ge=1, le=10_000)
    """Transformer layers."""
    hidden_size: int | None = Field(default=None, ge=1, le=1_000_000)
    """Width of the residual stream."""
    attention_heads: int | None = Field(default=None, ge=1, le=10_000)
    """Query heads."""
    kv_heads: int | None = Field(default=None, ge=1, le=10_000)
    """Key and value heads (grouped-query attention)."""
    vocabulary_size: int | None = Field(default=None, ge=1, le=100_000_000)
    """Tokens in the vocabulary."""
    ffn_size: int | None = Field(default=None, ge=1, le=10_000_000)
    """Inner width of the feed-forward block."""
    active_parameters_b: float | None = Field(default=None, ge=1e-6, le=100_000)
    """Parameters that touch one token (mixture of experts), in billions."""
    experts: int | None = Field(default=None, ge=1, le=100_000)
    """Routed experts a layer."""

    @model_validator(mode="after")
    def _architecture_is_counted(self) -> Self:
        architecture = [name for name in _ARCHITECTURE if getattr(self, name) is not None]
        if architecture and self.parameters_b is None:
            msg = f"{architecture[0]} needs parameters_b beside it"
            raise ValueError(msg)
        return self

    def spec(self) -> ModelSpec:
        """The same in the domain's words."""
        architecture = None
        if self.parameters_b is not None:
            architecture = Architecture(**{name: getattr(self, name) for name in _ARCHITECTURE})
        custom = (
            CustomNetwork(flops_per_sample=self.custom.flops_per_sample, parameters_b=self.custom.parameters_b) if self.custom else None
        )
        return ModelSpec(preset=self.preset, architecture=architecture, hf_config=self.hf_config, custom=custom)


class TargetIn(In):
    """Where training ends: by tokens, by samples × length × epochs, by steps × batch, by a loss, or by a published benchmark."""

    tokens_b: float | None = Field(default=None, gt=0, le=1e7)
    """Tokens to train on, in billions."""
    samples: float | None = Field(default=None, gt=0, le=1e15)
    """Samples in the data set."""
    tokens_per_sample: float | None = Field(default=None, gt=0, le=1e9)
    """Mean length of a sample, in tokens."""
    epochs: float | None = Field(default=None, gt=0, le=1e6)
    """Passes over the samples (1 when not given)."""
    steps: float | None = Field(default=None, gt=0, le=1e12)
    """Optimizer steps."""
    global_batch_sequences: int | None = Field(default=None, ge=1, le=100_000_000)
    """Sequences in one optimizer step, over all GPUs."""
    loss: float | None = Field(default=None, gt=0, le=100)
    """Cross-entropy to reach, in nats a token."""
    benchmark: Name | None = Field(default=None, examples=["mlperf/llama2_70b_lora"])
    """A published benchmark target."""

    def spec(self) -> TargetSpec:
        """The same in the domain's words."""
        return TargetSpec(**self.model_dump())


class MeasurementIn(In):
    """The caller's own measured speed; it calibrates every other platform."""

    gpu: Name = Field(examples=["A100-SXM4-80GB"])
    """The card that was measured."""
    gpus: int = Field(default=1, ge=1, le=1_000_000)
    """How many of them worked together."""
    tokens_per_second: float | None = Field(default=None, gt=0, le=1e15)
    """Tokens a second over all of them."""
    seconds_per_step: float | None = Field(default=None, gt=0, le=1e9)
    """Seconds of one optimizer step."""
    global_batch_sequences: int | None = Field(default=None, ge=1, le=100_000_000)
    """Sequences of one step in that measurement."""


class PlaceIn(In):
    """Where the data lives now."""

    provider: Name = Field(examples=["aws"])
    """A provider's id; ``GET /providers`` lists them."""
    region: Name | None = Field(default=None, examples=["us-east-1"])
    """One of its regions."""


class DataIn(In):
    """Data in, checkpoints kept, results out."""

    dataset_gb: float | None = Field(default=None, ge=0, le=1e9)
    """Size of the data set, GB."""
    files: int | None = Field(default=None, ge=0, le=10**12)
    """Files in it."""
    located_at: PlaceIn | None = None
    """Where it lives now; null: outside every provider, on the internet."""
    checkpoint_gb: float | None = Field(default=None, gt=0, le=1e7)
    """Size of one checkpoint, GB; null: worked out from the model."""
    checkpoint_interval_minutes: float | None = Field(default=None, ge=0.01, le=1e6)
    """Minutes between checkpoints; null: the interval that loses least."""
    checkpoints_kept: int = Field(default=3, ge=0, le=100_000)
    """Checkpoints kept at a time."""
    download_gb: float | None = Field(default=None, ge=0, le=1e9)
    """Results to download at the end, GB; null: the result (all weights in 16 bits, or the adapter; in 32 bits for a custom network)."""
    keep_storage_days: float = Field(default=7.0, ge=0, le=3650)
    """Days that storage stays after the run."""
    upload_mbit_s: float = Field(default=1000.0, ge=0.001, le=1e7)
    """The caller's own uplink, Mbit/s."""

    def spec(self, located: tuple[str | None, str | None]) -> DataSpec:
        """The same in the domain's words; ``located`` is the provider and region under their canonical names."""
        provider, region = located
        return DataSpec(located_provider=provider, located_region=region, **self.model_dump(exclude={"located_at"}))


class WorkloadIn(In):
    """What is to be trained."""

    name: str = Field(default="", max_length=200, examples=["legal-20b-lora"])
    """The caller's own name for it."""
    model: ModelIn = ModelIn()
    """The model. May be left out only when ``measured`` and ``target.steps`` are given."""
    method: Method
    """How it is trained."""
    target: TargetIn
    """Where training ends."""
    lora_rank: int = Field(default=16, ge=1, le=8192)
    """Rank of the adapters (``lora`` and ``qlora`` only)."""
    sequence_length: int | None = Field(default=None, ge=1, le=16_777_216)
    """Tokens a sequence; null: worked out and said."""
    global_batch_sequences: int | None = Field(default=None, ge=1, le=100_000_000)
    """Sequences in one optimizer step, over all GPUs; null: worked out and said."""
    precision: Precision = "bf16"
    """Arithmetic of the matrix products."""
    optimizer: Optimizer = "adamw"
    """The optimizer."""
    allow_8bit_optimizer: bool = False
    """May the search fall back to 8-bit optimizer states to make a plan fit?"""
    allow_offload: bool = True
    """May the search fall back to host memory to make a plan fit?"""
    activation_checkpointing: Checkpointing = "auto"
    """Recomputation of activations; ``auto`` searches."""
    stack: Stack = "unknown"
    """The software; it decides how well tuned the kernels are."""
    measured: list[MeasurementIn] = Field(default=[], max_length=100)
    """The caller's own measurements."""
    assumed_mfu: float | None = Field(default=None, ge=1e-4, le=1)
    """Take this MFU instead of the speed model's; null: the model, or the measurements, decide."""
    data: DataIn = DataIn()
    """Data, checkpoints, results."""
    attempts: float = Field(default=1.0, ge=1, le=100)
    """Whole runs to pay for: 1.3 counts three failed runs in ten."""
    setup_hours: float | None = Field(default=None, ge=0, le=10_000)
    """Hours of setting up on the rented machine; null: the stated assumption, longer for several machines."""

    def spec(self, *, measured: tuple[Measurement, ...], located: tuple[str | None, str | None]) -> WorkloadSpec:
        """The same in the domain's words; measured cards and the place of the data come under their canonical names."""
        return WorkloadSpec(
            model=self.model.spec(),
            target=self.target.spec(),
            data=self.data.spec(located),
            measured=measured,
            **self.model_dump(exclude={"model", "target", "data", "measured"}),
        )
