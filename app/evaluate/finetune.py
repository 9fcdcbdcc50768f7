"""Predicts the rows of a file with the columns of finetune-speed.csv, without looking at what was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.domain.calibration import Calibration
from app.domain.configuration import AttentionKernel, Configuration, Offload, Recompute, Sharding
from app.domain.gpus import Gpu, Precision
from app.domain.hardware import Hardware
from app.domain.llm import ModelShape
from app.domain.workload import Architecture, Method, ModelSpec, Optimizer, TargetSpec, WorkloadSpec
from app.evaluate.row_text import Parallel, read_gpu, read_link, read_network_gbit_s, read_precision, read_stack
from app.evaluate.runs import constant_mfu_rate, group_of, job_of, model_of
from app.evaluate.score import Row, Score, SkippedError, number
from app.evaluate.situation import Situation, predict, with_least_recompute
from app.evaluate.usual import usual_layout, usual_sharding

MEASURED_COLUMNS = frozenset({"tokens_per_s_per_gpu", "tokens_per_s_total", "samples_per_s_total", "seconds_per_step", "total_hours"})
_METHODS: Mapping[str, Method] = {"pretrain": "pretrain", "full": "full", "lora": "lora", "qlora": "qlora", "rslora": "lora"}
_RECOMPUTE: Mapping[str, Recompute] = {"yes": "full", "no": "none", "selective": "selective"}
_SHARDING: Mapping[str, Sharding] = {"none": "none", "ddp": "none", "fsdp": "zero3", "zero3": "zero3", "zero2": "zero2", "zero1": "zero1"}
_OPTIMIZERS: Mapping[str, Optimizer] = {"": "adamw", "adamw": "adamw", "adamw_8bit": "adamw_8bit", "sgd": "sgd", "adafactor": "adafactor"}
_SHORTER = re.compile(
    r"lower|shorter|truncated|padding|unpadded|no speed-up|extrapolated|max length|sequence_parallel|includes generation", re.IGNORECASE
)
_USUAL_ACCUMULATION = 1
_PER_NODE = 8


def evaluate_finetune(
    rows: Iterable[Row], *, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration
) -> list[Score]:
    """One score a row, in order, in tokens a second and GPU."""
    return [_score(row, gpus, presets, calibration) for row in rows]


def _score(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration) -> Score:
    base = Score(row_id=row["id"], source=row["source"])
    unmeasured = {name: value for name, value in row.items() if name not in MEASURED_COLUMNS}
    try:
        situation = situation_of_finetune(unmeasured, gpus, presets)
    except SkippedError as skipped:
        return replace(base, skipped=skipped.reason)
    prediction = predict(situation, calibration)
    return replace(
        base,
        group=group_of(situation),
        predicted=prediction.per_gpu,
        p10=prediction.p10,
        p90=prediction.p90,
        constant_mfu=constant_mfu_rate(situation),
        measured=measured_rate(row, situation),
    )


def measured_rate(row: Row, situation: Situation) -> float | None:
    """Tokens a second and GPU that the row reports; None for a doubtful row, or one whose samples are shorter than the stated length."""
    if row["quality"] == "C" or row["measured_or_estimated"] != "measured":
        return None
    count = situation.hardware.gpus
    direct = number(row, "tokens_per_s_per_gpu")
    total = number(row, "tokens_per_s_total")
    if direct is not None or total is not None:
        shorter = "shorter than" in row["note"]
        return None if shorter else direct if direct is not None else (total or 0.0) / count
    if _SHORTER.search(row["note"]):
        return None
    length = situation.job.sequence_length
    samples = number(row, "samples_per_s_total")
    if samples is not None:
        return samples * length / count
    step = number(row, "seconds_per_step")
    if step is None:
        return None
    tokens = number(row, "tokens_per_step") or situation.job.units_per_step
    return tokens / step / count


def situation_of_finetune(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> Situation:
    """The row as a job on hardware in a layout.

    Raises:
        SkippedError: something that the estimate needs is not stated, or cannot be expressed.
    """
    method = _method(row)
    optimizer = _OPTIMIZERS.get(row["optimizer"])
    if optimizer is None:
        raise SkippedError(reason="optimizer_not_supported")
    gpu = read_gpu(row["gpu_model"], row["interconnect"], gpus)
    if gpu is None:
        raise SkippedError(reason="gpu_not_known")
    count = number(row, "n_gpus")
    if count is None:
        raise SkippedError(reason="gpu_count_not_stated")
    precision = _precision(row, gpu)
    model = model_of(row["model"], number(row, "params_billion"), None, layers=None, hidden=None, vocabulary=None, presets=presets)
    sequence = number(row, "seq_len")
    if sequence is None:
        raise SkippedError(reason="sequence_length_not_stated")
    stack = read_stack(row["framework"], row["source"])
    hardware = _hardware(row, gpu, int(count))
    parallel = Parallel()
    if stack == "megatron" and row["sharding"] in {"", "unknown"}:
        parallel = usual_layout(parallel, model, hardware, method, math.inf)
    ranks = max(1, hardware.gpus // (parallel.tensor * parallel.pipeline))
    micro, accumulation, sequences = _batch(row, sequence, ranks)
    spec = WorkloadSpec(
        model=ModelSpec(architecture=Architecture(parameters_b=model.parameters / 1e9)),
        method=method,
        target=TargetSpec(tokens_b=1.0),
        lora_rank=int(number(row, "lora_rank") or 16),
        sequence_length=int(sequence),
        global_batch_sequences=sequences,
        precision=precision,
        optimizer=optimizer,
        stack=stack,
    )
    situation = Situation(
        job=job_of(spec, model),
        hardware=hardware,
        configuration=Configuration(
            precision=precision,
            micro_batch=micro,
            gradient_accumulation=accumulation,
            activation_checkpointing=_RECOMPUTE.get(row["activation_checkpointing"], "none"),
            sharding=usual_sharding(_sharding(row, method), hardware, stack),
            tensor_parallel=parallel.tensor,
            pipeline_parallel=parallel.pipeline,
            offload=_offload(row),
            optimizer=optimizer,
            attention=_attention(row),
        ),
    )
    return situation if row["activation_checkpointing"] in _RECOMPUTE else with_least_recompute(situation)


def _sharding(row: Row, method: Method) -> Sharding:
    """As stated; where the row is silent, full weights are sharded and adapters are not."""
    return _SHARDING.get(row["sharding"], "zero3" if method in {"pretrain", "full"} else "none")


def _method(row: Row) -> Method:
    method = _METHODS.get(row["method"])
    if method is None:
        raise SkippedError(reason="method_not_supported")
    bits = row["quant_bits"]
    if method == "qlora" and bits not in {"", "4"}:
        raise SkippedError(reason="quantisation_not_supported")
    return method


def _precision(row: Row, gpu: Gpu) -> Precision:
    """As stated; as submitted to MLPerf means fp8 where the card has it."""
    text = row["precision"]
    if "as submitted" in text:
        return "fp8" if gpu.fp8_tflops else "bf16"
    precision = read_precision(text)
    if precision is None:
        raise SkippedError(reason="precision_not_supported")
    return precision


def _offload(row: Row) -> Offload:
    return "parameters" if row["offload"] == "cpu" else "none"


def _attention(row: Row) -> AttentionKernel:
    return "eager" if row["attention"] == "eager" else "flash"


def _hardware(row: Row, gpu: Gpu, count: int) -> Hardware:
    nodes = int(number(row, "n_nodes") or math.ceil(count / _PER_NODE))
    if count % nodes or nodes > count:
        raise SkippedError(reason="gpus_not_evenly_on_nodes")
    link, _, network = row["interconnect"].partition("|")
    return Hardware(
        gpu=gpu,
        gpus_per_node=count // nodes,
        nodes=nodes,
        intra_node_link=read_link(link, gpu, count // nodes),
        inter_node_gbit_s=read_network_gbit_s(network or link.replace("NVLink", ""), count // nodes) if nodes > 1 else None,
    )


def _batch(row: Row, sequence: float, ranks: int) -> tuple[int, int, int]:
    """Micro-batch, accumulation and sequences of one step. ``tokens_per_step`` is the recipe's batch, not a measurement."""
    micro = number(row, "micro_batch")
    accumulation = number(row, "grad_accum")
    tokens = number(row, "tokens_per_step")
    if tokens is not None:
        sequences = max(1, round(tokens / sequence))
        each = int(micro or max(1, min(sequences // ranks, 8192 // sequence)))
        return each, max(1, math.ceil(sequences / (ranks * each))), sequences
    each = int(micro or max(1, 8192 // sequence))
    repeats = int(accumulation or _USUAL_ACCUMULATION)
    return each, repeats, each * repeats * ranks
