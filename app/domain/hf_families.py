"""What a Hugging Face ``config.json`` leaves unsaid, by ``model_type``: the habits of each family's published code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.domain.counting import Norm, QkNorm

Reading = Literal["decoder", "encoder", "t5", "two_stacks", "image"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Defaults that hold where the file says nothing.

    ``qkv_bias_always`` stands against whatever the file says of biases. ``bias_reaches_o`` and ``bias_reaches_mlp`` say what the fields
    ``attention_bias`` and the general ``bias`` mean here. ``qk_norm`` None: only when a field says so, then of the kind ``qk_norm_kind``.
    ``window_every`` n > 1: one layer of n sees the whole sequence, the others slide.
    ``window_by_flag``: it slides only when ``use_sliding_window`` is true. ``defaults`` are sizes by canonical name.
    """

    reading: Reading = "decoder"
    tied: bool = False
    gated: bool | None = True
    norm: Norm | None = "rmsnorm"
    norms_per_layer: int = 2
    qkv_bias: bool = False
    qkv_bias_always: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    bias_reaches_o: bool = True
    bias_reaches_mlp: bool = True
    lm_head_bias: bool = False
    qk_norm: QkNorm | None = None
    qk_norm_kind: QkNorm = "head"
    sinks: bool = False
    positions: bool = False
    position_offset: int = 0
    embedding_norms: int = 0
    shared_experts: int = 0
    shared_gate: bool = False
    router_bias: bool = False
    expert_bias: bool = False
    causal: bool = True
    window_every: int = 1
    window_by_flag: bool = False
    defaults: Mapping[str, int] = field(default_factory=dict)


_LLAMA = Family()
_BIASED = Family(gated=False, norm="layernorm", qkv_bias=True, o_bias=True, mlp_bias=True)
_GPT2 = replace(_BIASED, tied=True, positions=True)
_PARALLEL = replace(_BIASED, norms_per_layer=1, lm_head_bias=True)
_FALCON = Family(tied=True, gated=False, norm="layernorm")
_QWEN = Family(qkv_bias=True, qkv_bias_always=True, window_by_flag=True)
_QWEN3 = Family(qk_norm="head", window_by_flag=True)
_GEMMA = Family(tied=True, defaults={"head_dim": 256, "vocabulary_size": 256_000})
_GEMMA2 = replace(_GEMMA, norms_per_layer=4, window_every=2, defaults={**_GEMMA.defaults, "attention_heads": 8, "kv_heads": 4})
_GEMMA3 = replace(_GEMMA2, qk_norm="head", window_every=6, defaults={**_GEMMA2.defaults, "vocabulary_size": 262_208})
_DEEPSEEK_V3 = Family(router_bias=True)
_GLM_MOE = Family(bias_reaches_o=False, bias_reaches_mlp=False, router_bias=True)
_COHERE = Family(tied=True, norm="layernorm_nobias", norms_per_layer=1, qk_norm_kind="full")
_OLMO2 = Family(qk_norm="full")
_BERT = replace(_BIASED, reading="encoder", tied=True, positions=True, causal=False)
_VIT = replace(_BIASED, reading="image", causal=False)
_T5 = Family(reading="t5", tied=True, gated=None, causal=False)
_BART = replace(_BIASED, reading="two_stacks", tied=True, positions=True, position_offset=2, embedding_norms=2, causal=False)

