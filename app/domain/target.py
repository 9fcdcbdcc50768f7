"""Where training ends, in tokens (or samples, or steps), and how long a sequence and how large a batch are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.domain.limits import (
    MAX_BATCH,
    MAX_EPOCHS,
    MAX_LOSS,
    MAX_POSITIONS,
    MAX_SAMPLES,
    MAX_STEPS,
    MAX_TOKENS,
    positive,
)
from app.domain.llm import ModelShape
from app.domain.scaling_laws import CHINCHILLA, CHINCHILLA_REFIT, outside_fitted_range
from app.domain.workload import TargetSpec, WorkloadError, WorkloadSpec

KINDS = ("tokens_b", "samples", "steps", "loss", "benchmark")
SUPPORTED = "tokens_b; samples with tokens_per_sample and epochs; steps with global_batch_sequences; loss (pre-training only)"
FINE_TUNING_SEQUENCE = 2048
PRETRAINING_SEQUENCE = 4096
FINE_TUNING_BATCH = 128
"""Sequences a step of the widely copied instruction-tuning recipe (Stanford Alpaca, 2023)."""
SAMPLE_BATCH = 256
"""Samples a step of a network that is no language model (ResNet-50 on ImageNet, arXiv:1706.02677)."""
PRETRAINING_STEP_TOKENS = ((1e9, 2**19), (5e9, 2**20), (15e9, 2**21), (math.inf, 2**22))
"""Tokens a step by parameters below a bound: 0.5 M, 1 M, 2 M as GPT-3 (arXiv:2005.14165, table 2.1), 4 M as LLaMA (arXiv:2302.13971)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The target in units, with its batch; ``assumptions`` and ``warnings`` say what was not given."""

    units_total: float
    sequence_length: int
    global_batch_sequences: int
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def target_kind(target: TargetSpec) -> str:
    """The one kind of target that is given, checked for contradictions and limits.

    Raises:
        WorkloadError: none, two, a part that belongs to another kind, a benchmark, or a number outside its limits.
    """
    given = [kind for kind in KINDS if getattr(target, kind) is not None]
    if not given:
        raise WorkloadError(pointer="/target", code="missing_target", detail=f"Say where training ends. Give one of: {SUPPORTED}.")
    if len(given) > 1:
        detail = f"Only one target can hold, but {' and '.join(given)} are given. Remove all but one."
        raise WorkloadError(pointer=f"/target/{given[1]}", code="contradiction", detail=detail)
    kind = given[0]
    if kind == "benchmark":
        detail = f"Published benchmarks cannot be a target yet. Use one of: {SUPPORTED}."
        raise WorkloadError(pointer="/target/benchmark", code="benchmark_not_supported", detail=detail)
    for part in ("tokens_per_sample", "epochs"):
        if kind != "samples" and getattr(target, part) is not None:
            detail = f"{part} belongs to a target by samples; with {kind} it has no meaning. Remove it, or give samples instead of {kind}."
            raise WorkloadError(pointer=f"/target/{part}", code="contradiction", detail=detail)
    limits = {
        "tokens_b": MAX_TOKENS / 1e9,
        "samples": MAX_SAMPLES,
        "tokens_per_sample": MAX_POSITIONS,
        "epochs": MAX_EPOCHS,
        "steps": MAX_STEPS,
        "global_batch_sequences": MAX_BATCH,
        "loss": MAX_LOSS,
    }
    for part, most in limits.items():
        value = getattr(target, part)
        if value is not None:
            positive(value, f"/target/{part}", most)
    return kind


def given_batch(spec: WorkloadSpec) -> int | None:
    """The caller's global batch, from the workload or its target.

    Raises:
        WorkloadError: the two differ.
    """
    outer, inner = spec.global_batch_sequences, spec.target.global_batch_sequences
    if outer is not None:
        positive(outer, "/global_batch_sequences", MAX_BATCH)
    if outer is not None and inner is not None and outer != inner:
        detail = f"The workload says {outer} sequences a step and its target {inner}. Give one of them, or the same number."
        raise WorkloadError(pointer="/target/global_batch_sequences", code="contradiction", detail=detail)
    return inner if outer is None else outer


def token_goal(spec: WorkloadSpec, model: ModelShape) -> Goal:
    """The goal of a language model, in tokens.

    Raises:
        WorkloadError: the target contradicts itself, is out of limits, or cannot be reached.
    """
    kind = target_kind(spec.target)
    length, assumptions, warnings = _sequence_length(spec, model)
    batch = given_batch(spec)
    if kind == "steps":
        if batch is None:
            batch, said = _default_batch(spec, model, length, None)
            assumptions = (*assumptions, said)
        total = spec.target.steps or 0.0
        return Goal(
            units_total=_bounded(total * batch * length, "/target/steps"),
            sequence_length=length,
            global_batch_sequences=batch,
            assumptions=assumptions,
            warnings=warnings,
        )
    if kind == "samples":
        total, more = _tokens_of_samples(spec.target, length)
        assumptions = (*assumptions, *more)
    elif kind == "loss":
        total, said, alarm = _tokens_to_loss(spec, model)
        assumptions = (*assumptions, said)
        warnings = warnings + alarm
    else:
        total = (spec.target.tokens_b or 0.0) * 1e9
    total = _bounded(total, f"/target/{kind}")
    if batch is None:
        batch, said = _default_batch(spec, model, length, total)
        assumptions = (*assumptions, said)
    elif total < batch * length:
        warnings = (*warnings, f"The whole target of {total:.4g} tokens is less than one optimizer step of {batch} × {length} tokens.")
    return Goal(units_total=total, sequence_length=length, global_batch_sequences=batch, assumptions=assumptions, warnings=warnings)


def sample_goal(spec: WorkloadSpec) -> Goal:
    """The goal of a custom network, in samples (a "sequence" of its batch is one sample).

    Raises:
        WorkloadError: the target is not by samples or steps, contradicts itself or is out of limits.
    """
    kind = target_kind(spec.target)
    if kind not in {"samples", "steps"}:
        detail = "A custom network is counted in samples. Give target.samples (and epochs), or target.steps with global_batch_sequences."
        raise WorkloadError(pointer=f"/target/{kind}", code="contradiction", detail=detail)
    if spec.target.tokens_per_sample is not None:
        detail = "A custom network has no tokens: its flops_per_sample counts the whole sample. Remove tokens_per_sample."
        raise WorkloadError(pointer="/target/tokens_per_sample", code="contradiction", detail=detail)
    batch = given_batch(spec)
    assumptions: tuple[str, ...] = ()
    samples = (spec.target.samples or 0.0) * (1.0 if spec.target.epochs is None else spec.target.epochs)
    if batch is None:
        batch = SAMPLE_BATCH if kind == "steps" else max(1, min(SAMPLE_BATCH, math.ceil(samples)))
        assumptions = (f"Global batch not given: {batch} samples a step are assumed.",)
    if kind == "steps":
        samples = (spec.target.steps or 0.0) * batch
    elif spec.target.epochs is None:
        assumptions = (*assumptions, "Epochs not given: every sample is seen once.")
    return Goal(units_total=_bounded(samples, f"/target/{kind}"), sequence_length=1, global_batch_sequences=batch, assumptions=assumptions)


def _bounded(total: float, pointer: str) -> float:
    """``total`` units of work, if there are at most MAX_TOKENS."""
    if not 0 < total <= MAX_TOKENS:
        detail = f"The target comes to {total:.4g} units of work; at most {MAX_TOKENS:g} can be estimated. Make it smaller."
        raise WorkloadError(pointer=pointer, code="out_of_range", detail=detail)
    return total


def _sequence_length(spec: WorkloadSpec, model: ModelShape) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Tokens a sequence: as given, else a sample's length, else a usual length; never beyond the model's positions by itself."""
    most = model.max_position
    if spec.sequence_length is not None:
        length = int(positive(spec.sequence_length, "/sequence_length", MAX_POSITIONS))
        if most is not None and length > most:
            warning = f"Sequences of {length} tokens are longer than the {most} positions {model.name} was made for."
            return length, (), (warning,)
        return length, (), ()
    sample = spec.target.tokens_per_sample
    if sample is not None:
        length = math.ceil(sample) if most is None else min(most, math.ceil(sample))
        return length, (f"Sequence length not given: {length} tokens, from tokens_per_sample.",), ()
    usual = PRETRAINING_SEQUENCE if spec.method == "pretrain" else FINE_TUNING_SEQUENCE
    length = usual if most is None else min(most, usual)
    return length, (f"Sequence length not given: {length} tokens are assumed.",), ()


