"""Predicts the rows of a file with the columns of runs-calibration.csv, without looking at what was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.domain.architecture import infer_shape
from app.domain.calibration import Calibration
from app.domain.configuration import AttentionKernel, Configuration, Recompute
from app.domain.gpus import Gpu
from app.domain.hardware import Hardware
from app.domain.kernel_efficiency import base_peak_tflops
from app.domain.llm import ModelShape, trainable_parameters, training_flops_per_token
from app.domain.workload import Architecture, Method, ModelSpec, TargetSpec, TrainingJob, WorkloadError, WorkloadSpec
from app.evaluate.row_text import (
    Parallel,
    normal,
    read_gpu,
    read_link,
    read_network_gbit_s,
    read_parallelism,
    read_precision,
    read_stack,
)
from app.evaluate.score import Row, Score, SkippedError, number
from app.evaluate.situation import Situation, predict, with_least_recompute
from app.evaluate.usual import usual_layout, usual_sharding

CONSTANT_MFU = 0.4
"""The naive model that every estimate is compared with: this share of the dense 16-bit peak, whatever the job."""
_METHODS: Mapping[str, Method] = {"pretrain": "pretrain", "full_ft": "full", "full": "full", "lora": "lora", "qlora": "qlora"}
_RECOMPUTE: Mapping[str, Recompute] = {"yes": "full", "full": "full", "no": "none", "none": "none", "selective": "selective"}
_COUNT_TOLERANCE = 0.05
_USUAL_MICRO_TOKENS = 8192
_FUSED_SINCE = 2023


def evaluate_runs(
    rows: Iterable[Row], *, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration
) -> list[Score]:
    """One score a row, in order. The prediction uses no column whose name begins with ``measured_``."""
    return [_score(row, gpus, presets, calibration) for row in rows]


def _score(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration) -> Score:
    base = Score(row_id=row["id"], source=row["source_name"])
    unmeasured = {name: value for name, value in row.items() if not name.startswith("measured_")}
    try:
        situation = situation_of_run(unmeasured, gpus, presets)
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


def group_of(situation: Situation) -> str:
    """The class of row that tables show."""
    model = situation.job.model
    if model is not None and model.experts:
        return "mixture of experts"
    return {"lora": "adapters", "qlora": "adapters"}.get(situation.job.method, "dense, all weights")


def constant_mfu_rate(situation: Situation) -> float:
    """Tokens a second and GPU at a constant MFU of 0.4 of the 16-bit peak."""
    flops = situation.job.flops_per_unit or 1.0
    precision = situation.configuration.precision
    peak = base_peak_tflops(situation.hardware.gpu, "bf16" if precision == "fp8" else precision)
    return CONSTANT_MFU * peak * 1e12 / flops


def measured_rate(row: Row, situation: Situation) -> float | None:
    """Tokens a second and GPU that the row reports: as such, from GPU-hours and tokens, or from MFU or TFLOP/s.

    MFU and TFLOP/s are read in the usual convention, which counts attention without the causal half.
    """
    if "do not score" in row["note"].lower():
        return None
    direct = number(row, "measured_tokens_per_sec_per_gpu")
    total, count = number(row, "measured_tokens_per_sec_total"), number(row, "n_gpus")
    if direct is None and total is not None and count is not None:
        direct = total / count
    if direct is not None:
        return direct
    hours, tokens = number(row, "measured_gpu_hours"), number(row, "tokens_trained_billion")
    if hours is not None and tokens is not None:
        return tokens * 1e9 / (hours * 3600.0)
    model = situation.job.model
    if model is None:
        return None
    flops = training_flops_per_token(replace(model, causal=False), situation.job.method, situation.job.sequence_length)
    share = number(row, "measured_mfu")
    tflops = number(row, "measured_tflops_per_gpu")
    if share is not None:
        tflops = share * base_peak_tflops(situation.hardware.gpu, "bf16")
    return None if tflops is None else tflops * 1e12 / flops


def situation_of_run(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> Situation:
    """The row as a job on hardware in a layout.

    Raises:
        SkippedError: something that the estimate needs is not stated, or cannot be expressed.
    """
    method = _METHODS.get(row["method"])
    if method is None:
        raise SkippedError(reason="method_not_supported")
    if "rlhf" in row["target"].lower():
        raise SkippedError(reason="mixes_generation_and_training")
    precision = read_precision(row["precision"])
    if precision is None:
        raise SkippedError(reason="precision_not_supported")
    gpu = read_gpu(row["gpu_model"], row["interconnect_intra"], gpus)
    if gpu is None:
        raise SkippedError(reason="gpu_not_known")
    count = number(row, "n_gpus")
    if count is None:
        raise SkippedError(reason="gpu_count_not_stated")
    hardware = _hardware(row, gpu, int(count))
    text = row["parallelism"]
    parallel = read_parallelism(text)
    stack = read_stack(text, row["source_name"], row["source_url_or_repo_path"])
    model = model_of(
        row["model"],
        number(row, "params_billion"),
        number(row, "active_params_billion"),
        layers=number(row, "layers"),
        hidden=number(row, "hidden"),
        vocabulary=number(row, "vocab"),
        presets=presets,
    )
    sequence = number(row, "seq_len")
    if sequence is None:
        raise SkippedError(reason="sequence_length_not_stated")
    tokens = number(row, "global_batch_tokens")
    if not parallel.stated and parallel.sharding != "zero3" and stack == "megatron":
        parallel = usual_layout(parallel, model, hardware, method, math.inf if tokens is None else tokens / sequence)
    data_ranks = max(1, hardware.gpus // (parallel.tensor * parallel.pipeline * parallel.context))
    micro, accumulation, sequences = _batch(tokens, sequence, data_ranks, parallel)
    spec = WorkloadSpec(
        model=ModelSpec(architecture=Architecture(parameters_b=model.parameters / 1e9)),
        method=method,
        target=TargetSpec(tokens_b=1.0),
        sequence_length=int(sequence),
        global_batch_sequences=sequences,
        precision=precision,
        stack=stack,
    )
    job = job_of(spec, model, parallel.context)
    configuration = Configuration(
        precision=precision,
        micro_batch=micro,
        gradient_accumulation=accumulation,
        activation_checkpointing=_RECOMPUTE.get(row["activation_checkpointing"], "none"),
        sharding=usual_sharding(parallel.sharding, hardware, stack),
        tensor_parallel=parallel.tensor,
        pipeline_parallel=parallel.pipeline,
        offload=parallel.offload,
        attention=_attention(row, gpu),
    )
    situation = Situation(job=job, hardware=hardware, configuration=configuration)
    return situation if row["activation_checkpointing"] in _RECOMPUTE else with_least_recompute(situation)


def job_of(spec: WorkloadSpec, model: ModelShape, context: int = 1) -> TrainingJob:
    """One step of ``spec`` on exactly this shape.

    Context parallelism gives a GPU 1/context of each sequence, while every token still attends over all of it: sequences are cut, the
    width of the scores grows by as much.
    """
    sequence = max(1, (spec.sequence_length or 1) // context)
    sequences = (spec.global_batch_sequences or 1) * context
    cut = replace(model, score_width=model.score_width * context)
    flops = training_flops_per_token(cut, spec.method, sequence)
    tokens = float(sequences * sequence)
    return TrainingJob(
        spec=spec,
        model=cut,
        method=spec.method,
        unit="token",
        units_total=tokens,
        units_per_step=tokens,
        flops_per_unit=flops,
        model_flops=flops * tokens,
        sequence_length=sequence,
        global_batch_sequences=sequences,
        lora_rank=spec.lora_rank,
        trainable_parameters=trainable_parameters(model, spec.method, spec.lora_rank),
        precision=spec.precision,
        optimizer=spec.optimizer,
        stack=spec.stack,
        checkpoint_gb=0.0,
    )


def model_of(
    name: str,
    parameters_b: float | None,
    active_b: float | None,
    *,
    layers: float | None,
    hidden: float | None,
    vocabulary: float | None,
    presets: Mapping[str, ModelShape],
) -> ModelShape:
    """The preset of that name when its count agrees with the row, else a shape from the row's dimensions.

    Raises:
        SkippedError: not a language model, or no size is known.
    """
    wanted = normal(name)
    preset = next((shape for key, shape in presets.items() if normal(key) == wanted), None)
    if preset is not None and (parameters_b is None or abs(preset.parameters / (parameters_b * 1e9) - 1.0) <= _COUNT_TOLERANCE):
        return preset
    if re.search(r"resnet|unet|ssd|rnn|dlrm|gnn|diffusion|bidaf|image|mask|retina", name.lower()):
        raise SkippedError(reason="not_a_language_model")
    if parameters_b is None:
        raise SkippedError(reason="model_size_not_known")
    sparse = active_b is not None and active_b < 0.99 * parameters_b
    architecture = Architecture(
        parameters_b=parameters_b,
        layers=None if layers is None else int(layers),
        hidden_size=None if hidden is None else int(hidden),
        vocabulary_size=None if vocabulary is None else int(vocabulary),
        active_parameters_b=active_b if sparse else None,
    )
    try:
        shape = infer_shape(architecture)
    except WorkloadError as error:
        raise SkippedError(reason="dimensions_contradict_each_other") from error
    return replace(shape, causal="bert" not in name.lower())


def _hardware(row: Row, gpu: Gpu, count: int) -> Hardware:
    per_node = int(number(row, "gpus_per_node") or min(count, 8))
    per_node = math.gcd(min(per_node, count), count)
    network = row["interconnect_inter"]
    return Hardware(
        gpu=gpu,
        gpus_per_node=per_node,
        nodes=count // per_node,
        intra_node_link=read_link(row["interconnect_intra"], gpu, per_node),
        inter_node_gbit_s=read_network_gbit_s(network, per_node),
    )


def _attention(row: Row, gpu: Gpu) -> AttentionKernel:
    """Fused attention reached training software during 2022 (arXiv:2205.14135) and needs an NVIDIA card of 2018 or later, or a compiler."""
    old = (number(row, "year") or _FUSED_SINCE) < _FUSED_SINCE and "flash" not in (row["parallelism"] + row["source_name"]).lower()
    return "eager" if (old and gpu.vendor == "NVIDIA") or gpu.architecture in {"Volta", "Pascal", "Kepler"} else "flash"


def _batch(tokens: float | None, sequence: float, ranks: int, parallel: Parallel) -> tuple[int, int, int]:
    """Micro-batch, accumulation and sequences of one step, from what is stated; the usual 8,192 tokens a micro-step otherwise."""
    micro, accumulation = parallel.micro_batch, parallel.accumulation
    usual = max(1, int(_USUAL_MICRO_TOKENS // sequence))
    if parallel.pipeline > 1:
        usual = 1
    if tokens is None:
        micro = micro or usual
        if accumulation is None:
            accumulation = 1 if parallel.pipeline == 1 else 8 * parallel.pipeline
        return micro, accumulation, micro * accumulation * ranks
    sequences = max(1, round(tokens / sequence))
    if micro is None:
        micro = max(1, min(usual, sequences // ranks)) if accumulation is None else max(1, round(sequences / (ranks * accumulation)))
    accumulation = max(1, math.ceil(sequences / (ranks * micro)))
    return micro, accumulation, sequences
