"""Reading config.json: known families, their kin, unknown ones, hostile ones."""

from __future__ import annotations

import csv
import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.hf_config import read_hf_config
from app.domain.llm import ModelShape
from app.domain.workload import WorkloadError
from tests.support.facts import FACTS, needs_facts

EXPECTED = [] if FACTS is None else list(csv.DictReader((FACTS / "hf-configs" / "expected.csv").read_text(encoding="utf-8").splitlines()))

LLAMA_2_7B: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}
LLAMA_2_7B_PARAMETERS = 6_738_415_616

MIXTRAL: dict[str, object] = {
    **LLAMA_2_7B,
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "intermediate_size": 14336,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}


def read(**changes: object) -> ModelShape:
    return read_hf_config({**LLAMA_2_7B, **changes})


def refusal(config: object) -> WorkloadError:
    with pytest.raises(WorkloadError) as caught:
        read_hf_config(config)  # type: ignore[arg-type]
    return caught.value


@needs_facts
@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row["file"])
def test_each_file_is_counted_within_one_per_cent(row: dict[str, str]) -> None:
    assert FACTS is not None
    model = read_hf_config(json.loads((FACTS / "hf-configs" / row["file"]).read_text(encoding="utf-8")))
    assert model.parameters == pytest.approx(float(row["params_total_b"]) * 1e9, rel=0.01)
    assert model.active_parameters == pytest.approx(float(row["params_active_b"] or row["params_total_b"]) * 1e9, rel=0.01)


def test_llama_2_7b_is_counted_to_the_last_weight() -> None:
    assert read().parameters == LLAMA_2_7B_PARAMETERS
    assert read().assumptions == ()


