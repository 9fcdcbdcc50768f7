"""Reads a row of measured memory as a job on hardware in a pinned layout. Only what a user could know before the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from app.domain.architecture import infer_shape
from app.domain.configuration import AttentionKernel, Configuration, LossKernel, Offload, Recompute, Sharding
from app.domain.gpus import Gpu, Precision
from app.domain.hardware import Hardware
from app.domain.llm import ModelShape, trainable_parameters
from app.domain.memory_constants import CONSTANTS
from app.domain.memory_states import MemoryRecipe
from app.domain.workload import Architecture, Method, ModelSpec, Optimizer, Stack, TargetSpec, TrainingJob, WorkloadError, WorkloadSpec
from app.evaluate.row_text import normal, read_gpu
from app.evaluate.score import Row, number

Meter = Literal["allocated", "reserved", "device"]

_METHODS: Mapping[str, Method] = {"pretrain": "pretrain", "full": "full", "lora": "lora", "qlora": "qlora", "adapter": "lora"}
_RECOMPUTE: Mapping[str, Recompute] = {"yes": "full", "no": "none", "selective": "selective", "": "none"}
_SHARDING: Mapping[str, Sharding] = {
    "none": "none", "ddp": "none", "fsdp": "zero3", "zero1": "zero1", "zero2": "zero2", "zero3": "zero3", "hsdp": "hybrid", "": "none",
}  # fmt: skip
_OFFLOAD: Mapping[str, Offload] = {"none": "none", "": "none", "cpu": "parameters", "cpu-optimizer": "optimizer"}
_ALIASES: Mapping[str, str] = {"bloomz-7b1": "bloom-7b1", "open-llama-7b": "llama-7b"}
_GELU_FAMILIES = ("mpt", "gpt2", "bloom", "santacoder", "opt", "pythia")
_UPCASTING_FAMILIES = ("qwen-", "baichuan", "chatglm")
"""Model code of 2023 that copies its logits to fp32 several times: bytes per logit below."""
_UPCASTING_LOSS_BYTES = 32.0
_COUNT_TOLERANCE = 0.05
_GPUS_PER_NODE = 8


class InexpressibleRowError(Exception):
    """A row that cannot be expressed as a job in a layout; ``reason`` is a short name with underscores."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One row. ``gpu_known`` is False where the row names no card: then there is a need, but no verdict."""

    job: TrainingJob
    hardware: Hardware
    configuration: Configuration
    recipe: MemoryRecipe
    meter: Meter
    gpu_known: bool


