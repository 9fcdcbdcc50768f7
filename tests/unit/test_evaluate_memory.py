"""Predictions of measured memory: blind to what was measured, right about units and meters, and as good as stated."""

from __future__ import annotations

import csv
from functools import cache

import pytest

from app.catalog.gpus import load_gpus
from app.catalog.models import load_presets
from app.evaluate.memory import MEASURED_COLUMNS, evaluate_memory, summarize_memory
from tests.support.facts import FACTS, needs_facts

COLUMNS = (
    "id", "source", "url_or_path", "model", "params_billion", "layers", "hidden", "heads", "kv_heads", "vocab", "method", "lora_rank",
    "quant_bits", "optimizer", "optimizer_bits", "precision", "seq_len", "micro_batch", "grad_accum", "activation_checkpointing",
    "attention", "sharding", "offload", "n_gpus", "gpu_model", "peak_memory_gb_per_gpu", "outcome", "measured_or_estimated", "note",
)  # fmt: skip


def a_row(**over):
    row = dict.fromkeys(COLUMNS, "")
    row.update(
        id="r", source="an issue", model="llama-2-7b", params_billion="6.738", method="full", optimizer="adamw", optimizer_bits="16",
        precision="bf16-true", seq_len="2048", micro_batch="1", activation_checkpointing="yes", attention="flash", sharding="none",
        offload="none", n_gpus="1", gpu_model="A100-80GB", outcome="fits", note="unit=GB; metric=torch max memory",
    )  # fmt: skip
    row.update(over)
    return row


def score(**over):
    (one,) = evaluate_memory([a_row(**over)], gpus=load_gpus(), presets=load_presets())
    return one


@cache
def facts():
    assert FACTS is not None
    with (FACTS / "memory-measured.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_pure_bf16_adamw_peaks_at_ten_bytes_a_parameter():
    assert score().needed_gb_per_gpu == pytest.approx(67.4, rel=0.01)
    assert score().verdict == "fits"


def test_gib_are_turned_into_gb_before_comparing():
    one = score(peak_memory_gb_per_gpu="60", note="unit=GiB; metric=torch max memory")
    assert one.measured_gb_per_gpu == pytest.approx(64.42, abs=0.01)


def test_each_meter_reads_more_than_the_one_below():
    names = ("torch max memory", "torch max reserved", "unstated")
    allocated, reserved, device = (score(note=f"unit=GB; metric={name}").needed_gb_per_gpu for name in names)
    assert allocated < reserved < device


def test_a_row_without_length_is_skipped_by_name():
    assert score(seq_len="").skipped == "batch_or_length_not_stated"
    assert score(seq_len="").needed_gb_per_gpu is None


def test_a_method_that_cannot_be_expressed_is_skipped_by_name():
    assert score(method="dpo-full").skipped == "method_not_supported"


def test_an_unnamed_card_gives_a_need_but_no_verdict():
    one = score(gpu_model="")
    assert one.needed_gb_per_gpu is not None
    assert one.verdict is None


def test_a_fit_said_of_a_row_that_ran_out_is_a_false_fit():
    assert score(outcome="oom").false_fit
    assert score(gpu_model="V100-16GB").false_oom


@needs_facts
def test_scrambled_measurements_change_no_prediction():
    rows = facts()
    scrambled = [{**row, **{name: other[name] for name in MEASURED_COLUMNS}} for row, other in zip(rows, rows[::-1], strict=True)]
    plain = evaluate_memory(rows, gpus=load_gpus(), presets=load_presets())
    again = evaluate_memory(scrambled, gpus=load_gpus(), presets=load_presets())
    assert [(one.needed_gb_per_gpu, one.verdict, one.skipped) for one in plain] == [
        (one.needed_gb_per_gpu, one.verdict, one.skipped) for one in again
    ]
    assert [one.outcome for one in plain] != [one.outcome for one in again]


@needs_facts
def test_measured_runs_are_met_within_the_stated_errors():
    summary = summarize_memory(evaluate_memory(facts(), gpus=load_gpus(), presets=load_presets()))
    assert summary.overall is not None
    assert summary.used >= 470
    assert summary.overall.median_percent <= 8.0
    assert summary.overall.p90_percent <= 25.0
    assert abs(summary.overall.bias_percent) <= 2.0
    assert summary.false_ooms / summary.ran <= 0.03
    assert summary.false_fits / summary.ran_out <= 0.10
