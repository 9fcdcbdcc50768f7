"""The shape of a transformer, its parameter count and its FLOPs per token."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A network as far as memory, speed and traffic need to know it.

    Counts are plain numbers (not billions). ``active_parameters`` is what touches one token, both embedding matrices included; equal to
    ``parameters`` for dense models. ``embedding_parameters`` is the input matrix (plus positions), ``head_parameters`` the output matrix
    (0 when tied: then the input matrix does the multiplication). ``score_width`` is heads·(qk width + v width)/2, the width that attention
    scores work on; it equals hidden_size for ordinary models. ``assumptions`` lists every figure that was inferred, in words.
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
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0
    moe_layers: int = 0
    moe_ffn_size: int = 0
    sliding_window: int | None = None
    max_position: int | None = None
    causal: bool = True
    source: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def flops_parameters(self) -> float:
        """Active parameters that multiply: the input look-up costs no FLOPs, a tied matrix is counted once (it is the head)."""
        return self.active_parameters - (0.0 if self.tied_embeddings else self.embedding_parameters)
