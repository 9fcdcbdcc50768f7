"""Parameter counts of the presets, and FLOPs per token of known models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.models import PresetRow, load_presets, preset_rows
from app.domain.llm import (
    attended_positions,
    forward_flops_per_token,
    score_flops_per_token,
    simple_training_flops,
    trainable_parameters,
    training_flops_per_token,
)
from tests.support.facts import FACTS, needs_facts
from tools.make_data.models import write

ROWS = preset_rows()
EXPERT_ROWS = [row for row in ROWS if row.active_published_b is not None]
ROUNDED_TO_ONE_DIGIT = {"granite-3.0-1b-a400m": 0.06, "moonlight-16b-a3b": 0.03, "grok-1": 0.03, "deepseek-v2-lite": 0.03}
"""Published active counts too coarse for 2 %, and how far off they are (the publishers round to one or two digits)."""


def test_all_presets_are_there_in_order_of_name() -> None:
    names = list(load_presets())
    assert len(names) == 209
    assert names == sorted(names)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.shape.name)
def test_the_count_from_the_dimensions_is_within_one_per_cent_of_the_published_count(row: PresetRow) -> None:
    assert row.shape.parameters == pytest.approx(row.params_published_b * 1e9, rel=0.01)


@pytest.mark.parametrize("row", EXPERT_ROWS, ids=lambda row: row.shape.name)
def test_active_parameters_match_the_published_figure_in_its_own_convention(row: PresetRow) -> None:
    model = row.shape
    counted = {
        "all": model.active_parameters,
        "without_input_embedding": model.active_parameters - model.embedding_parameters,
        "without_embeddings": model.active_parameters - model.embedding_parameters - model.head_parameters,
    }[str(row.active_convention)]
    assert row.active_published_b is not None
    assert counted == pytest.approx(row.active_published_b * 1e9, rel=ROUNDED_TO_ONE_DIGIT.get(model.name, 0.022))


def test_presets_are_read_from_a_cold_start_in_less_than_a_tenth_of_a_second() -> None:
    timing = (
        "import time, app.domain.counting, fractions, csv, json; t = time.process_time(); from app.catalog.models import load_presets; "
        "load_presets(); print(time.process_time() - t)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", timing], cwd=root, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.1


def test_dense_models_use_every_parameter() -> None:
    model = load_presets()["llama-3.1-8b"]
    assert model.active_parameters == model.parameters


@needs_facts
def test_the_shipped_file_is_what_the_kept_script_writes(tmp_path: Path) -> None:
    assert FACTS is not None
    write(FACTS, tmp_path)
    shipped = Path(__file__).resolve().parents[2] / "app" / "data" / "models.csv"
    assert (tmp_path / "models.csv").read_bytes() == shipped.read_bytes()


ANCHORS = [
    ("gpt2-xl", 1024, 9.346e9, 4.72e8),
    ("llama-2-7b", 4096, 3.964e10, 3.22e9),
    ("llama-3.1-8b", 8192, 4.503e10, 6.44e9),
    ("llama-2-70b", 4096, 4.123e11, 1.61e10),
    ("llama-3.1-405b", 8192, 2.423e12, 1.01e11),
    ("gpt3-175b", 2048, 1.048e12, 1.45e10),
    ("palm-540b", 2048, 3.242e12, 1.78e10),
    ("mixtral-8x7b", 4096, 7.649e10, 3.22e9),
    ("qwen3-30b-a3b", 4096, 1.825e10, 4.83e9),
    ("deepseek-v3", 4096, 2.198e11, 3.07e10),
]


@pytest.mark.parametrize(("name", "length", "weights", "scores"), ANCHORS)
def test_training_flops_per_token_equal_the_anchors(name: str, length: int, weights: float, scores: float) -> None:
    model = load_presets()[name]
    assert 6 * model.flops_parameters == pytest.approx(weights, rel=1e-3)
    assert 3 * score_flops_per_token(model, length) == pytest.approx(scores, rel=5e-3)
    assert training_flops_per_token(model, "pretrain", length) == pytest.approx(weights + scores, rel=1e-3)


PUBLISHED_TOTALS = [
    ("gpt3-175b", 300e9, 3.14e23),
    ("palm-540b", 780e9, 2.53e24),
    ("llama-3.1-405b", 15.6e12, 3.8e25),
    ("olmo-2-7b", 4.05e12, 1.8e23),
    ("olmo-2-13b", 5.6e12, 4.6e23),
    ("olmo-2-32b", 6.6e12, 1.3e24),
]


@pytest.mark.parametrize(("name", "tokens", "flops"), PUBLISHED_TOTALS)
def test_six_n_d_gives_published_totals(name: str, tokens: float, flops: float) -> None:
    assert simple_training_flops(load_presets()[name].parameters, tokens) == pytest.approx(flops, rel=0.02)


def test_seven_billion_parameters_and_a_hundred_billion_tokens_take_4_2e21_flops() -> None:
    assert simple_training_flops(7e9, 100e9) == pytest.approx(4.2e21)


def test_adapters_spare_the_gradients_of_frozen_weights_but_not_the_scores() -> None:
    model = load_presets()["llama-2-7b"]
    spared = training_flops_per_token(model, "full", 4096) - training_flops_per_token(model, "lora", 4096)
    assert spared == pytest.approx(2 * model.flops_parameters)
    assert training_flops_per_token(model, "qlora", 4096) == training_flops_per_token(model, "lora", 4096)


def test_a_model_without_a_mask_pays_twice_for_scores() -> None:
    model = load_presets()["bert-base"]
    assert attended_positions(model, 512) == 512
    assert attended_positions(load_presets()["gpt2"], 512) == 256


def test_an_image_through_vit_takes_its_published_forward_flops() -> None:
    model = load_presets()["vit-b-16"]
    assert 197 * forward_flops_per_token(model, 197) == pytest.approx(35.16e9, rel=0.02)


def test_a_sliding_window_bounds_what_a_token_sees() -> None:
    model = load_presets()["mistral-7b"]
    assert attended_positions(model, 4096) == 2048
    assert attended_positions(model, 8192) == 4096 - 4096**2 / (2 * 8192)


def test_only_the_sliding_share_of_the_layers_is_bounded() -> None:
    model = load_presets()["gpt-oss-20b"]
    near = 128 - 128**2 / (2 * 8192)
    assert attended_positions(model, 8192) == pytest.approx((near + 4096) / 2)


@given(name=st.sampled_from(sorted(load_presets())), length=st.integers(1, 100_000))
def test_a_longer_sequence_never_costs_less_a_token(name: str, length: int) -> None:
    model = load_presets()[name]
    assert training_flops_per_token(model, "full", length + 1) >= training_flops_per_token(model, "full", length)


def test_adapters_on_all_seven_matrices_of_llama_2_7b_train_40_million_weights_at_rank_16() -> None:
    model = load_presets()["llama-2-7b"]
    hidden, ffn = 4096, 11008
    by_hand = 16 * 32 * (2 * 2 * hidden + 2 * 2 * hidden + 3 * (hidden + ffn))
    assert by_hand == 39_976_960
    assert trainable_parameters(model, "lora", 16) == by_hand


def test_full_training_trains_everything() -> None:
    model = load_presets()["mixtral-8x7b"]
    assert trainable_parameters(model, "full", 16) == model.parameters
