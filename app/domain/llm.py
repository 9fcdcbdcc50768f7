"""The shape of a transformer, its FLOPs per token and its trainable parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A network as far as memory, speed and traffic need to know it.

    Counts are plain numbers (not billions). ``active_parameters`` is what touches one token, both embedding matrices included; equal to
    ``parameters`` for dense models. ``embedding_parameters`` is the input matrix (plus positions), ``head_parameters`` the output matrix
    (0 when tied: then the input matrix does the multiplication). ``score_width`` is heads·(qk width + v width)/2, the width that attention
    scores work on; it equals hidden_size for ordinary models. ``assumptions`` lists every figure that was inferred, in words.

    ``layers`` counts all stacks (encoder and decoder). ``ffn_size`` is the MLP width of dense layers, of one expert when there are none.
    ``shared_experts`` is counted in routed-expert widths, so a token passes ``moe_ffn_size · (experts_per_token + shared_experts)``.
    ``sliding_share`` is the share of layers that use ``sliding_window``. ``adapter_widths`` sums (in + out) over all linear layers, so that
    LoRA of rank r trains r times as many weights.
    """

    name: str
    parameters: float
    active_parameters: float
    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    head_dim: int
    ffn_size: int
    vocabulary_size: int
    tied_embeddings: bool
    gated_mlp: bool
    rms_norm: bool
    embedding_parameters: float
    head_parameters: float
    score_width: float
    adapter_widths: float
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0
    moe_layers: int = 0
    moe_ffn_size: int = 0
    sliding_window: int | None = None
    sliding_share: float = 1.0
    max_position: int | None = None
    causal: bool = True
    source: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def flops_parameters(self) -> float:
        """Active parameters that multiply: the input look-up costs no FLOPs, a tied matrix is counted once (it is the head)."""
        return self.active_parameters - (0.0 if self.tied_embeddings else self.embedding_parameters)


def attended_positions(model: ModelShape, sequence_length: float) -> float:
    """Positions that one token attends to, averaged over the sequence and the layers.

    Under a causal mask a token at place i sees i positions, s/2 on average; with a window w it sees min(i, w), which is w − w²/(2s) on
    average once s > w. Without a mask it sees s (or w). Layers outside ``sliding_share`` see the whole sequence.
    """
    whole = sequence_length / 2 if model.causal else sequence_length
    window = model.sliding_window
    if window is None or window >= sequence_length:
        return whole
    near = window - window * window / (2 * sequence_length) if model.causal else float(window)
    return model.sliding_share * near + (1 - model.sliding_share) * whole


def forward_flops_per_token(model: ModelShape, sequence_length: float) -> float:
    """FLOPs of one token's forward pass: 2 a weight that multiplies, 4·layers·score_width a position attended to.

    Source: Narayanan et al. 2021 (arXiv:2104.04473), appendix; Chowdhery et al. 2022 (arXiv:2204.02311), appendix B.
    """
    return 2 * model.flops_parameters + score_flops_per_token(model, sequence_length)


def score_flops_per_token(model: ModelShape, sequence_length: float) -> float:
    """Forward FLOPs of attention scores and their weighted sum (QKᵀ and AV) for one token, all layers."""
    return 4 * model.layers * model.score_width * attended_positions(model, sequence_length)


def training_flops_per_token(model: ModelShape, method: Literal["pretrain", "full", "lora", "qlora"], sequence_length: float) -> float:
    """Model FLOPs of training one token; recomputation is not counted.

    Full training: 6 a multiplying weight (2 forward, 4 backward). LoRA and QLoRA: 4, since frozen weights need no weight gradient; the
    adapters add well under 1 %. Scores have no weights, so they cost forward plus twice that backward in every method. Causal models of
    full attention come to 6·layers·score_width·s, models without a mask to 12.
    """
    per_weight = 6.0 if method in {"pretrain", "full"} else 4.0
    return per_weight * model.flops_parameters + 3 * score_flops_per_token(model, sequence_length)


def simple_training_flops(parameters: float, tokens: float) -> float:
    """The rule of thumb 6·N·D (Kaplan et al. 2020, arXiv:2001.08361): for show and cross-checks, not for estimates."""
    return 6 * parameters * tokens


def trainable_parameters(model: ModelShape, method: Literal["pretrain", "full", "lora", "qlora"], rank: int) -> float:
    """What the optimizer updates: all weights, or with adapters rank · sum(in + out) over every linear layer (experts included).

    Source: Hu et al. 2021, LoRA (arXiv:2106.09685): an adapter of a matrix in×out has rank·(in + out) weights.
    """
    if method in {"pretrain", "full"}:
        return model.parameters
    return rank * model.adapter_widths
