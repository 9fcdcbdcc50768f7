from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from app.evaluate import finetune, scaling
from app.evaluate.finetune import evaluate_finetune
from app.evaluate.report import json_line, report, summarise
from app.evaluate.row_text import read_gpu, read_network_gbit_s, read_parallelism, read_stack
from app.evaluate.runs import evaluate_runs
from app.evaluate.scaling import evaluate_scaling
from app.evaluate.score import Score
from tests.support.facts import FACTS, needs_facts
from tests.unit.speed_jobs import CALIBRATION, GPUS, PRESETS

KNOWN = {"gpus": GPUS, "presets": PRESETS, "calibration": CALIBRATION}


def rows(name):
    assert FACTS is not None
    with (FACTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def predictions(scores):
    return [(score.row_id, score.predicted, score.p10, score.p90, score.skipped) for score in scores]


@needs_facts
@pytest.mark.parametrize("cell", ["", "123456.5"])
def test_scrambled_measurements_of_runs_change_no_prediction(cell):
    given = rows("runs-calibration.csv")
    scrambled = [{name: cell if name.startswith("measured_") else text for name, text in row.items()} for row in given]
    assert predictions(evaluate_runs(scrambled, **KNOWN)) == predictions(evaluate_runs(given, **KNOWN))


@needs_facts
@pytest.mark.parametrize("cell", ["", "123456.5"])
def test_scrambled_measurements_of_fine_tuning_change_no_prediction(cell):
    given = rows("finetune-speed.csv")
    scrambled = [{name: cell if name in finetune.MEASURED_COLUMNS else text for name, text in row.items()} for row in given]
    assert predictions(evaluate_finetune(scrambled, **KNOWN)) == predictions(evaluate_finetune(given, **KNOWN))


@needs_facts
@pytest.mark.parametrize("cell", ["", "123456.5"])
def test_scrambled_measurements_of_scaling_change_no_prediction(cell):
    given = rows("scaling-measured.csv")
    scrambled = [{name: cell if name in scaling.MEASURED_COLUMNS else text for name, text in row.items()} for row in given]
    assert predictions(evaluate_scaling(scrambled, **KNOWN)) == predictions(evaluate_scaling(given, **KNOWN))


@needs_facts
def test_the_notes_of_a_row_change_no_prediction():
    given = rows("runs-calibration.csv")
    assert predictions(evaluate_runs([{**row, "note": ""} for row in given], **KNOWN)) == predictions(evaluate_runs(given, **KNOWN))


@needs_facts
def test_runs_are_met_clearly_better_than_by_a_constant_mfu():
    found = report(evaluate_runs(rows("runs-calibration.csv"), **KNOWN))
    assert found.total is not None
    assert found.constant_mfu is not None
    assert found.total.median_error <= 0.6 * found.constant_mfu.median_error
    assert found.total.median_error <= 0.15
    assert found.total.within_25 >= 0.72
    assert found.total.rows >= 700


@needs_facts
def test_fine_tuning_is_met_within_fifteen_percent_at_the_median():
    found = report(evaluate_finetune(rows("finetune-speed.csv"), **KNOWN))
    assert found.total is not None
    assert found.total.median_error <= 0.15


def test_megatron_words_give_the_layout():
    found = read_parallelism("TP4 PP8 CP2 EP8 MBS1")
    assert (found.tensor, found.pipeline, found.context, found.micro_batch) == (4, 8, 2, 1)


def test_fsdp_words_give_sharding_batch_and_accumulation():
    found = read_parallelism("FSDP FULL_SHARD, microbatch 6, grad accum 21")
    assert (found.sharding, found.micro_batch, found.accumulation) == ("zero3", 6, 21)


@pytest.mark.parametrize(
    ("text", "gbit_s"),
    [
        ("AWS EFA 3200 Gb/s per node", 3200.0),
        ("RoCE 4 x 100 Gb/s per node", 400.0),
        ("InfiniBand HDR 200 Gb/s per GPU", 1600.0),
        ("Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, Management: 100Gb/s", 3200.0),
        ("Storage+Management: 1x NVIDIA BlueField 2 DPU 100Gb/s, Compute: 8x NVIDIA ConnectX-7 IB ND", 3200.0),
        ("ROCE2; Data bandwidth for GPU-PCIe: 504 GB/s; PCIe-NIC: 500 GB/s", None),
        ("none", None),
        ("", None),
    ],
)
def test_network_text_is_read_as_gbit_a_second_of_a_node(text, gbit_s):
    assert read_network_gbit_s(text, 8) == gbit_s


@pytest.mark.parametrize(
    ("text", "link", "name"),
    [
        ("A100-80GB", "NVLink", "A100-SXM4-80GB"),
        ("A100-PCIe-80GB", "PCIe", "A100-PCIE-80GB"),
        ("Blackwell GPU (GB200)", "NVLINK Gen5", "GB200"),
        ("AMD Instinct MI300X 192GB HBM3", "XGMI", "MI300X-192GB"),
        ("A6000-48GB", "PCIe", "RTX-A6000-48GB"),
    ],
)
def test_cards_are_found_under_the_names_that_tables_use(text, link, name):
    found = read_gpu(text, link, GPUS)
    assert found is not None
    assert found.name == name


def test_a_card_nobody_knows_is_not_guessed():
    assert read_gpu("K80-12GB", "", GPUS) is None


@pytest.mark.parametrize(
    ("texts", "stack"),
    [
        (("TP8 PP8 VP6", "MegaScale Table 2"), "megatron"),
        (("FSDP FULL_SHARD, microbatch 2", "llm-foundry"), "fsdp"),
        (("LoRA, batch 1 x grad accum 8", "Qwen fine-tuning profile"), "hf_trainer"),
        (("NGC PyTorch Release 24.01 Deepspeed N1", "MLPerf Training v4.0"), "deepspeed"),
        (("", "a table"), "unknown"),
    ],
)
def test_software_is_named_by_the_first_text_that_knows_it(texts, stack):
    assert read_stack(*texts) == stack


def test_a_summary_counts_errors_bias_and_coverage():
    base = Score(row_id="1", source="s", predicted=110.0, p10=90.0, p90=130.0, measured=100.0)
    found = summarise([base, replace(base, measured=200.0), replace(base, measured=None), replace(base, predicted=None)])
    assert found is not None
    assert found.rows == 2
    assert found.median_error == pytest.approx((0.1 + 0.45) / 2)
    assert found.within_25 == 0.5
    assert found.inside_p10_p90 == 0.5


def test_a_skipped_row_is_written_with_its_reason_and_no_number():
    assert json_line(Score(row_id="7", source="s", skipped="gpu_not_known")) == {"id": "7", "skipped": "gpu_not_known"}
