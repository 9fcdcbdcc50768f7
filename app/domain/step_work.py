"""What one token of a job costs before any hardware: operations, bytes and launches."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.hardware import Floats
from app.domain.llm import ModelShape, score_flops_per_token, training_flops_per_token
from app.domain.memory_constants import CONSTANTS
from app.domain.workload import TrainingJob

Number = float | Floats
"""One number for one job; a column where calibration works on many jobs at once."""

_WIDTHS_OF_DENSE_LAYER = 6.0
"""Width that passes a dense layer of ordinary proportions, in hidden sizes: 2 around attention and 4 in the MLP (4h plain, 3 · 2.7h / 2
gated)."""
_FOUR_BIT_OVER_SIXTEEN = CONSTANTS.nf4_bytes / 2.0
"""4-bit weights with their scales against 16-bit ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """Work of one token and size of one step.

    Attributes:
        units_per_step: useful tokens of one optimizer step.
        sequences: sequences of one optimizer step.
        sequence_length: tokens a sequence.
        model_flops: FLOPs the model needs a token; recomputation is not counted.
        block_forward: matrix-product FLOPs of one forward pass inside the layers.
        head_forward: matrix-product FLOPs of one forward pass in the output head.
        score_forward: attention FLOPs of one forward pass.
        passes: forward and backward in forward passes of the weights: 3, or 2 when they are frozen.
        widths: numbers that elementwise kernels touch, summed over the layers, in widths of an ordinary dense layer.
        vocabulary: entries of the vocabulary.
        parameters: weights in all.
        active_parameters: weights that touch one token.
        trained: weights that the optimizer updates.
        gathered_share: bytes of a weight as it travels or waits, relative to the compute precision.
        quantised: 1 when weights must be expanded in every micro-step, else 0.
        adapted: 1 when layers carry adapters, else 0.
        layers: layers of all stacks.
        hidden: hidden size.
        heads: attention heads.
        head_dim: width of one head.
        active_share: active over all weights: 1 for dense models.
        expert_width: top-k · hidden size summed over the expert layers: numbers that a token sends to its experts; 0 for dense models.
        experts: experts of a layer; 1 for dense models.
    """

    units_per_step: Number
    sequences: Number
    sequence_length: Number
    model_flops: Number
    block_forward: Number
    head_forward: Number
    score_forward: Number
    passes: Number
    widths: Number
    vocabulary: Number
    parameters: Number
    active_parameters: Number
    trained: Number
    gathered_share: Number
    quantised: Number
    adapted: Number
    layers: Number
    hidden: Number
    heads: Number
    head_dim: Number
    active_share: Number
    expert_width: Number
    experts: Number


def step_work(job: TrainingJob, model: ModelShape) -> StepWork:
    """The work of ``job`` on ``model``."""
    full = job.method in {"pretrain", "full"}
    head = min(float(model.vocabulary_size * model.hidden_size), 0.9 * model.flops_parameters)
    return StepWork(
        units_per_step=job.units_per_step,
        sequences=float(job.global_batch_sequences),
        sequence_length=float(job.sequence_length),
        model_flops=training_flops_per_token(model, job.method, job.sequence_length),
        block_forward=2.0 * (model.flops_parameters - head),
        head_forward=2.0 * head,
        score_forward=score_flops_per_token(model, job.sequence_length),
        passes=3.0 if full else 2.0,
        widths=_elementwise_widths(model),
        vocabulary=float(model.vocabulary_size),
        parameters=model.parameters,
        active_parameters=model.active_parameters,
        trained=model.parameters if full else job.trainable_parameters,
        gathered_share=_FOUR_BIT_OVER_SIXTEEN if job.method == "qlora" else 1.0,
        quantised=1.0 if job.method == "qlora" else 0.0,
        adapted=0.0 if full else 1.0,
        layers=float(model.layers),
        hidden=float(model.hidden_size),
        heads=float(model.attention_heads),
        head_dim=float(model.head_dim),
        active_share=model.active_parameters / model.parameters if model.experts else 1.0,
        expert_width=float(model.moe_layers * model.experts_per_token * model.hidden_size),
        experts=float(max(model.experts, 1)),
    )


def _elementwise_widths(model: ModelShape) -> float:
    """Sum over the layers of the widths that pass between matrix products, relative to _WIDTHS_OF_DENSE_LAYER."""
    per_mlp = 1.5 if model.gated_mlp else 1.0
    dense = (model.layers - model.moe_layers) * per_mlp * model.ffn_size
    routed = model.moe_layers * (model.experts_per_token + model.shared_experts) * (per_mlp * model.moe_ffn_size + model.hidden_size)
    return (2.0 * model.layers * model.hidden_size + dense + routed) / _WIDTHS_OF_DENSE_LAYER
