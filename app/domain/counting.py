"""How many weights a transformer has, from its dimensions: the one place where parameters are counted.

Per layer: attention, MLP (or experts), norms. Outside the layers: input matrix, output matrix when untied, position tables, final norm.
The conventions are those of the published checkpoints; the presets' test recomputes every published count within 1 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.llm import ModelShape

Norm = Literal["rmsnorm", "layernorm", "layernorm_nobias", "none"]
QkNorm = Literal["none", "head", "full"]
"""Norms on queries and keys: none, one vector of head width each, or one over all heads each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434). ``q_rank`` None: queries are not compressed."""

    q_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Mixture of experts in ``layers`` of the layers. ``shared_ffn_size`` is the whole width that every token passes besides."""

    count: int
    per_token: int
    ffn_size: int
    layers: int
    shared_ffn_size: int = 0
    shared_gate: bool = False
    router_bias: bool = False
    bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """Everything that the count depends on.

    ``layers`` is the depth of the (only or first) stack; ``decoder_layers`` > 0 adds a second stack with cross-attention. ``ffn_size`` is
    the MLP width of dense layers. ``extra_parameters`` holds stems, poolers and the like that multiply; ``extra_embedding`` look-up
    tables that do not (positions of a second stack, token types, class tokens).
    """

    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    head_dim: int
    ffn_size: int
    vocabulary_size: int
    tied_embeddings: bool
    gated_mlp: bool = True
    norm: Norm = "rmsnorm"
    norms_per_layer: int = 2
    final_norms: int = 1
    qkv_bias: bool = False
    key_bias: bool = True
    o_bias: bool = False
    mlp_bias: bool = False
    lm_head_bias: bool = False
    qk_norm: QkNorm = "none"
    attention_sinks: bool = False
    learned_positions: int = 0
    embedding_norms: int = 0
    latent: LatentAttention | None = None
    experts: Experts | None = None
    decoder_layers: int = 0
    head_outputs: int | None = None
    extra_parameters: int = 0
    extra_embedding: int = 0
    sliding_window: int | None = None
    sliding_share: float = 1.0
    max_position: int | None = None
    causal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Weights in all, weights that touch one token, look-up tables, output matrix, and sum of (in + out) over the linear layers."""

    total: int
    active: int
    embedding: int
    head: int
    adapter_widths: int


def norm_weights(norm: Norm, width: int) -> int:
    """Weights of one norm over ``width`` channels: scale, and shift for a LayerNorm with bias."""
    return {"rmsnorm": width, "layernorm": 2 * width, "layernorm_nobias": width, "none": 0}[norm]


def attention_weights(d: Dimensions) -> int:
    """Weights of one self-attention block, biases and query/key norms included."""
    if d.latent is not None:
        return _latent_weights(d, d.latent)
    query = d.attention_heads * d.head_dim
    key = d.kv_heads * d.head_dim
    weights = 2 * d.hidden_size * query + 2 * d.hidden_size * key
    if d.qkv_bias:
        weights += query + (2 if d.key_bias else 1) * key
    if d.o_bias:
        weights += d.hidden_size
    if d.qk_norm == "head":
        weights += 2 * d.head_dim
    elif d.qk_norm == "full":
        weights += query + key
    return weights + (d.attention_heads if d.attention_sinks else 0)


def _latent_weights(d: Dimensions, latent: LatentAttention) -> int:
    hidden, heads = d.hidden_size, d.attention_heads
    query = heads * (latent.nope_dim + latent.rope_dim)
    queries = hidden * query if latent.q_rank is None else hidden * latent.q_rank + latent.q_rank + latent.q_rank * query
    down = hidden * (latent.kv_rank + latent.rope_dim) + latent.kv_rank
    up = latent.kv_rank * heads * (latent.nope_dim + latent.v_dim)
    return queries + down + up + heads * latent.v_dim * hidden


def mlp_weights(d: Dimensions, width: int) -> int:
    """Weights of one MLP of ``width``: gate, up and down when gated, else up and down."""
    matrices = 3 if d.gated_mlp else 2
    weights = matrices * d.hidden_size * width
    return weights + ((matrices - 1) * width + d.hidden_size if d.mlp_bias else 0)


def _expert_weights(d: Dimensions, experts: Experts, used: int) -> int:
    """Weights of one expert layer when ``used`` of its routed experts count."""
    matrices = 3 if d.gated_mlp else 2
    one = matrices * d.hidden_size * experts.ffn_size
    if experts.bias:
        one += (matrices - 1) * experts.ffn_size + d.hidden_size
    router = d.hidden_size * experts.count + (experts.count if experts.router_bias else 0)
    shared = matrices * d.hidden_size * experts.shared_ffn_size + (d.hidden_size if experts.shared_gate else 0)
    return used * one + router + shared


def _adapter_widths(d: Dimensions) -> int:
    """Sum of (in + out) over every linear layer inside the stacks, experts and cross-attention included, router and head not."""
    hidden, heads = d.hidden_size, d.attention_heads
    if d.latent is None:
        per_layer = 2 * (hidden + heads * d.head_dim) + 2 * (hidden + d.kv_heads * d.head_dim)
    else:
        latent = d.latent
        query = heads * (latent.nope_dim + latent.rope_dim)
        queries = hidden + query if latent.q_rank is None else hidden + 2 * latent.q_rank + query
        keys = hidden + latent.kv_rank + latent.rope_dim + latent.kv_rank + heads * (latent.nope_dim + latent.v_dim)
        per_layer = queries + keys + heads * latent.v_dim + hidden
    matrices = 3 if d.gated_mlp else 2
    stacks = d.layers + d.decoder_layers
    widths = (stacks + d.decoder_layers) * per_layer
    expert_layers = 0 if d.experts is None else d.experts.layers
    widths += (stacks - expert_layers) * matrices * (hidden + d.ffn_size)
    if d.experts is not None:
        widths += expert_layers * d.experts.count * matrices * (hidden + d.experts.ffn_size)
        if d.experts.shared_ffn_size:
            widths += expert_layers * matrices * (hidden + d.experts.shared_ffn_size)
    return widths


def count(d: Dimensions) -> Counts:
    """Count the weights of a network of these dimensions.

    ``active`` counts every weight a token can touch, both embedding matrices included.
    """
    norm = norm_weights(d.norm, d.hidden_size)
    attention = attention_weights(d)
    stacks = d.layers + d.decoder_layers
    body = stacks * (attention + d.norms_per_layer * norm) + d.decoder_layers * (attention + norm)
    expert_layers = 0 if d.experts is None else d.experts.layers
    body += (stacks - expert_layers) * mlp_weights(d, d.ffn_size)
    body += (d.final_norms + d.embedding_norms) * norm + d.extra_parameters
    embedding = (d.vocabulary_size + d.learned_positions) * d.hidden_size + d.extra_embedding
    outputs = d.vocabulary_size if d.head_outputs is None else d.head_outputs
    head = 0 if d.tied_embeddings else outputs * d.hidden_size
    rest = body + embedding + head + (outputs if d.lm_head_bias else 0)
    if d.experts is None:
        return Counts(total=rest, active=rest, embedding=embedding, head=head, adapter_widths=_adapter_widths(d))
    total = rest + expert_layers * _expert_weights(d, d.experts, d.experts.count)
    active = rest + expert_layers * _expert_weights(d, d.experts, d.experts.per_token)
    return Counts(total=total, active=active, embedding=embedding, head=head, adapter_widths=_adapter_widths(d))


def shape_of(
    name: str,
    d: Dimensions,
    *,
    source: str = "",
    assumptions: tuple[str, ...] = (),
    parameters: float | None = None,
    active_parameters: float | None = None,
) -> ModelShape:
    """The shape that memory and speed work with; stated ``parameters`` and ``active_parameters`` replace the counts."""
    counts = count(d)
    if d.latent is None:
        score_width = float(d.attention_heads * d.head_dim)
    else:
        score_width = d.attention_heads * (d.latent.nope_dim + d.latent.rope_dim + d.latent.v_dim) / 2
    experts = d.experts
    stacks = d.layers + d.decoder_layers
    return ModelShape(
        name=name,
        parameters=float(counts.total) if parameters is None else parameters,
        active_parameters=float(counts.active) if active_parameters is None else active_parameters,
        layers=stacks,
        hidden_size=d.hidden_size,
        attention_heads=d.attention_heads,
        kv_heads=d.kv_heads,
        head_dim=d.head_dim,
        ffn_size=d.ffn_size,
        vocabulary_size=d.vocabulary_size,
        tied_embeddings=d.tied_embeddings,
        gated_mlp=d.gated_mlp,
        rms_norm=d.norm == "rmsnorm",
        embedding_parameters=float(counts.embedding),
        head_parameters=float(counts.head),
        score_width=score_width,
        experts=0 if experts is None else experts.count,
        experts_per_token=0 if experts is None else experts.per_token,
        shared_experts=0 if experts is None else -(-experts.shared_ffn_size // experts.ffn_size),
        moe_layers=0 if experts is None else experts.layers,
        moe_ffn_size=0 if experts is None else experts.ffn_size,
        sliding_window=d.sliding_window,
        sliding_share=d.sliding_share,
        max_position=d.max_position,
        causal=d.causal,
        adapter_widths=float(counts.adapter_widths),
        source=source,
        assumptions=assumptions,
    )


def patch_stem_weights(hidden: int, patch: int, channels: int) -> int:
    """The convolution that turns image patches into vectors (ViT), with bias."""
    return channels * patch * patch * hidden + hidden


def audio_stem_weights(hidden: int, mel_bins: int) -> int:
    """Whisper's two convolutions of width 3 over mel frames, with biases."""
    return 3 * mel_bins * hidden + hidden + 3 * hidden * hidden + hidden


def pooler_weights(hidden: int) -> int:
    """BERT's dense layer over the first token, with bias."""
    return hidden * hidden + hidden


def relative_position_weights(buckets: int, heads: int, stacks: int) -> int:
    """T5's table of biases by distance bucket and head, one a stack."""
    return buckets * heads * stacks
