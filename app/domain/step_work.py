"""What one token costs, before any hardware: operations, bytes and launches, as scalars of a job."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.llm import ModelShape, score_flops_per_token, training_flops_per_token
from app.domain.workload import TrainingJob

_WIDTHS_OF_DENSE_LAYER = 6.0
"""Width that passes a dense layer of ordinary proportions, in hidden sizes: 2 around attention and 4 in the MLP (4h plain, 3 x 2.7h / 2
gated). The unit of ``elementwise_bytes``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """Work of one token; parameters are plain counts, FLOPs and widths are per token over all layers.

    ``block_forward`` and ``head_forward`` are matrix-product FLOPs of one forward pass inside the layers and in the output head;
    ``score_forward`` those of attention. ``passes`` is a forward and its backward in forward passes of the weights: 3, or 2 when the weights
    are frozen. ``widths`` is the sum over layers of what elementwise kernels touch, in units of one number.
    """

    model_flops: float
    block_forward: float
    head_forward: float
    score_forward: float
    passes: float
    widths: float
    vocabulary: float
    parameters: float
    active_parameters: float
    trained: float
    frozen_bytes: float
    layers: float
    hidden: float
    score_heads: float
    head_dim: float
    moe_share: float
    expert_traffic_width: float
    experts: float


def step_work(job: TrainingJob, model: ModelShape) -> StepWork:
    """The work of one token of ``job`` on ``model``."""
    full = job.method in {"pretrain", "full"}
    head = float(model.vocabulary_size * model.hidden_size)
    head = min(head, 0.9 * model.flops_parameters)
    return StepWork(
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
        frozen_bytes=0.0 if full else (0.55 if job.method == "qlora" else 2.0),
        layers=float(model.layers),
        hidden=float(model.hidden_size),
        score_heads=float(model.attention_heads),
        head_dim=float(model.head_dim),
        moe_share=model.active_parameters / model.parameters if model.experts else 1.0,
        expert_traffic_width=float(model.moe_layers * model.experts_per_token * model.hidden_size),
        experts=float(max(model.experts, 1)),
    )


def _elementwise_widths(model: ModelShape) -> float:
    """Sum over the layers of the widths that pass between matrix products, in hidden sizes' sixths: see _WIDTHS_OF_DENSE_LAYER."""
    per_mlp = 1.5 if model.gated_mlp else 1.0
    dense = (model.layers - model.moe_layers) * per_mlp * model.ffn_size
    routed = model.moe_layers * (model.experts_per_token + model.shared_experts) * (per_mlp * model.moe_ffn_size + model.hidden_size)
    return (2.0 * model.layers * model.hidden_size + dense + routed) / _WIDTHS_OF_DENSE_LAYER
