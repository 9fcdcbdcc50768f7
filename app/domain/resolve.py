"""From the caller's words to numbers: ``WorkloadSpec`` to ``TrainingJob``, with every default and inference said."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.architecture import infer_shape
from app.domain.gpus import Gpu
from app.domain.hf_config import read_hf_config
from app.domain.limits import MAX_BATCH, MAX_FLOPS_PER_SAMPLE, MAX_PARAMETERS, MAX_RANK, MAX_RATE, optional, positive
from app.domain.llm import ModelShape, trainable_parameters, training_flops_per_token
from app.domain.near import did_you_mean
from app.domain.target import given_batch, sample_goal, target_kind, token_goal
from app.domain.workload import CustomNetwork, Measurement, Optimizer, TrainingJob, WorkloadError, WorkloadSpec

CHECKPOINT_BYTES: Mapping[Optimizer, float] = {
    "adamw": 14.0,
    "adamw_8bit": 8.0,
    "paged_adamw_8bit": 8.0,
    "adafactor": 6.0,
    "sgd": 6.0,
}
"""Bytes a parameter of a checkpoint that training can resume from: 2 of bf16 weights, 4 of fp32 master weights, then the moments.

AdamW keeps two in fp32 (arXiv:1910.02054, section 3.1), 8-bit optimizers two of a byte (arXiv:2110.02861), Adafactor and plain SGD next to
none.
"""
ADAPTER_CHECKPOINT_BYTES = 12.0
"""Bytes a trained weight of an adapter's checkpoint: fp32 weight and two moments; the frozen base is not saved again."""
UNKNOWN_CHECKPOINT_GB = 1.0


def resolve(spec: WorkloadSpec, *, presets: Mapping[str, ModelShape], gpus: Mapping[str, Gpu]) -> TrainingJob:
    """Work out what the caller's workload means in numbers.

    Args:
        spec: the workload as given.
        presets: shapes by preset name.
        gpus: known GPUs by canonical name.

    Raises:
        WorkloadError: the workload contradicts itself, lacks something, exceeds a limit, or names what is unknown. ``pointer`` is the place
            inside the workload, ``detail`` says what to change.
    """
    positive(spec.lora_rank, "/lora_rank", MAX_RANK)
    _check_measurements(spec.measured, gpus)
    kinds = [kind for kind in ("preset", "architecture", "hf_config", "custom") if getattr(spec.model, kind) is not None]
    if len(kinds) > 1:
        detail = f"One model is trained, but {' and '.join(kinds)} are given. Remove all but one."
        raise WorkloadError(pointer="/model", code="contradiction", detail=detail)
    if not kinds:
        return _measured_job(spec)
    if spec.model.custom is not None:
        return _custom_job(spec, spec.model.custom)
    return _model_job(spec, _model(spec, presets))


def _model(spec: WorkloadSpec, presets: Mapping[str, ModelShape]) -> ModelShape:
    if spec.model.preset is not None:
        shape = presets.get(spec.model.preset)
        if shape is None:
            detail = (
                f"No preset is called {spec.model.preset[:80]!r}.{did_you_mean(spec.model.preset, presets)} GET /models lists them all."
            )
            raise WorkloadError(pointer="/model/preset", code="unknown_preset", detail=detail)
        return shape
    if spec.model.architecture is not None:
        return infer_shape(spec.model.architecture)
    return read_hf_config(spec.model.hf_config or {})


def _model_job(spec: WorkloadSpec, model: ModelShape) -> TrainingJob:
    goal = token_goal(spec, model)
    flops = training_flops_per_token(model, spec.method, goal.sequence_length)
    trainable = trainable_parameters(model, spec.method, spec.lora_rank)
    checkpoint, said = _checkpoint_gb(spec, trainable)
    return TrainingJob(
        spec=spec,
        model=model,
        method=spec.method,
        unit="token",
        units_total=goal.units_total,
        units_per_step=float(goal.global_batch_sequences * goal.sequence_length),
        flops_per_unit=flops,
        model_flops=flops * goal.units_total,
        sequence_length=goal.sequence_length,
        global_batch_sequences=goal.global_batch_sequences,
        lora_rank=spec.lora_rank,
        trainable_parameters=trainable,
        precision=spec.precision,
        optimizer=spec.optimizer,
        stack=spec.stack,
        checkpoint_gb=checkpoint,
        assumptions=(*model.assumptions, *_adapters(spec, model), *goal.assumptions, *said),
        warnings=goal.warnings,
    )


def _adapters(spec: WorkloadSpec, model: ModelShape) -> tuple[str, ...]:
    if spec.method in {"pretrain", "full"}:
        return ()
    experts = ", those of every expert included" if model.experts else ""
    return (f"Adapters of rank {spec.lora_rank} on all linear layers{experts}.",)


