"""Activations and logits of one micro-step, bytes per GPU, in columns.

Sources: Megatron activation recomputation (arXiv 2205.05198), FlashAttention (arXiv 2205.14135), Liger kernels (arXiv 2410.10989) and fits
on published peaks (``memory_constants``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.configuration import ATTENTION_KERNELS, LOSS_KERNELS, RECOMPUTES, ConfigurationColumns
from app.domain.gpus import PRECISIONS
from app.domain.hardware import Floats
from app.domain.llm import ModelShape
from app.domain.memory_constants import CONSTANTS, LayerCoefficients
from app.domain.memory_states import MemoryRecipe
from app.domain.workload import Method, TrainingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationColumns:
    """Bytes per GPU: kept until the loss, kept in backward, the layer being recomputed, and the loss's own buffers."""

    kept_at_loss: Floats
    kept_in_backward: Floats
    in_flight: Floats
    logits: Floats


def ffn_per_token(shape: ModelShape) -> float:
    """MLP width that one token passes, mean over layers: routed and shared experts count, idle ones do not."""
    if shape.moe_layers == 0:
        return float(shape.ffn_size)
    active = (shape.experts_per_token + shape.shared_experts) * shape.moe_ffn_size
    return (shape.moe_layers * active + (shape.layers - shape.moe_layers) * shape.ffn_size) / shape.layers


def layer_bytes_per_token(shape: ModelShape, method: Method, recipe: MemoryRecipe) -> float:
    """Bytes that one layer saves for backward, per token, 16-bit compute, flash attention, nothing recomputed."""
    adapters = method in {"lora", "qlora"}
    if not shape.gated_mlp:
        trained, everywhere, some = CONSTANTS.gelu_full, CONSTANTS.gelu_lora_all, CONSTANTS.gelu_lora_qv
    else:
        trained, everywhere, some = CONSTANTS.gated_full, CONSTANTS.gated_lora_all, CONSTANTS.gated_lora_qv
    chosen = (everywhere if recipe.lora_on_all_linears else some) if adapters else trained
    total = _bytes(chosen, shape)
    if recipe.fused_kernels and shape.gated_mlp:
        total += _bytes(CONSTANTS.fused, shape) - _bytes(CONSTANTS.gated_full, shape)
    return total


def _bytes(coefficients: LayerCoefficients, shape: ModelShape) -> float:
    return coefficients.hidden * shape.hidden_size + coefficients.ffn * ffn_per_token(shape)


def activation_columns(
    shape: ModelShape, job: TrainingJob, configuration: ConfigurationColumns, fully_sharded: Floats, recipe: MemoryRecipe
) -> ActivationColumns:
    """Activations of every row. Tensor parallelism divides them all (sequence parallelism assumed, as its stacks do).

    The first stage of a one-forward-one-backward pipeline holds as many micro-batches as there are stages, at most the accumulation count;
    the last stage, which computes the loss, holds one.
    """
    wide = np.isin(configuration.precision, [PRECISIONS.index("tf32"), PRECISIONS.index("fp32")])
    tokens = configuration.micro_batch * (float(job.sequence_length)) * np.where(wide, 2.0, 1.0) / configuration.tensor_parallel
    recompute = configuration.activation_checkpointing
    whole, selective = recompute == RECOMPUTES.index("full"), recompute == RECOMPUTES.index("selective")
    eager = configuration.attention == ATTENTION_KERNELS.index("eager")
    hidden = float(shape.hidden_size)
    layer = layer_bytes_per_token(shape, job.method, recipe)
    inputs = _bytes(CONSTANTS.four_bit_inputs, shape) if job.method == "qlora" else 0.0
    lean = _bytes(CONSTANTS.fused if shape.gated_mlp else CONSTANTS.gelu_full, shape) * CONSTANTS.selective_share
    scores = eager * float(shape.attention_heads * job.sequence_length)

    kept = np.where(whole, CONSTANTS.checkpoint_hidden * hidden, np.where(selective, lean, layer + inputs + CONSTANTS.scores_kept * scores))
    kept_backward = np.where(whole & fully_sharded.astype(np.bool_), CONSTANTS.checkpoint_hidden_sharded * hidden, kept)
    recomputed = CONSTANTS.in_flight * layer + CONSTANTS.scores_in_flight * scores
    layers = np.ceil(shape.layers / configuration.pipeline_parallel)
    micro_batches_held = np.minimum(configuration.pipeline_parallel, configuration.gradient_accumulation)
    stock, fused = recipe.loss_bytes_per_logit
    per_logit = np.where(configuration.loss == LOSS_KERNELS.index("fused"), fused, stock)
    return ActivationColumns(
        kept_at_loss=tokens * kept * layers,
        kept_in_backward=tokens * kept_backward * layers * micro_batches_held,
        in_flight=tokens * np.where(whole | selective, recomputed, 0.0),
        logits=tokens * (per_logit * shape.vocabulary_size + recipe.loss_hidden * hidden),
    )