FAMILIES: Mapping[str, Family] = {
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "mixtral": _LLAMA,
    "yi": _LLAMA,
    "aquila": _LLAMA,
    "baichuan": _LLAMA,
    "xverse": _LLAMA,
    "minicpm": replace(_LLAMA, tied=True),
    "minicpm3": replace(_LLAMA, tied=True),
    "smollm3": replace(_LLAMA, tied=True),
    "seed_oss": replace(_LLAMA, bias_reaches_o=False),
    "orion": replace(_LLAMA, norm="layernorm"),
    "deepseek": _LLAMA,
    "deepseek_v2": _LLAMA,
    "deepseek_v3": _DEEPSEEK_V3,
    "kimi_k2": _DEEPSEEK_V3,
    "granite": _LLAMA,
    "granitemoe": _LLAMA,
    "granitemoeshared": _LLAMA,
    "internlm": Family(qkv_bias=True, o_bias=True, bias_reaches_mlp=False),
    "internlm2": _LLAMA,
    "internlm3": _LLAMA,
    "llama4": Family(shared_experts=1, qk_norm_kind="none", window_every=4),
    "phi3": _LLAMA,
    "phimoe": replace(_LLAMA, norm="layernorm", expert_bias=False),
    "arcee": replace(_LLAMA, gated=False),
    "apertus": replace(_LLAMA, gated=False, qk_norm="head"),
    "ernie4_5": replace(_LLAMA, tied=True),
    "ernie4_5_moe": replace(_LLAMA, tied=True, router_bias=True),
    "hunyuan_v1_dense": replace(_LLAMA, qk_norm="head"),
    "exaone": _LLAMA,
    "exaone4": replace(_LLAMA, qk_norm="head", window_every=4),
    "llada": replace(_LLAMA, causal=False),
    "dream": replace(_QWEN, causal=False),
    "qwen": _QWEN,
    "qwen2": _QWEN,
    "qwen2_moe": replace(_QWEN, shared_gate=True),
    "qwen2_vl": _QWEN,
    "qwen2_5_vl": _QWEN,
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_moe": _QWEN3,
    "bailing_moe": _LLAMA,
    "dots1": replace(_DEEPSEEK_V3, qk_norm="head"),
    "minimax_m2": Family(qk_norm="full", qk_norm_kind="full", router_bias=True),
    "gpt_oss": Family(qkv_bias=True, o_bias=True, expert_bias=True, router_bias=True, sinks=True, window_every=2),
    "chatglm": Family(qkv_bias=True, bias_reaches_o=False),
    "glm": Family(bias_reaches_o=False),
    "glm4": Family(norms_per_layer=4, bias_reaches_o=False),
    "glm4_moe": _GLM_MOE,
    "olmo": replace(_LLAMA, norm="none"),
    "olmo2": _OLMO2,
    "olmo3": replace(_OLMO2, window_every=4),
    "olmoe": _OLMO2,
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3": _GEMMA3,
    "gemma3_text": _GEMMA3,
    "cohere": _COHERE,
    "cohere2": replace(_COHERE, window_every=4),
    "dbrx": Family(norm="layernorm_nobias"),
    "nemotron": Family(gated=False, norm="layernorm"),
    "stablelm": Family(norm="layernorm", bias_reaches_o=False, bias_reaches_mlp=False, qk_norm_kind="full"),
    "stablelm_epoch": Family(norm="layernorm", bias_reaches_o=False, bias_reaches_mlp=False),
    "gpt2": _GPT2,
    "gpt_bigcode": _GPT2,
    "biogpt": replace(_GPT2, position_offset=2),
    "opt": replace(_GPT2, position_offset=2),
    "gpt_neo": Family(tied=True, gated=False, norm="layernorm", o_bias=True, mlp_bias=True, positions=True, window_every=2),
    "gptj": Family(tied=False, gated=False, norm="layernorm", norms_per_layer=1, mlp_bias=True, lm_head_bias=True),
    "codegen": Family(tied=False, gated=False, norm="layernorm", norms_per_layer=1, mlp_bias=True, lm_head_bias=True),
    "gpt_neox": _BIASED,
    "persimmon": replace(_BIASED, qk_norm="head"),
    "bloom": replace(_BIASED, tied=True, embedding_norms=1),
    "falcon": _FALCON,
    "refinedweb": _FALCON,
    "refinedwebmodel": _FALCON,
    "mpt": Family(tied=True, gated=False, norm="layernorm"),
    "phi": _PARALLEL,
    "phi-msft": _PARALLEL,
    "mixformer-sequential": _PARALLEL,
    "starcoder2": replace(_BIASED, tied=True),
    "bert": _BERT,
    "roberta": _BERT,
    "xlm-roberta": _BERT,
    "camembert": _BERT,
    "distilbert": _BERT,
    "t5": _T5,
    "mt5": replace(_T5, tied=False),
    "umt5": replace(_T5, tied=False),
    "longt5": _T5,
    "bart": _BART,
    "mbart": replace(_BART, embedding_norms=4),
    "whisper": replace(_BIASED, reading="two_stacks", tied=True, positions=True, causal=False),
    "vit": _VIT,
    "deit": _VIT,
}

NESTED_DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "llama": {"attention_heads": 32, "ffn_size": 11_008, "vocabulary_size": 32_000},
    "mistral": {"attention_heads": 32, "kv_heads": 8, "ffn_size": 14_336, "vocabulary_size": 32_000},
    "qwen2": {"attention_heads": 32, "kv_heads": 32, "ffn_size": 22_016, "vocabulary_size": 151_936},
    "gemma": {"attention_heads": 16, "kv_heads": 16, "ffn_size": 24_576},
    "gemma2": {"ffn_size": 9_216},
    "gemma3_text": {"ffn_size": 9_216},
}
"""Sizes that a multimodal file leaves out of its text part because they equal the text class's defaults."""

_UNCOUNTABLE_LAYERS = ("linear_attention", "mamba", "conv", "recurrent", "sparse_attention")
_UNCOUNTABLE = re.compile(
    r"mamba|rwkv|retnet|hyena|jamba|zamba|nemotron_h|falcon_h1|lfm2|bamba|kimi_linear|qwen3_next|minimax_text|xlstm|griffin"
    r"|recurrent_gemma|qwen3_5|minimax_m1|glm_moe_dsa|deepseek_v4|albert|granitemoehybrid|gemma3n|deepseek_v32|openelm|deci|nemotron-nas"
)
_CLASS_SUFFIX = re.compile(
    r"(ForCausalLM|ForConditionalGeneration|LMHeadModel|LMHeadCustomModel|ForMaskedLM|WithLMHeadModel|For\w+|Model\w*)$"
)


def uncountable(model_type: str) -> bool:
    """Whether the family has layers that these dimensions cannot hold (state space, linear or sparse attention, shared or uneven)."""
    return _UNCOUNTABLE.search(model_type.lower()) is not None


def uncountable_layer(kind: object) -> bool:
    """Whether an entry of ``layer_types`` names such a layer."""
    return isinstance(kind, str) and kind in _UNCOUNTABLE_LAYERS


def family_name(model_type: str | None, architecture: str | None) -> str | None:
    """The known family of a file: by its ``model_type``, else by its first architecture class, else None."""
    names = [model_type or "", _CLASS_SUFFIX.sub("", architecture or "")]
    plain = {known.replace("_", "").replace("-", ""): known for known in FAMILIES}
    for name in names:
        lowered = name.lower().removesuffix("_text")
        if name.lower() in FAMILIES:
            return name.lower()
        found = plain.get(lowered.replace("_", "").replace("-", ""))
        if found is not None:
            return found
    return None