def _custom_job(spec: WorkloadSpec, custom: CustomNetwork) -> TrainingJob:
    """A network that is known by its FLOPs a sample, or by the caller's measurement alone."""
    flops = optional(custom.flops_per_sample, "/model/custom/flops_per_sample", MAX_FLOPS_PER_SAMPLE)
    billions = optional(custom.parameters_b, "/model/custom/parameters_b", MAX_PARAMETERS / 1e9)
    if flops is None and not spec.measured:
        detail = "Give flops_per_sample (forward and backward of one sample), or a measured seconds_per_step."
        raise WorkloadError(pointer="/model/custom/flops_per_sample", code="missing_model", detail=detail)
    _only_step_times(spec, "a custom network counts samples")
    goal = sample_goal(spec)
    trainable = 0.0 if billions is None else billions * 1e9
    assumptions = goal.assumptions
    if spec.method in {"lora", "qlora"}:
        assumptions = (*assumptions, f"A custom network's FLOPs are taken as given; {spec.method} changes nothing in them.")
    warnings = goal.warnings
    if billions is None:
        warnings = (*warnings, "The network's parameters_b is not given: whether it fits in memory is not checked.")
    checkpoint, said = _checkpoint_gb(spec, trainable)
    return TrainingJob(
        spec=spec,
        model=None,
        method=spec.method,
        unit="sample",
        units_total=goal.units_total,
        units_per_step=float(goal.global_batch_sequences),
        flops_per_unit=flops,
        model_flops=None if flops is None else flops * goal.units_total,
        sequence_length=1,
        global_batch_sequences=goal.global_batch_sequences,
        lora_rank=spec.lora_rank,
        trainable_parameters=trainable,
        precision=spec.precision,
        optimizer=spec.optimizer,
        stack=spec.stack,
        checkpoint_gb=checkpoint,
        assumptions=(*assumptions, *said),
        warnings=warnings,
    )


def _measured_job(spec: WorkloadSpec) -> TrainingJob:
    """Nothing but the caller's own step time and a number of steps."""
    if not spec.measured:
        detail = "Say what is trained: model.preset, parameters_b, hf_config or custom; or give measured seconds_per_step and target.steps."
        raise WorkloadError(pointer="/model", code="missing_model", detail=detail)
    kind = target_kind(spec.target)
    if kind != "steps":
        detail = f"Without a model only steps can be counted. Give target.steps instead of {kind}, or the model."
        raise WorkloadError(pointer=f"/target/{kind}", code="contradiction", detail=detail)
    _only_step_times(spec, "without a model only steps can be counted")
    batch = given_batch(spec)
    steps = spec.target.steps or 0.0
    checkpoint, said = _checkpoint_gb(spec, 0.0)
    return TrainingJob(
        spec=spec,
        model=None,
        method=spec.method,
        unit="step",
        units_total=steps,
        units_per_step=1.0,
        flops_per_unit=None,
        model_flops=None,
        sequence_length=1,
        global_batch_sequences=1 if batch is None else batch,
        lora_rank=spec.lora_rank,
        trainable_parameters=0.0,
        precision=spec.precision,
        optimizer=spec.optimizer,
        stack=spec.stack,
        checkpoint_gb=checkpoint,
        assumptions=("No model is given: time rests on the measured step alone.", *said),
        warnings=("No model is given: whether it fits in memory is not checked.",),
    )


def _checkpoint_gb(spec: WorkloadSpec, trainable: float) -> tuple[float, tuple[str, ...]]:
    """Size of one saved checkpoint, and how it was found unless the caller gave it."""
    if spec.data.checkpoint_gb is not None:
        return positive(spec.data.checkpoint_gb, "/data/checkpoint_gb", MAX_PARAMETERS * 20 / 1e9), ()
    if not trainable:
        return UNKNOWN_CHECKPOINT_GB, (f"Checkpoint size not given and parameters unknown: {UNKNOWN_CHECKPOINT_GB:g} GB is assumed.",)
    adapters = spec.method in {"lora", "qlora"} and spec.model.custom is None
    per_weight = ADAPTER_CHECKPOINT_BYTES if adapters else CHECKPOINT_BYTES[spec.optimizer]
    size = trainable * per_weight / 1e9
    shown = f"{size:,.0f}" if size >= 100 else f"{size:.3g}"  # noqa: PLR2004 - three figures suffice
    held = "adapters only, with their moments" if adapters else "bf16 weights, fp32 master, optimizer moments"
    return size, (f"Checkpoint size not given: {shown} GB, {per_weight:g} bytes a trained weight ({held}).",)


def _only_step_times(spec: WorkloadSpec, reason: str) -> None:
    for index, measurement in enumerate(spec.measured):
        if measurement.tokens_per_second is not None:
            detail = f"Give seconds_per_step here instead of tokens_per_second: {reason}."
            raise WorkloadError(pointer=f"/measured/{index}/tokens_per_second", code="contradiction", detail=detail)


def _check_measurements(measured: tuple[Measurement, ...], gpus: Mapping[str, Gpu]) -> None:
    """Every measurement names a known GPU and has exactly one rate within limits."""
    for index, measurement in enumerate(measured):
        place = f"/measured/{index}"
        if measurement.gpu not in gpus:
            detail = f"No GPU is called {measurement.gpu[:80]!r}; the exact name tells memory and form factor."
            hint = f"{did_you_mean(measurement.gpu, gpus)} GET /gpus lists them all."
            raise WorkloadError(pointer=f"{place}/gpu", code="unknown_gpu", detail=detail + hint)
        positive(measurement.gpus, f"{place}/gpus", MAX_BATCH)
        optional(measurement.tokens_per_second, f"{place}/tokens_per_second", MAX_RATE)
        optional(measurement.seconds_per_step, f"{place}/seconds_per_step", MAX_RATE)
        optional(measurement.global_batch_sequences, f"{place}/global_batch_sequences", MAX_BATCH)
        if (measurement.tokens_per_second is None) == (measurement.seconds_per_step is None):
            raise WorkloadError(pointer=place, code="contradiction", detail="Give exactly one of tokens_per_second and seconds_per_step.")
