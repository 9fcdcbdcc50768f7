"""Sizes, biases, norms, experts and windows of a ``config.json``: what each layer holds."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.counting import Dimensions, LatentAttention, Norm, QkNorm
from app.domain.hf_families import Family
from app.domain.hf_fields import Fields
from app.domain.limits import MAX_FFN, MAX_HEADS, MAX_LAYERS, MAX_POSITIONS, MAX_VOCABULARY, MAX_WIDTH
from app.domain.workload import WorkloadError

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "depth")
_HIDDEN = ("hidden_size", "n_embd", "d_model", "n_embed", "dim", "embed_dim", "model_dim")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads", "attention_heads")
_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "num_query_groups", "multi_query_group_num", "kv_n_heads")
_HEAD_DIM = ("head_dim", "kv_channels", "d_kv", "d_head")
_FFN = (
    "intermediate_size",
    "ffn_hidden_size",
    "n_inner",
    "ffn_dim",
    "d_ff",
    "encoder_ffn_dim",
    "inner_hidden_size",
    "mlp_hidden_size",
    "hidden_dim",
)
_VOCABULARY = ("vocab_size", "n_vocab")
_POSITIONS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_sequence_length",
    "max_target_positions",
    "seq_length",
    "n_ctx",
)
_GATED_ACTIVATIONS = ("silu", "swish", "glu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The plain sizes of a file. ``positions`` None: not stated."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    gated: bool
    positions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionParts:
    """Biases and norms of a layer."""

    qkv_bias: bool
    o_bias: bool
    mlp_bias: bool
    qk_norm: QkNorm


def read_sizes(fields: Fields, family: Family, known: str | None, said: list[str]) -> Sizes:
    """All sizes, by whichever name the file uses; defaults of the family are said.

    Raises:
        WorkloadError: layers, width, heads or vocabulary are missing, or a size is out of limits.
    """
    hidden = _needed(fields, _HIDDEN, MAX_WIDTH)
    layers = _needed(fields, _LAYERS, MAX_LAYERS)
    heads = _sized(fields, family, "attention_heads", _HEADS, MAX_HEADS, said)
    if heads > hidden:
        pointer = f"{fields.pointer}/{next(name for name in _HEADS if fields.has(name))}" if fields.has(*_HEADS) else fields.pointer
        raise WorkloadError(
            pointer=pointer, code="contradiction", detail=f"{heads} attention heads do not fit into a hidden size of {hidden}."
        )
    vocabulary = _vocabulary(fields, family, known, said)
    gated = _gated(fields, family, said)
    head_dim = fields.integer(*_HEAD_DIM, most=MAX_WIDTH) or family.defaults.get("head_dim")
    if head_dim is None:
        head_dim = hidden // heads
        if hidden % heads:
            said.append(f"Hidden size {hidden} is no multiple of {heads} heads: heads of {head_dim} are assumed.")
    return Sizes(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(fields, family, known, heads),
        head_dim=head_dim,
        ffn=_ffn(fields, family, known, hidden, gated=gated, said=said),
        vocabulary=vocabulary,
        gated=gated,
        positions=_positions(fields),
    )


def _needed(fields: Fields, names: tuple[str, ...], most: int) -> int:
    value = fields.integer(*names, most=most)
    if value is None:
        detail = f"{names[0]} is missing. Add it as a whole number from 1 to {most} ({', '.join(names[1:4])} are understood too)."
        raise WorkloadError(pointer=f"{fields.pointer}/{names[0]}", code="missing_field", detail=detail)
    return value


def _sized(fields: Fields, family: Family, size: str, names: tuple[str, ...], most: int, said: list[str]) -> int:
    value = fields.integer(*names, most=most)
    default = family.defaults.get(size)
    if value is None and default is not None:
        said.append(f"{names[0]} not given: {default}, the family's default.")
        return default
    return _needed(fields, names, most) if value is None else value


def _vocabulary(fields: Fields, family: Family, known: str | None, said: list[str]) -> int:
    if family.defaults.get("vocabulary_size") == 0:
        return 0
    padded = "embedding_size" if known in {"olmo", "llada"} else "padded_vocab_size"
    rows = fields.integer(padded, most=MAX_VOCABULARY)
    return _sized(fields, family, "vocabulary_size", _VOCABULARY, MAX_VOCABULARY, said) if rows is None else rows


def _positions(fields: Fields) -> int | None:
    stated = [fields.integer(*_POSITIONS, most=MAX_POSITIONS), fields.integer("model_max_length", most=10**40)]
    return max((value for value in stated if value is not None and value <= MAX_POSITIONS), default=None)


def _gated(fields: Fields, family: Family, said: list[str]) -> bool:
    activation = fields.text("hidden_act", "activation_function", "hidden_activation", "activation_type", "activation")
    if family.gated is not None:
        return family.gated
    if activation is None:
        if family.reading == "decoder":
            said.append("hidden_act not given: a gated MLP of three matrices is assumed.")
        return True
    gated = any(mark in activation.lower() for mark in _GATED_ACTIVATIONS)
    if family.reading == "decoder":
        said.append(f"The MLP is taken as {'gated (three matrices)' if gated else 'plain (two matrices)'}, from {activation[:40]!r}.")
    return gated


def _kv_heads(fields: Fields, family: Family, known: str | None, heads: int) -> int:
    """Key and value heads. Falcon's two flags and multi-query files name them otherwise; silence means one for each query head."""
    stated = fields.integer(*_KV_HEADS, most=MAX_HEADS)
    if known in {"falcon", "refinedweb", "refinedwebmodel"}:
        grouped = fields.flag("new_decoder_architecture") or (known == "refinedweb" and stated is not None)
        if not grouped:
            return heads if fields.flag("multi_query") is False else 1
    attention = fields.nested("attn_config")
    if stated is None and attention is not None:
        stated = attention.integer("kv_n_heads", most=MAX_HEADS)
        if stated is None and attention.text("attn_type") == "multiquery_attention":
            stated = 1
    if stated is None and (known == "gpt_bigcode" or fields.has("multi_query", "multi_query_attention")):
        stated = heads if (fields.flag("multi_query", "multi_query_attention") is False) else 1
    value = stated or family.defaults.get("kv_heads") or heads
    if value > heads:
        pointer = next((f"{fields.pointer}/{name}" for name in _KV_HEADS if fields.has(name)), fields.pointer)
        raise WorkloadError(
            pointer=pointer, code="contradiction", detail=f"There cannot be more key/value heads ({value}) than attention heads ({heads})."
        )
    return value


