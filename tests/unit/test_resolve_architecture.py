"""Whole shapes from a few dimensions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.models import load_presets
from app.domain.architecture import infer_shape
from app.domain.workload import Architecture, WorkloadError


@given(parameters_b=st.floats(1e-9, 1e6))
def test_any_size_alone_gives_a_shape_that_keeps_it(parameters_b: float) -> None:
    model = infer_shape(Architecture(parameters_b=parameters_b))
    assert model.parameters == model.active_parameters == parameters_b * 1e9
    assert model.layers >= 1
    assert 1 <= model.kv_heads <= model.attention_heads
    assert model.assumptions


@pytest.mark.parametrize("name", ["pythia-160m", "llama-3.2-1b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3.1-405b", "gpt3-175b"])
def test_the_proportions_of_known_models_come_out_of_their_size(name: str) -> None:
    known = load_presets()[name]
    model = infer_shape(Architecture(parameters_b=known.parameters / 1e9))
    assert model.layers == pytest.approx(known.layers, rel=0.25)
    assert model.hidden_size == pytest.approx(known.hidden_size, rel=0.25)


def test_given_dimensions_are_kept() -> None:
    model = infer_shape(
        Architecture(parameters_b=13, layers=40, hidden_size=5120, attention_heads=40, kv_heads=10, vocabulary_size=32000, ffn_size=13824)
    )
    assert (model.layers, model.hidden_size, model.attention_heads, model.kv_heads) == (40, 5120, 40, 10)
    assert (model.vocabulary_size, model.ffn_size) == (32000, 13824)


def test_all_of_opts_dimensions_show_a_plain_mlp_and_tied_matrices() -> None:
    model = infer_shape(
        Architecture(parameters_b=6.66, layers=32, hidden_size=4096, attention_heads=32, ffn_size=16384, vocabulary_size=50272)
    )
    assert not model.gated_mlp
    assert model.tied_embeddings
    assert model.kv_heads == 32


def test_mixtral_comes_out_of_its_experts() -> None:
    model = infer_shape(Architecture(parameters_b=46.7, layers=32, hidden_size=4096, kv_heads=8, vocabulary_size=32000, experts=8))
    assert model.experts_per_token == 2
    assert model.moe_ffn_size == pytest.approx(14336, rel=0.01)
    assert model.active_parameters == pytest.approx(12.88e9, rel=0.01)


def test_stated_active_parameters_are_kept() -> None:
    model = infer_shape(Architecture(parameters_b=671, active_parameters_b=37))
    assert (model.parameters, model.active_parameters) == (671e9, 37e9)
    assert model.experts > model.experts_per_token > 0


def test_one_expert_is_a_dense_model() -> None:
    assert infer_shape(Architecture(parameters_b=7, experts=1)).experts == 0


@pytest.mark.parametrize(
    ("architecture", "pointer"),
    [
        (Architecture(parameters_b=0), "/model/parameters_b"),
        (Architecture(parameters_b=float("nan")), "/model/parameters_b"),
        (Architecture(parameters_b=1e7), "/model/parameters_b"),
        (Architecture(parameters_b=7, layers=10_001), "/model/layers"),
        (Architecture(parameters_b=7, hidden_size=-1), "/model/hidden_size"),
        (Architecture(parameters_b=7, active_parameters_b=8), "/model/active_parameters_b"),
        (Architecture(parameters_b=7, attention_heads=8, kv_heads=16), "/model/kv_heads"),
        (Architecture(parameters_b=7, hidden_size=64, attention_heads=128), "/model/attention_heads"),
        (Architecture(parameters_b=0.7, layers=80, hidden_size=8192), "/model/parameters_b"),
    ],
)
def test_contradictions_and_limits_are_refused_at_their_place(architecture: Architecture, pointer: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        infer_shape(architecture)
    assert caught.value.pointer == pointer


SIZES = st.none() | st.integers(1, 10**5)


@given(
    parameters_b=st.floats(1e-9, 1e6),
    active=st.none() | st.floats(1e-9, 1e6),
    layers=st.none() | st.integers(1, 10_000),
    hidden=SIZES,
    heads=SIZES,
    kv_heads=SIZES,
    ffn=SIZES,
    vocabulary=SIZES,
    experts=SIZES,
)
def test_any_mix_of_dimensions_ends_in_a_sound_shape_or_a_workload_error(
    parameters_b: float,
    active: float | None,
    layers: int | None,
    hidden: int | None,
    heads: int | None,
    kv_heads: int | None,
    ffn: int | None,
    vocabulary: int | None,
    experts: int | None,
) -> None:
    architecture = Architecture(
        parameters_b=parameters_b,
        active_parameters_b=active,
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        kv_heads=kv_heads,
        ffn_size=ffn,
        vocabulary_size=vocabulary,
        experts=experts,
    )
    try:
        model = infer_shape(architecture)
    except WorkloadError:
        return
    assert 0 < model.active_parameters <= model.parameters * (1 + 1e-12)
    assert model.flops_parameters > 0
    assert 1 <= model.kv_heads <= model.attention_heads
