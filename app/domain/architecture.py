"""A whole shape from the few dimensions that a caller gives: ``parameters_b`` alone is enough; every inference is said."""

from __future__ import annotations

import math
from dataclasses import replace

from app.domain.counting import Dimensions, Experts, count, shape_of
from app.domain.limits import (
    MAX_EXPERTS,
    MAX_FFN,
    MAX_HEADS,
    MAX_LAYERS,
    MAX_PARAMETERS,
    MAX_VOCABULARY,
    MAX_WIDTH,
    optional,
    positive,
)
from app.domain.llm import ModelShape
from app.domain.workload import Architecture, WorkloadError

_PLACE = "/model"
_SMALL = 1e9
_TIED_BELOW = 4e9
"""Llama 3.2, Qwen 2.5 and Gemma share the two matrices in their models below about 4 B and not above (Gemma apart)."""
_SMALL_VOCABULARY = 50_304
"""GPT-2's 50,257, padded."""
_VOCABULARY = 128_256
"""Llama 3's."""
_TOY_WEIGHTS_A_TOKEN = 384
"""A smaller vocabulary for toy models: at a width of 128 its matrix is a third of the weights."""
_ASPECT_AT_125M = 64.0
_ASPECT_POWER = 0.17
_MOST_ASPECT = 128.0
"""Width over depth: 768/12 at 125 M and 12288/96 at 175 B (GPT-3, arXiv:2005.14165, table 2.1), 4096/32 at 7 B (LLaMA), a power between."""
_WIDTH_STEPS = ((256, 1), (1024, 64), (4096, 512), (math.inf, 1024))
"""Widths come in multiples that hardware and eight key/value groups like: up to a width, the step."""
_HEAD_WIDTHS = (128, 64, 96, 80, 112, 160, 32)
_FFN_RATIO = 3.0
"""Gated MLP over hidden size, between LLaMA's 2.7 and Llama 3's 3.5; made exact when nothing else is left to choose."""
_WIDE_HEADS_FROM = 2048
_KV_GROUPS = 8
"""Of Llama 3, Mistral and Qwen."""
_FEW_EXPERTS = 16
_GROSS_MISMATCH = 2.0