PUBLISHED = {
    "distilbert": (
        {"model_type": "distilbert", "dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12, "vocab_size": 30522,
         "max_position_embeddings": 512},
        66.36e6,
    ),
    "roberta-base": (
        {"model_type": "roberta", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
         "vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
        124.65e6,
    ),
    "flan-t5-base": (
        {"model_type": "t5", "d_model": 768, "d_ff": 2048, "d_kv": 64, "num_heads": 12, "num_layers": 12, "num_decoder_layers": 12,
         "feed_forward_proj": "gated-gelu", "relative_attention_num_buckets": 32, "vocab_size": 32128, "tie_word_embeddings": False},
        247.58e6,
    ),
    "bart-large": (
        {"model_type": "bart",
         "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16,
         "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "vocab_size": 50265,
         "max_position_embeddings": 1024, "is_encoder_decoder": True},
        406.29e6,
    ),
    "whisper-tiny": (
        {"model_type": "whisper", "d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6,
         "decoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536, "num_mel_bins": 80, "max_source_positions": 1500,
         "max_target_positions": 448, "vocab_size": 51865},
        37.76e6,
    ),
    "vit-base-16": (
        {"model_type": "vit", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
         "image_size": 224, "patch_size": 16, "id2label": {str(i): str(i) for i in range(1000)}},
        86.57e6,
    ),
    "llava-1.5-7b, text part": (
        {"model_type": "llava", "text_config": {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 32064,
         "max_position_embeddings": 4096}, "vision_config": {"hidden_size": 1024}, "tie_word_embeddings": False},
        6_738_939_904,
    ),
    "gpt2": ({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}, 124_439_808),
}  # fmt: skip
"""Kin of the files, with the counts that their publishers give."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_kin_of_the_files_are_counted_within_one_per_cent_of_the_published_figure(name: str) -> None:
    config, parameters = PUBLISHED[name]
    assert read_hf_config(config).parameters == pytest.approx(parameters, rel=0.01)


def test_a_multimodal_file_counts_its_text_part_and_says_so() -> None:
    model = read_hf_config(PUBLISHED["llava-1.5-7b, text part"][0])
    assert "Only the text part of the model is counted." in model.assumptions


def test_an_unknown_architecture_with_usual_names_is_read_with_its_assumptions() -> None:
    model = read(model_type="walrus", architectures=["WalrusForCausalLM"])
    assert model.parameters == LLAMA_2_7B_PARAMETERS
    assert any("'walrus' is not known" in said for said in model.assumptions)


def test_an_unknown_architecture_with_older_names_is_read_too() -> None:
    old = {"model_type": "walrus", "n_embd": 4096, "n_layer": 32, "n_head": 32,
           "n_inner": 16384, "vocab_size": 50257, "layer_norm_epsilon": 1e-5,
           "activation_function": "gelu_new", "tie_word_embeddings": True}  # fmt: skip
    model = read_hf_config(old)
    assert model.parameters == pytest.approx(12 * 32 * 4096**2 + 50257 * 4096, rel=0.01)
    assert not model.gated_mlp
    assert not model.rms_norm


def test_an_unknown_architecture_with_experts_has_its_active_parameters() -> None:
    model = read_hf_config({**MIXTRAL, "model_type": "walrus", "architectures": ["WalrusForCausalLM"]})
    assert model.parameters == pytest.approx(46.703e9, rel=1e-3)
    assert model.active_parameters == pytest.approx(12.88e9, rel=1e-3)


def test_an_unsaid_family_is_known_by_its_architecture_class() -> None:
    config = {key: value for key, value in LLAMA_2_7B.items() if key != "model_type"}
    assert read_hf_config(config).assumptions == ()


def test_nulls_count_as_absent() -> None:
    assert read(num_key_value_heads=None, head_dim=None, sliding_window=None).parameters == LLAMA_2_7B_PARAMETERS


def test_whole_floats_are_whole_numbers() -> None:
    assert read(hidden_size=4096.0).parameters == LLAMA_2_7B_PARAMETERS


def test_a_quantisation_block_changes_no_count() -> None:
    model = read(quantization_config={"quant_method": "gptq", "bits": 4})
    assert model.parameters == LLAMA_2_7B_PARAMETERS
    assert any("quantisation" in said for said in model.assumptions)


def test_a_window_that_is_switched_off_is_none() -> None:
    assert read(model_type="qwen2", sliding_window=4096, use_sliding_window=False).sliding_window is None
    assert read(model_type="qwen2", sliding_window=4096).sliding_window is None
    assert read(model_type="mistral", sliding_window=4096).sliding_window == 4096


def test_layer_types_tell_the_share_of_layers_that_slide() -> None:
    model = read(sliding_window=512, layer_types=["sliding_attention"] * 24 + ["full_attention"] * 8)
    assert (model.sliding_window, model.sliding_share) == (512, 0.75)


def test_gemma_3_slides_in_five_of_six_layers() -> None:
    model = read(model_type="gemma3_text", num_hidden_layers=36, sliding_window=1024)
    assert model.sliding_share == pytest.approx(5 / 6)


def test_one_expert_is_no_expert() -> None:
    assert read(num_local_experts=1).experts == 0


def test_dense_layers_before_the_experts_are_counted_as_such() -> None:
    model = read(model_type="deepseek_v3", n_routed_experts=64, num_experts_per_tok=4, moe_intermediate_size=1024, first_k_dense_replace=3)
    assert (model.moe_layers, model.ffn_size, model.moe_ffn_size) == (29, 11008, 1024)


def test_sizes_given_once_a_layer_are_read_when_equal() -> None:
    lists = {"num_experts_per_tok": [2] * 32, "moe_intermediate_size": [14336] * 32}
    assert read_hf_config({**MIXTRAL, **lists}).parameters == read_hf_config(MIXTRAL).parameters


def test_uneven_layers_are_refused() -> None:
    error = refusal({**LLAMA_2_7B, "intermediate_size": [11008, 4096]})
    assert (error.pointer, error.code) == ("/model/hf_config/intermediate_size", "unsupported_architecture")


@pytest.mark.parametrize("kind", ["mamba2", "jamba", "rwkv", "qwen3_next", "falcon_h1"])
def test_layers_that_cannot_be_counted_are_refused_with_a_way_out(kind: str) -> None:
    error = refusal({**LLAMA_2_7B, "model_type": kind})
    assert error.code == "unsupported_architecture"
    assert "parameters_b" in error.detail


@pytest.mark.parametrize("field", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"])
def test_a_missing_size_is_named(field: str) -> None:
    error = refusal({key: value for key, value in LLAMA_2_7B.items() if key != field})
    assert error.code == "missing_field"
    assert error.pointer == f"/model/hf_config/{field}"


BAD_NUMBERS = ["32", True, -1, 0, 1.5, math.nan, math.inf, 10**400, [], {}, [None], [[8]], "", b"8", 10_001]


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=lambda value: repr(value)[:12])
def test_a_bad_number_of_layers_is_refused_at_its_place(value: object) -> None:
    error = refusal({**LLAMA_2_7B, "num_hidden_layers": value})
    assert error.pointer.startswith("/model/hf_config/num_hidden_layers")
    assert error.detail


@pytest.mark.parametrize("field", ["text_config", "model_type", "architectures", "layer_types", "tie_word_embeddings", "hidden_act"])
def test_a_field_of_the_wrong_type_is_refused_at_its_place(field: str) -> None:
    error = refusal({**LLAMA_2_7B, field: 7})
    assert (error.pointer, error.code) == (f"/model/hf_config/{field}", "wrong_type")


def test_a_place_inside_the_text_part_is_named_in_full() -> None:
    error = refusal({"text_config": {**LLAMA_2_7B, "hidden_size": "big"}})
    assert error.pointer == "/model/hf_config/text_config/hidden_size"


def test_more_experts_a_token_than_there_are_is_refused() -> None:
    assert refusal({**MIXTRAL, "num_experts_per_tok": 9}).pointer == "/model/hf_config/num_experts_per_tok"


def test_more_key_value_heads_than_heads_is_refused() -> None:
    assert refusal({**LLAMA_2_7B, "num_key_value_heads": 64}).pointer == "/model/hf_config/num_key_value_heads"


def test_more_parameters_than_can_be_estimated_are_refused() -> None:
    error = refusal({**LLAMA_2_7B, "hidden_size": 1_000_000, "num_hidden_layers": 10_000})
    assert (error.pointer, error.code) == ("/model/hf_config", "out_of_range")


@pytest.mark.parametrize("config", [[], "x", 7, None, True])
def test_anything_but_an_object_is_refused(config: object) -> None:
    assert refusal(config).pointer == "/model/hf_config"


def test_deep_nesting_harms_nothing() -> None:
    deep: dict[str, object] = {}
    for _ in range(50_000):
        deep = {"text_config": deep}
    assert refusal(deep).code == "missing_field"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([
    *MIXTRAL, "text_config", "attn_config", "ffn_config", "layer_types", "moe_layer_freq", "mlp_only_layers", "kv_lora_rank", "q_lora_rank",
    "first_k_dense_replace", "sliding_window", "sliding_window_pattern", "use_sliding_window", "max_window_layers", "head_dim", "mlp_ratio",
    "image_size", "patch_size", "d_kv", "id2label", "n_shared_experts", "model_max_length", "quantization_config", "_name_or_path",
    "type_vocab_size", "encoder_layers", "decoder_layers", "n_positions",
    "bias", "no_bias", "qk_norm", "layer_norm_type", "multi_query",
])  # fmt: skip
KINDS = st.sampled_from([
    "llama", "mixtral", "qwen", "qwen2", "qwen2_moe", "deepseek_v3", "falcon", "RefinedWeb", "mpt", "dbrx", "olmo", "gpt2", "bert", "t5",
    "vit", "whisper", "bart", "chatglm", "gemma3", "stablelm", "gpt_oss", "llama4", "walrus", None,
])  # fmt: skip


@given(kind=KINDS, changes=st.dictionaries(FIELDS, VALUES, max_size=4))
@example(kind="llama", changes={"num_attention_heads": 5000})
@example(kind="vit", changes={"image_size": 1, "patch_size": 10**6})
def test_hostile_values_end_in_a_shape_or_in_a_workload_error_and_nothing_else(kind: str | None, changes: dict[str, object]) -> None:
    model = shape_or_refusal({**MIXTRAL, "model_type": kind, **changes})
    if isinstance(model, WorkloadError):
        assert model.pointer.startswith("/model")
        assert model.detail
    else:
        assert 0 < model.active_parameters <= model.parameters <= 1e15
        assert model.flops_parameters > 0


def shape_or_refusal(config: dict[str, object]) -> ModelShape | WorkloadError:
    try:
        return read_hf_config(config)
    except WorkloadError as error:
        return error


@given(layers=st.integers(1, 9_999))
def test_more_layers_are_never_fewer_parameters(layers: int) -> None:
    assert read(num_hidden_layers=layers + 1).parameters > read(num_hidden_layers=layers).parameters