def _ffn(fields: Fields, family: Family, known: str | None, hidden: int, *, gated: bool, said: list[str]) -> int:
    """MLP width. Qwen 1 and OLMo's native files state twice the true one; nulls mean four times the hidden size."""
    part = fields.nested("ffn_config")
    width = fields.integer(*_FFN, most=MAX_FFN) or (part.integer("ffn_hidden_size", most=MAX_FFN) if part is not None else None)
    width = width or family.defaults.get("ffn_size")
    doubled = known == "qwen" or (known in {"olmo", "llada"} and fields.text("activation_type") == "swiglu")
    if width is None:
        ratio = fields.number("mlp_ratio", "expansion_ratio", most=1_000)
        if ratio is not None:
            width = max(1, round(ratio * hidden))
        elif gated and known is None:
            said.append("intermediate_size not given: 8/3 of the hidden size is assumed.")
            width = max(1, round(hidden * 8 / 3))
        else:
            width = 4 * hidden
    return max(1, width // 2) if doubled else width


def attention_parts(fields: Fields, family: Family, said: list[str]) -> AttentionParts:
    """Biases of a layer's matrices and the norms on queries and keys."""
    without = fields.flag("no_bias")
    general = fields.flag("use_bias", "add_bias_linear", "include_bias", "bias") if without is None else not without
    attention = fields.flag("attention_bias")
    queries = fields.flag("add_qkv_bias", "use_qkv_bias", "include_qkv_bias", "qkv_bias")

    def first(*options: bool | None) -> bool:
        return next((option for option in options if option is not None), False)

    stated = fields.flag("use_qk_norm", "qk_layernorm", "qk_norm")
    if stated is None:
        qk_norm = family.qk_norm or "none"
    else:
        qk_norm = (family.qk_norm or family.qk_norm_kind) if stated else "none"
        if stated and family.norm is None:
            said.append("Query and key norms are taken as one vector of head width each.")
    return AttentionParts(
        qkv_bias=family.qkv_bias_always or first(queries, attention, general, family.qkv_bias),
        o_bias=first(attention if family.bias_reaches_o else None, general, family.o_bias),
        mlp_bias=first(fields.flag("mlp_bias"), general if family.bias_reaches_mlp else None, family.mlp_bias),
        qk_norm=qk_norm,
    )


def _norm(fields: Fields, family: Family, known: str | None, said: list[str]) -> Norm:
    kind = fields.text("layer_norm_type", "norm_type", "normalization_type")
    if known in {"olmo", "llada"} and kind is not None:
        if kind in {"rms", "rmsnorm"}:
            return "rmsnorm"
        return "layernorm" if fields.flag("layer_norm_with_affine") else "none"
    if known == "mpt":
        if kind is not None and "rms" in kind:
            return "rmsnorm"
        return "layernorm_nobias" if fields.flag("no_bias") else "layernorm"
    if known == "stablelm" and fields.flag("qk_layernorm"):
        return "layernorm_nobias"
    if known == "chatglm" and fields.flag("rmsnorm") is False:
        return "layernorm"
    if family.norm is not None:
        return family.norm
    plain = fields.has("layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon") and not fields.has("rms_norm_eps")
    said.append(f"Norms are taken as {'LayerNorm' if plain else 'RMSNorm'}, from the file's fields.")
    return "layernorm" if plain else "rmsnorm"


def _norms_per_layer(fields: Fields, family: Family, known: str | None) -> int:
    """Norms a layer. Parallel attention and MLP share one, unless Falcon's newer layout gives each its own."""
    if known in {"falcon", "refinedweb", "refinedwebmodel"}:
        newer = fields.flag("new_decoder_architecture") or (known == "refinedweb" and fields.has("n_head_kv"))
        return 1 if not newer and fields.flag("parallel_attn") is not False else 2
    if known == "stablelm" and fields.flag("use_parallel_residual"):
        return 1
    return family.norms_per_layer


def dimensions_of(fields: Fields, family: Family, known: str | None, sizes: Sizes, *, tied: bool, said: list[str]) -> Dimensions:
    """The dimensions of a stack without its experts."""
    parts = attention_parts(fields, family, said)
    norm = _norm(fields, family, known, said)
    table = _position_table(fields, family, known, sizes, said)
    return Dimensions(
        layers=sizes.layers,
        hidden_size=sizes.hidden,
        attention_heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        ffn_size=sizes.ffn,
        vocabulary_size=sizes.vocabulary,
        tied_embeddings=tied,
        gated_mlp=sizes.gated,
        norm=norm,
        norms_per_layer=_norms_per_layer(fields, family, known),
        qkv_bias=parts.qkv_bias,
        o_bias=parts.o_bias,
        mlp_bias=parts.mlp_bias,
        lm_head_bias=first_flag(fields.flag("lm_head_bias"), default=family.lm_head_bias),
        qk_norm=parts.qk_norm,
        attention_sinks=family.sinks,
        learned_positions=table,
        embedding_norms=family.embedding_norms,
        latent=_latent(fields),
        max_position=sizes.positions,
        causal=family.causal,
    )


def _position_table(fields: Fields, family: Family, known: str | None, sizes: Sizes, said: list[str]) -> int:
    """Rows of a learned position table; MPT has one unless it uses ALiBi."""
    attention = fields.nested("attn_config")
    learned = family.positions
    if known == "mpt":
        learned = fields.flag("learned_pos_emb") is not False and not (attention is not None and attention.flag("alibi", "rope"))
    if not learned:
        return 0
    if sizes.positions is None:
        said.append(f"{_POSITIONS[0]} not given: the position table is not counted.")
        return 0
    return sizes.positions + family.position_offset


def first_flag(stated: bool | None, *, default: bool) -> bool:  # noqa: FBT001 - a stated flag or its default
    """``stated`` unless it is None."""
    return default if stated is None else stated


def _latent(fields: Fields) -> LatentAttention | None:
    rank = fields.integer("kv_lora_rank", most=MAX_WIDTH)
    if rank is None:
        return None
    return LatentAttention(
        q_rank=fields.integer("q_lora_rank", most=MAX_WIDTH),
        kv_rank=rank,
        nope_dim=_needed(fields, ("qk_nope_head_dim",), MAX_WIDTH),
        rope_dim=_needed(fields, ("qk_rope_head_dim",), MAX_WIDTH),
        v_dim=_needed(fields, ("v_head_dim",), MAX_WIDTH),
    )