def infer_shape(architecture: Architecture) -> ModelShape:
    """The shape of a decoder-only transformer that has the given dimensions and the stated number of parameters.

    What is missing follows published models: width over depth, grouped key/value heads, a gated MLP as wide as makes the count come out.
    The stated ``parameters_b`` and ``active_parameters_b`` are kept exactly.

    Raises:
        WorkloadError: a number is outside its limits, or the dimensions contradict the stated parameters.
    """
    _check(architecture)
    said: list[str] = []
    total = architecture.parameters_b * 1e9
    active = None if architecture.active_parameters_b is None else architecture.active_parameters_b * 1e9
    sparse = (architecture.experts or 1) > 1 or (active is not None and active < total)
    working = active if active is not None else total
    if sparse and active is None:
        working = total / 4
    vocabulary, tied = _embeddings(architecture, working, said)
    layers, hidden = _depth_and_width(architecture, working, vocabulary, tied=tied, said=said)
    heads, kv_heads = _heads(architecture, hidden, said)
    base = Dimensions(
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        kv_heads=kv_heads,
        head_dim=max(1, hidden // heads),
        ffn_size=1,
        vocabulary_size=vocabulary,
        tied_embeddings=tied,
    )
    dimensions = _with_experts(architecture, base, total, active, said) if sparse else _with_mlp(architecture, base, total, said)
    if not sparse:
        active = total
    elif active is None:
        counts = count(dimensions)
        active = total * counts.active / counts.total
        said.append(f"Active parameters not given: {active / 1e9:.4g} B, from {_uses(dimensions)} experts a token.")
    shape = shape_of(
        f"{architecture.parameters_b:g}B transformer",
        dimensions,
        source="stated dimensions",
        assumptions=tuple(said),
        parameters=total,
        active_parameters=active,
    )
    if shape.flops_parameters <= 0:
        place = "parameters_b" if architecture.active_parameters_b is None else "active_parameters_b"
        matrix = f"The input matrix alone has {shape.embedding_parameters:.4g} parameters, as many as are active."
        detail = f"{matrix} Raise {place} or lower the vocabulary."
        raise WorkloadError(pointer=f"{_PLACE}/{place}", code="contradiction", detail=detail)
    return shape


def _check(a: Architecture) -> None:
    positive(a.parameters_b, f"{_PLACE}/parameters_b", MAX_PARAMETERS / 1e9)
    if a.parameters_b * 1e9 < 1:
        raise WorkloadError(
            pointer=f"{_PLACE}/parameters_b",
            code="out_of_range",
            detail="A network has at least one parameter; parameters_b is in billions.",
        )
    optional(a.layers, f"{_PLACE}/layers", MAX_LAYERS)
    optional(a.hidden_size, f"{_PLACE}/hidden_size", MAX_WIDTH)
    optional(a.attention_heads, f"{_PLACE}/attention_heads", MAX_HEADS)
    optional(a.kv_heads, f"{_PLACE}/kv_heads", MAX_HEADS)
    optional(a.vocabulary_size, f"{_PLACE}/vocabulary_size", MAX_VOCABULARY)
    optional(a.ffn_size, f"{_PLACE}/ffn_size", MAX_FFN)
    optional(a.active_parameters_b, f"{_PLACE}/active_parameters_b", MAX_PARAMETERS / 1e9)
    optional(a.experts, f"{_PLACE}/experts", MAX_EXPERTS)
    if a.active_parameters_b is not None and a.active_parameters_b > a.parameters_b:
        detail = f"{a.active_parameters_b:g} B parameters cannot be active in a model of {a.parameters_b:g} B. Swap them, or leave it out."
        raise WorkloadError(pointer=f"{_PLACE}/active_parameters_b", code="contradiction", detail=detail)
    if a.kv_heads is not None and a.attention_heads is not None and a.kv_heads > a.attention_heads:
        detail = f"There cannot be more key/value heads ({a.kv_heads}) than attention heads ({a.attention_heads})."
        raise WorkloadError(pointer=f"{_PLACE}/kv_heads", code="contradiction", detail=detail)
    if a.hidden_size is not None and a.kv_heads is not None and a.kv_heads > a.hidden_size:
        detail = f"{a.kv_heads} key/value heads do not fit into a hidden size of {a.hidden_size}."
        raise WorkloadError(pointer=f"{_PLACE}/kv_heads", code="contradiction", detail=detail)
    if a.hidden_size is not None and a.attention_heads is not None and a.attention_heads > a.hidden_size:
        detail = f"{a.attention_heads} attention heads do not fit into a hidden size of {a.hidden_size}."
        raise WorkloadError(pointer=f"{_PLACE}/attention_heads", code="contradiction", detail=detail)


def _embeddings(a: Architecture, working: float, said: list[str]) -> tuple[int, bool]:
    """Vocabulary size, and whether input and output share one matrix."""
    vocabulary = a.vocabulary_size
    if vocabulary is None:
        vocabulary = _VOCABULARY if working >= _SMALL else max(1, min(_SMALL_VOCABULARY, int(working / _TOY_WEIGHTS_A_TOKEN)))
        said.append(f"Vocabulary not given: {vocabulary} tokens are assumed.")
    return vocabulary, working < _TIED_BELOW


def _body(working: float, vocabulary: int, hidden: float, *, tied: bool) -> float:
    """Weights left for the layers; at least a tenth, whatever the vocabulary."""
    return max(working - vocabulary * hidden * (1 if tied else 2), working / 10)


def _per_layer(hidden: float, ffn: float | None) -> float:
    """Weights of one layer: about 2.5·h² of attention with grouped keys, and a gated MLP."""
    return 2.5 * hidden * hidden + 3 * hidden * (_FFN_RATIO * hidden if ffn is None else ffn)


def _depth_and_width(a: Architecture, working: float, vocabulary: int, *, tied: bool, said: list[str]) -> tuple[int, int]:
    """Layers and hidden size; what is not given makes the count come out at the usual proportions."""
    ffn = None if a.experts is not None else a.ffn_size
    if a.layers is not None and a.hidden_size is not None:
        return a.layers, a.hidden_size
    if a.hidden_size is not None:
        layers = _body(working, vocabulary, a.hidden_size, tied=tied) / _per_layer(a.hidden_size, ffn)
        depth = max(1, min(MAX_LAYERS, round(layers)))
        said.append(f"Layers not given: {depth}, from the parameters and the hidden size.")
        return depth, a.hidden_size
    aspect = min(_MOST_ASPECT, max(1.0, _ASPECT_AT_125M * (working / 125e6) ** _ASPECT_POWER))

    def weights(hidden: float) -> float:
        depth = float(a.layers) if a.layers is not None else max(1.0, hidden / aspect)
        return depth * _per_layer(hidden, ffn) - _body(working, vocabulary, hidden, tied=tied)

    low, high = 1.0, float(MAX_WIDTH)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if weights(middle) < 0 else (low, middle)
    step = next(step for bound, step in _WIDTH_STEPS if low <= bound)
    hidden = max(1, round(low / step)) * step
    if a.attention_heads is not None and hidden % a.attention_heads:
        hidden = max(1, round(hidden / a.attention_heads)) * a.attention_heads
    if a.layers is not None:
        said.append(f"Hidden size not given: {hidden}, from the parameters and the layers.")
        return a.layers, hidden
    depth = max(1, min(MAX_LAYERS, round(_body(working, vocabulary, hidden, tied=tied) / _per_layer(hidden, ffn))))
    said.append(f"Layers and hidden size not given: {depth} and {hidden}, the proportions of published models.")
    return depth, hidden


def _heads(a: Architecture, hidden: int, said: list[str]) -> tuple[int, int]:
    heads = a.attention_heads
    if heads is None:
        widths = _HEAD_WIDTHS if hidden >= _WIDE_HEADS_FROM else _HEAD_WIDTHS[1:]
        width = next((width for width in widths if hidden % width == 0), widths[0])
        heads = max(1, hidden // width, a.kv_heads or 1)
        said.append(f"Attention heads not given: {heads}, each {max(1, hidden // heads)} wide.")
    kv_heads = a.kv_heads
    if kv_heads is None:
        kv_heads = _KV_GROUPS if heads % _KV_GROUPS == 0 else heads
    return heads, kv_heads


def _with_mlp(a: Architecture, base: Dimensions, total: float, said: list[str]) -> Dimensions:
    """The MLP of a dense model: as given (gated or plain, whichever fits better), else as wide as the count leaves."""
    if a.ffn_size is None:
        rest = total - count(replace(base, ffn_size=0)).total
        ffn = max(1, min(MAX_FFN, round(rest / (3 * base.hidden_size * base.layers))))
        said.append(f"MLP width not given: {ffn} (gated), as wide as the parameters leave.")
        dimensions = replace(base, ffn_size=ffn)
    else:
        groups = (base.kv_heads,) if a.kv_heads is not None else tuple(dict.fromkeys((base.kv_heads, base.attention_heads)))
        options = [
            replace(base, ffn_size=a.ffn_size, gated_mlp=gated, tied_embeddings=tied, kv_heads=kv_heads)
            for gated in (True, False)
            for tied in (base.tied_embeddings, not base.tied_embeddings)
            for kv_heads in groups
        ]
        dimensions = min(options, key=lambda option: abs(count(option).total - total))
        said.append(f"The MLP is taken as {'gated' if dimensions.gated_mlp else 'plain'}, which fits the parameters best.")
    _say_open_choices(a, dimensions, said)
    _compare(a, count(dimensions).total, total, said)
    return dimensions


def _say_open_choices(a: Architecture, dimensions: Dimensions, said: list[str]) -> None:
    matrices = "one and the same" if dimensions.tied_embeddings else "two"
    said.append(f"Input and output matrices are assumed to be {matrices}.")
    if a.kv_heads is None:
        said.append(f"Key/value heads not given: {dimensions.kv_heads} are assumed.")


def _with_experts(a: Architecture, base: Dimensions, total: float, active: float | None, said: list[str]) -> Dimensions:
    """Experts in every layer, as wide as total and active parameters ask for."""
    outside = count(replace(base, ffn_size=0)).total
    pool = max(total - outside, total / 10)
    experts = a.experts
    if experts is None:
        used = 8
        share = max((active or total) - outside, total / 1000) / pool
        experts = max(used + 1, min(MAX_EXPERTS, round(used / min(1.0, share))))
        said.append(f"Experts not given: {experts} with {used} a token, from the active parameters.")
    else:
        used = _used_experts(experts, pool, outside, active)
        said.append(f"Experts a token not given: {used} of {experts} are assumed.")
    width = a.ffn_size
    if width is None:
        width = max(1, min(MAX_FFN, round(pool / (3 * base.hidden_size * base.layers * experts))))
        said.append(f"Width of one expert not given: {width}, from the total parameters.")
    dimensions = replace(base, ffn_size=width, experts=Experts(count=experts, per_token=used, ffn_size=width, layers=base.layers))
    _say_open_choices(a, dimensions, said)
    _compare(a, count(dimensions).total, total, said)
    return dimensions


def _used_experts(experts: int, pool: float, outside: float, active: float | None) -> int:
    """Experts a token: from the active parameters, else two of few and eight of many (Mixtral; DeepSeek, Qwen 3)."""
    if active is None:
        return min(experts, 2 if experts <= _FEW_EXPERTS else 8)
    return max(1, min(experts, round((active - outside) / (pool / experts))))


def _uses(dimensions: Dimensions) -> int:
    return 0 if dimensions.experts is None else dimensions.experts.per_token


def _compare(a: Architecture, counted: int, stated: float, said: list[str]) -> None:
    """Say when the dimensions give another count than stated; refuse when they cannot both be true."""
    ratio = counted / stated
    given = any(getattr(a, size) is not None for size in ("layers", "hidden_size", "vocabulary_size", "ffn_size"))
    if given and not 1 / _GROSS_MISMATCH <= ratio <= _GROSS_MISMATCH:
        detail = (
            f"The given dimensions make about {counted / 1e9:.4g} B parameters, not {a.parameters_b:g} B. "
            "Correct parameters_b (it is in billions), or leave out the dimensions you are not sure of."
        )
        raise WorkloadError(pointer=f"{_PLACE}/parameters_b", code="contradiction", detail=detail)
    if abs(ratio - 1) > 0.01:  # noqa: PLR2004 - one per cent is what the presets are held to
        said.append(f"The dimensions make {counted / 1e9:.4g} B parameters; the stated {a.parameters_b:g} B are used.")