def read_memory_row(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> MemoryRow:
    """The row as the estimator sees it.

    Raises:
        InexpressibleRowError: something that the estimate needs is not stated, or cannot be expressed.
    """
    note = row["note"].lower()
    method = _method(row)
    _refuse_what_cannot_be_expressed(row, note)
    micro, length = number(row, "micro_batch"), number(row, "seq_len")
    if micro is None or length is None:
        raise InexpressibleRowError(reason="batch_or_length_not_stated")
    count = int(number(row, "n_gpus") or 0)
    if count == 0:
        raise InexpressibleRowError(reason="gpu_count_not_stated")
    window = re.search(r"(\d+)-token context", note)
    if window:
        length = min(length, float(window.group(1)))
    model = _model(row, presets)
    tensor, pipeline, context = (
        _count(note, word) for word in (r"\btp ?=?(\d+)", r"\bpp ?=?(\d+)", r"(?:\bcp|sequence_parallel_size) ?=?(\d+)")
    )
    if count % (tensor * pipeline):
        raise InexpressibleRowError(reason="parallel_groups_do_not_divide_the_gpus")
    precision, stack = _precision(row), _stack(row, note)
    optimizer: Optimizer = "paged_adamw_8bit" if "paged" in row["optimizer"] else "adamw_8bit" if row["optimizer_bits"] == "8" else "adamw"
    trainable = _trainable(row, note, model, method)
    accumulation = int(number(row, "grad_accum") or 1)
    gpu = read_memory_gpu(row["gpu_model"], gpus)
    hardware = _hardware(gpu or next(iter(gpus.values())), count)
    return MemoryRow(
        job=_job(model, method, precision, optimizer, stack, int(length) // context, int(micro), trainable),
        hardware=hardware,
        configuration=Configuration(
            precision=precision,
            micro_batch=int(micro),
            gradient_accumulation=accumulation,
            activation_checkpointing=_RECOMPUTE.get(row["activation_checkpointing"], "none"),
            sharding=_SHARDING[row["sharding"]],
            tensor_parallel=tensor,
            pipeline_parallel=pipeline,
            offload=_OFFLOAD[row["offload"]],
            optimizer=optimizer,
            attention=_attention(row, note),
            loss=_loss(row, note),
        ),
        recipe=_recipe(row, note, method, stack, trainable=trainable, model=model),
        meter=_meter(note),
        gpu_known=gpu is not None,
    )


def _method(row: Row) -> Method:
    method = _METHODS.get(row["method"])
    if method is None:
        raise InexpressibleRowError(reason="method_not_supported")
    return "qlora" if method == "lora" and row["quant_bits"] in {"4", "8"} else method


def _refuse_what_cannot_be_expressed(row: Row, note: str) -> None:
    if row["sharding"] not in _SHARDING:
        raise InexpressibleRowError(reason="sharding_not_stated")
    if row["offload"] not in _OFFLOAD:
        raise InexpressibleRowError(reason="offload_to_disk")
    if row["quant_bits"] == "2":
        raise InexpressibleRowError(reason="quantisation_not_supported")
    if "padding-free" in note:
        raise InexpressibleRowError(reason="tokens_per_step_not_stated")
    if "device map" in note:
        raise InexpressibleRowError(reason="layers_split_by_device_map")
    if re.search(r"galore|lisa|anyprecision", row["optimizer"]):
        raise InexpressibleRowError(reason="optimizer_not_supported")


def _count(note: str, pattern: str) -> int:
    found = re.search(pattern, note)
    return int(found.group(1)) if found else 1


def _model(row: Row, presets: Mapping[str, ModelShape]) -> ModelShape:
    """The preset of that name whose count agrees, else a shape from the row's dimensions."""
    stated = number(row, "params_billion")
    name = _ALIASES.get(row["model"], row["model"])
    preset = presets.get(name)
    if preset is not None and (stated is None or abs(preset.parameters / (stated * 1e9) - 1.0) <= _COUNT_TOLERANCE):
        return preset
    if stated is None:
        raise InexpressibleRowError(reason="model_size_not_known")
    if number(row, "layers") is None:
        raise InexpressibleRowError(reason="dimensions_not_stated")
    try:
        shape = infer_shape(
            Architecture(
                parameters_b=stated,
                layers=_whole(row, "layers"),
                hidden_size=_whole(row, "hidden"),
                attention_heads=_whole(row, "heads"),
                kv_heads=_whole(row, "kv_heads"),
                vocabulary_size=_whole(row, "vocab"),
            )
        )
    except WorkloadError as error:
        raise InexpressibleRowError(reason="dimensions_contradict_each_other") from error
    return replace(shape, gated_mlp=False, ffn_size=4 * shape.hidden_size) if name.startswith(_GELU_FAMILIES) else shape


def _whole(row: Row, column: str) -> int | None:
    """The cell as a whole number, None when empty."""
    value = number(row, column)
    return None if value is None else int(value)


def _precision(row: Row) -> Precision:
    words = row["precision"]
    return "fp32" if words == "fp32" else "fp16" if words.startswith("fp16") else "fp8" if "fp8" in words else "bf16"


def _stack(row: Row, note: str) -> Stack:
    if "megatron" in note:
        return "megatron"
    if "torchtitan" in row["source"].lower():
        return "torchtitan"
    if row["sharding"].startswith("zero"):
        return "deepspeed"
    return "fsdp" if row["sharding"] == "fsdp" or "litgpt" in row["source"].lower() else "hf_trainer"


def _trainable(row: Row, note: str, model: ModelShape, method: Method) -> float:
    """Trained parameters: as stated, by the stated targets, or adapters on all linears."""
    if method in {"full", "pretrain"}:
        return model.parameters
    stated = re.search(r"trainable[ =]([\d,]{5,})", note)
    if stated:
        return float(stated.group(1).replace(",", "").strip() or 0)
    rank = int(number(row, "lora_rank") or 8)
    if _on_query_and_value(note):
        key = model.kv_heads * model.head_dim
        return float(rank * model.layers * (model.hidden_size + model.attention_heads * model.head_dim + model.hidden_size + key))
    return trainable_parameters(model, method, rank)


def _on_query_and_value(note: str) -> bool:
    return bool(re.search(r"lora on: lora_query,lora_value;|targets default|q/k/v", note))


def read_memory_gpu(text: str, gpus: Mapping[str, Gpu]) -> Gpu | None:
    """The card; for ``24GB-class`` the one of that size with the least usable memory. None when the text names none."""
    if not text:
        return None
    wanted = normal(text)
    exact = next((gpu for name, gpu in gpus.items() if normal(name) == wanted), None)
    if exact is not None:
        return exact
    size = re.fullmatch(r"(\d+)GB-class", text)
    if size:
        alike = [gpu for gpu in gpus.values() if gpu.memory_gb == float(size.group(1)) and gpu.vendor == "NVIDIA"]
        return min(alike, key=lambda gpu: gpu.usable_memory_gb, default=None)
    return read_gpu(text, "", gpus)


def _hardware(gpu: Gpu, count: int) -> Hardware:
    per_node = _GPUS_PER_NODE if count % _GPUS_PER_NODE == 0 else count
    return Hardware(gpu=gpu, gpus_per_node=per_node, nodes=count // per_node)


def _attention(row: Row, note: str) -> AttentionKernel:
    return "eager" if row["attention"] == "eager" or "not memory-efficient attention" in note else "flash"


def _loss(row: Row, note: str) -> LossKernel:
    """Fused where the row says so; llm-foundry's own default is a fused cross-entropy kernel."""
    return "fused" if re.search(r"fused|foak|liger", note) or "llm-foundry" in row["source"].lower() else "stock"


def _recipe(row: Row, note: str, method: Method, stack: Stack, *, trainable: float, model: ModelShape) -> MemoryRecipe:
    """How this row's software keeps weights, gradients and logits, from its stated precision, optimizer and kernels."""
    source = row["source"].lower()
    litgpt = "litgpt" in source
    pure = row["precision"] in {"bf16-true", "fp16"}
    chunked = "liger" in note
    upcasts = row["model"].startswith(_UPCASTING_FAMILIES)
    stock = _UPCASTING_LOSS_BYTES if upcasts else CONSTANTS.loss_stock_bytes
    quantised = CONSTANTS.nf4_bytes
    if row["quant_bits"] == "8":
        quantised = 1.03
    elif re.search(r"gptq|awq", note):
        quantised = 0.52
    elif re.search(r"nf4-dq|double quant|nested quant", note):
        quantised = CONSTANTS.nf4_double_bytes
    per_adapter = 2.0 if row["optimizer_bits"] == "16" else 4.0
    return MemoryRecipe(
        trained_weights="pure" if pure else "mixed" if stack in {"deepspeed", "megatron"} else "autocast",
        mixed_gradient_bytes=4.0 if stack == "megatron" else 2.0,
        step_copy=stack not in {"deepspeed", "megatron", "torchtitan"},
        frozen_weight_bytes=6.0 if litgpt and row["precision"] == "bf16-mixed" else 2.0,
        quantised_weight_bytes=quantised,
        unquantised_weight_bytes=2.0 if litgpt or "fms-acceleration" in source or row["sharding"] == "fsdp" else 4.0,
        adapter_weight_bytes=per_adapter,
        lora_on_all_linears=method not in {"lora", "qlora"} or not _few_targets(row, note, model, trainable),
        fused_kernels=bool(re.search(r"thunder|compile|foak", note)) or stack == "megatron",
        loss_bytes_per_logit=(stock, 0.0 if chunked else CONSTANTS.loss_fused_bytes),
        loss_hidden=0.0 if chunked else CONSTANTS.loss_hidden,
        every_rank_loads_whole="litgpt resource" in source and row["sharding"] == "fsdp",
    )


def _few_targets(row: Row, note: str, model: ModelShape, trainable: float) -> bool:
    """Whether adapters sit on few of the linears: so stated, or too few trained parameters for all."""
    if _on_query_and_value(note):
        return True
    everywhere = trainable_parameters(model, "lora", int(number(row, "lora_rank") or 8))
    return trainable < 0.5 * everywhere


def _meter(note: str) -> Meter:
    if re.search(r"max memory|peak allocated|max allocated", note):
        return "allocated"
    return "reserved" if re.search(r"reserved|cached", note) else "device"


def _job(
    model: ModelShape,
    method: Method,
    precision: Precision,
    optimizer: Optimizer,
    stack: Stack,
    length: int,
    micro: int,
    trainable: float,
) -> TrainingJob:
    spec = WorkloadSpec(
        model=ModelSpec(), method=method, target=TargetSpec(steps=1.0), precision=precision, optimizer=optimizer, stack=stack
    )
    return TrainingJob(
        spec=spec,
        model=model,
        method=method,
        unit="token",
        units_total=float(micro * length),
        units_per_step=float(micro * length),
        flops_per_unit=None,
        model_flops=None,
        sequence_length=length,
        global_batch_sequences=micro,
        lora_rank=16,
        trainable_parameters=trainable,
        precision=precision,
        optimizer=optimizer,
        stack=stack,
        checkpoint_gb=0.0,
    )