def _default_batch(spec: WorkloadSpec, model: ModelShape, length: int, total: float | None) -> tuple[int, str]:
    """Sequences a step when the caller gives none: by size for pre-training, a usual count for fine-tuning, never above the whole job."""
    if spec.method == "pretrain":
        tokens = next(step for bound, step in PRETRAINING_STEP_TOKENS if model.parameters < bound)
        batch = max(1, tokens // length)
        basis = f"about {tokens / 1e6:.2g} M tokens a step, as published runs of this size"
    else:
        batch = FINE_TUNING_BATCH
        basis = "a usual size for fine-tuning"
    if total is not None and batch * length > total:
        batch = max(1, math.ceil(total / length))
        basis = "the whole target in one step"
    return batch, f"Global batch not given: {batch} sequences are assumed ({basis})."


def _tokens_of_samples(target: TargetSpec, length: int) -> tuple[float, tuple[str, ...]]:
    assumptions: tuple[str, ...] = ()
    size = target.tokens_per_sample
    if size is None:
        size = float(length)
        assumptions = (f"Tokens a sample not given: {length}, one whole sequence, are assumed.",)
    elif size != length:
        assumptions = (f"Samples of {size:g} tokens are packed into sequences of {length}: no padding is counted.",)
    epochs = target.epochs
    if epochs is None:
        epochs = 1.0
        assumptions = (*assumptions, "Epochs not given: every sample is seen once.")
    return (target.samples or 0.0) * size * epochs, assumptions


def _tokens_to_loss(spec: WorkloadSpec, model: ModelShape) -> tuple[float, str, tuple[str, ...]]:
    """Tokens to the loss by the Chinchilla law, what was assumed, and warnings where the law was not fitted."""
    loss = spec.target.loss or 0.0
    if spec.method != "pretrain":
        detail = f"A loss can be a target of pre-training only; for {spec.method} no general law holds. Give tokens_b, samples or steps."
        raise WorkloadError(pointer="/target/loss", code="loss_only_for_pretrain", detail=detail)
    parameters = model.active_parameters
    law = CHINCHILLA
    tokens = law.tokens_for(parameters, loss)
    if tokens is None or tokens > MAX_TOKENS:
        detail = (
            f"{model.name} ({parameters / 1e9:.4g} B parameters) cannot reach a loss of {loss:g}: the law's floor for its size is "
            f"{law.floor(parameters):.3f} ({law.source}). Give a higher loss or a larger model."
        )
        raise WorkloadError(pointer="/target/loss", code="loss_unreachable", detail=detail)
    second = CHINCHILLA_REFIT.tokens_for(parameters, loss)
    other = "cannot be reached" if second is None or second > MAX_TOKENS else f"takes {second / 1e9:.4g} B tokens"
    said = (
        f"Loss {loss:g} takes {tokens / 1e9:.4g} B tokens by L = {law.e} + {law.a}/N^{law.alpha} + {law.b}/D^{law.beta} ({law.source}; "
        f"nats a token on its data and tokenizer, each token seen once). By the refit of {CHINCHILLA_REFIT.source} it {other}."
    )
    warnings: tuple[str, ...] = ()
    outside = outside_fitted_range(parameters, tokens)
    if outside is not None:
        warnings = (f"The loss law is used outside the runs it was fitted to: {outside}. Take the token count as a rough guess.",)
    if model.experts:
        warnings = (*warnings, "The loss law was fitted to dense models; the active parameters are used, which asks for more tokens.")
    return tokens, said, warnings
