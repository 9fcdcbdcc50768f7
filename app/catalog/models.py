"""The model presets that ship with the software (app/data/models.csv)."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import cast

from app.domain.counting import (
    Dimensions,
    Experts,
    LatentAttention,
    Norm,
    QkNorm,
    audio_stem_weights,
    patch_stem_weights,
    pooler_weights,
    relative_position_weights,
    shape_of,
)
from app.domain.llm import ModelShape

_FILE = Path(__file__).resolve().parents[1] / "data" / "models.csv"
_NORMS: Mapping[str, Norm] = {"rmsnorm": "rmsnorm", "layernorm": "layernorm", "layernorm-nobias": "layernorm_nobias", "none": "none"}
_QK_NORMS: Mapping[str, QkNorm] = {"one vector of head_dim each": "head", "full width": "full"}
_IMAGE_CHANNELS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetRow:
    """A preset as shown in a list: its shape and where its figures come from. Published counts are in billions."""

    shape: ModelShape
    hf_id: str
    family: str
    architecture_class: str
    year: int
    params_published_b: float
    active_published_b: float | None
    active_convention: str | None
    source: str
    note: str


def load_presets() -> Mapping[str, ModelShape]:
    """Shapes of all presets by name, in order of name. Read once a process."""
    return _presets()


def preset_rows() -> tuple[PresetRow, ...]:
    """All presets with their sources, in order of name. Read once a process."""
    return _rows()


@lru_cache(maxsize=1)
def _presets() -> Mapping[str, ModelShape]:
    return MappingProxyType({row.shape.name: row.shape for row in _rows()})


@lru_cache(maxsize=1)
def _rows() -> tuple[PresetRow, ...]:
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(sorted((_row(row) for row in csv.DictReader(file)), key=lambda row: row.shape.name))


def _row(row: Mapping[str, str]) -> PresetRow:
    extra = cast("dict[str, object]", json.loads(row["extra"]))
    shape = shape_of(
        row["preset"], _dimensions(row, extra), source=f"preset {row['preset']} ({row['source']})", assumptions=_assumptions(extra)
    )
    published = extra.get("active_published_b")
    convention = extra.get("active_convention")
    return PresetRow(
        shape=shape,
        hf_id=row["hf_id"],
        family=row["family"],
        architecture_class=row["architecture_class"],
        year=int(row["year"]),
        params_published_b=float(row["params_published_b"]),
        active_published_b=float(published) if isinstance(published, (int, float)) else None,
        active_convention=None if convention is None else str(convention),
        source=row["source"],
        note=row["note"],
    )


def _assumptions(extra: Mapping[str, object]) -> tuple[str, ...]:
    if "decoder_layers" in extra:
        return ("Encoder and decoder are both counted for every token: a token is one source position with one target position.",)
    if "patch" in extra:
        return ("A token is one image patch or the class token; a sample is one image.",)
    return ()


def _whole(extra: Mapping[str, object], name: str) -> int:
    """A count in ``extra``; a kind of weight that the row does not mention, the model does not have."""
    return cast("int", extra.get(name) or 0)


def _dimensions(row: Mapping[str, str], extra: Mapping[str, object]) -> Dimensions:
    hidden = int(row["hidden"])
    linear_bias = bool(extra.get("linear_bias"))
    two_stacks = "decoder_layers" in extra
    sees_both_ways = bool(extra.get("encoder_only")) or two_stacks or "patch" in extra or row["architecture_class"] == "LLaDAModelLM"
    return Dimensions(
        layers=int(row["layers"]),
        hidden_size=hidden,
        attention_heads=int(row["heads"]),
        kv_heads=int(row["kv_heads"]),
        head_dim=int(row["head_dim"]),
        ffn_size=_whole(extra, "dense_ffn") or int(row["ffn"]),
        vocabulary_size=int(row["vocab"]),
        tied_embeddings=row["tied_embeddings"] == "yes",
        gated_mlp=row["mlp_kind"] == "gated",
        norm=_NORMS[row["norm"]],
        norms_per_layer=_whole(extra, "norms_per_layer") or 2,
        final_norms=2 if two_stacks else 1,
        qkv_bias=linear_bias or bool(extra.get("qkv_bias")),
        key_bias=extra.get("key_bias") is not False,
        o_bias=linear_bias or bool(extra.get("o_bias")),
        mlp_bias=linear_bias or bool(extra.get("mlp_bias")),
        lm_head_bias=bool(extra.get("lm_head_bias")) or "classes" in extra,
        qk_norm=_QK_NORMS[str(extra["qk_norm"])] if "qk_norm" in extra else "none",
        attention_sinks=bool(extra.get("attention_sinks")),
        learned_positions=_whole(extra, "learned_positions"),
        embedding_norms=1 if extra.get("embedding_norm") else 0,
        latent=_latent(extra),
        experts=_experts(row, extra),
        decoder_layers=_whole(extra, "decoder_layers"),
        head_outputs=_whole(extra, "classes") or None,
        extra_parameters=_stem(row, extra, hidden),
        extra_embedding=(_whole(extra, "token_types") + _whole(extra, "encoder_positions") + ("patch" in extra)) * hidden,
        sliding_window=int(row["sliding_window"]) if row["sliding_window"] else None,
        sliding_share=float(Fraction(row["sliding_share"])) if row["sliding_share"] else 1.0,
        max_position=int(row["max_position"]) if row["max_position"] else None,
        causal=not sees_both_ways,
    )


def _stem(row: Mapping[str, str], extra: Mapping[str, object], hidden: int) -> int:
    """Weights outside the layers that multiply."""
    if "patch" in extra:
        return patch_stem_weights(hidden, _whole(extra, "patch"), _IMAGE_CHANNELS)
    if "mel_bins" in extra:
        return audio_stem_weights(hidden, _whole(extra, "mel_bins"))
    if "relative_buckets" in extra:
        return relative_position_weights(_whole(extra, "relative_buckets"), int(row["heads"]), stacks=2)
    return pooler_weights(hidden) if extra.get("pooler") else 0


def _latent(extra: Mapping[str, object]) -> LatentAttention | None:
    if "kv_lora_rank" not in extra:
        return None
    return LatentAttention(
        q_rank=_whole(extra, "q_lora_rank") or None,
        kv_rank=_whole(extra, "kv_lora_rank"),
        nope_dim=_whole(extra, "qk_nope_dim"),
        rope_dim=_whole(extra, "qk_rope_dim"),
        v_dim=_whole(extra, "v_head_dim"),
    )


def _experts(row: Mapping[str, str], extra: Mapping[str, object]) -> Experts | None:
    if not row["experts"]:
        return None
    width = int(row["moe_ffn"])
    return Experts(
        count=int(row["experts"]),
        per_token=int(row["experts_per_token"]),
        ffn_size=width,
        layers=int(row["layers"]) - int(row["dense_first_layers"]),
        shared_ffn_size=_whole(extra, "shared_expert_ffn") or int(row["shared_experts"]) * width,
        shared_gate=bool(extra.get("shared_expert_gate")),
        router_bias=bool(extra.get("router_bias")),
        bias=bool(extra.get("expert_bias")),
    )
