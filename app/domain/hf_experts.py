"""Experts and sliding windows of a ``config.json``."""

from __future__ import annotations

from app.domain.counting import Experts
from app.domain.hf_families import Family
from app.domain.hf_fields import Fields, whole
from app.domain.hf_layers import Sizes
from app.domain.limits import MAX_EXPERTS, MAX_FFN, MAX_LAYERS, MAX_POSITIONS
from app.domain.workload import WorkloadError

_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts")
_PER_TOKEN = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_top_k",
    "moe_topk",
    "moe_k",
    "num_selected_experts",
)
_EXPERT_FFN = ("moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size", "expert_ffn_hidden_size")
_SHARED = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
_SHARED_FFN = ("shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size")
_SLIDING_KINDS = ("sliding_attention", "chunked_attention", "sliding", "local")


def experts_of(fields: Fields, family: Family, sizes: Sizes) -> Experts | None:
    """The experts, or None for a dense model (no such field, or at most one expert).

    Raises:
        WorkloadError: experts a token are missing or more than there are, or a field has a wrong type or size.
    """
    part = fields.nested("ffn_config") or fields
    holder = part if part.has(*_EXPERTS) else fields
    experts = holder.integer(*_EXPERTS, most=MAX_EXPERTS, least=0)
    if experts is None or experts <= 1:
        return None
    used = holder.integer(*_PER_TOKEN, most=MAX_EXPERTS)
    if used is None:
        detail = f"num_experts_per_tok is missing: add how many of the {experts} experts a token uses."
        raise WorkloadError(pointer=f"{fields.pointer}/num_experts_per_tok", code="missing_field", detail=detail)
    if used > experts:
        pointer = f"{holder.pointer}/{next(name for name in _PER_TOKEN if holder.has(name))}"
        raise WorkloadError(pointer=pointer, code="contradiction", detail=f"A token cannot use {used} of {experts} experts.")
    width = fields.integer(*_EXPERT_FFN, most=MAX_FFN) or sizes.ffn
    layers = _expert_layers(fields, sizes.layers)
    if layers == 0:
        return None
    shared = fields.integer(*_SHARED_FFN, most=MAX_FFN, least=0)
    if shared is None:
        count = fields.integer(*_SHARED, most=MAX_EXPERTS, least=0)
        shared = (family.shared_experts if count is None else count) * width
    return Experts(
        count=experts,
        per_token=used,
        ffn_size=width,
        layers=layers,
        shared_ffn_size=shared,
        shared_gate=family.shared_gate and shared > 0,
        router_bias=family.router_bias,
        bias=family.expert_bias,
    )


def _expert_layers(fields: Fields, layers: int) -> int:
    """How many layers hold experts: after the first dense ones, every n-th, without those listed as dense."""
    first = fields.integer("first_k_dense_replace", "moe_layer_start_index", most=MAX_LAYERS, least=0) or 0
    step = fields.integer("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", "expert_interval", most=MAX_LAYERS) or 1
    dense = set(_layer_list(fields, "mlp_only_layers") or ())
    listed = _layer_list(fields, "moe_layers")
    pattern = fields.raw("moe_layer_freq")[0]
    if isinstance(pattern, (list, tuple)):
        flags = _layer_list(fields, "moe_layer_freq") or []
        return sum(1 for flag in flags[:layers] if flag)
    frequency = fields.integer("moe_layer_freq", most=MAX_LAYERS) or 1
    if listed is not None:
        return len({index for index in listed if index < layers})
    return sum(1 for i in range(first, layers) if (i + 1) % step == 0 and i % frequency == 0 and i not in dense)


def _layer_list(fields: Fields, name: str) -> list[int] | None:
    values = fields.items(name)
    if values is None:
        return None
    return [whole(value, f"{fields.pointer}/{name}/{index}", most=MAX_LAYERS, least=0) for index, value in enumerate(values)]


def window_of(fields: Fields, family: Family, sizes: Sizes) -> tuple[int | None, float]:
    """The sliding window (None when there is none) and the share of layers that use it."""
    switch = fields.flag("use_sliding_window")
    if switch is False or (family.window_by_flag and not switch):
        return None, 1.0
    window = fields.integer("sliding_window", "sliding_window_size", "attention_chunk_size", "window_size", most=MAX_POSITIONS)
    if window is None:
        return None, 1.0
    kinds = fields.items("layer_types")
    letters = fields.raw("sliding_window_pattern")[0]
    if isinstance(letters, str) and letters:
        share = letters.count("L") / len(letters)
    elif kinds:
        share = sum(1 for kind in kinds if isinstance(kind, str) and kind in _SLIDING_KINDS) / len(kinds)
    elif switch and fields.has("max_window_layers"):
        first = fields.integer("max_window_layers", most=MAX_LAYERS, least=0) or 0
        share = max(0, sizes.layers - first) / sizes.layers
    else:
        every = fields.integer("sliding_window_pattern", "_sliding_window_pattern", most=MAX_LAYERS) or family.window_every
        share = 1 - (sizes.layers // every) / sizes.layers if every > 1 else 1.0
    return (window, share) if share > 0 else (None, 1.0)
