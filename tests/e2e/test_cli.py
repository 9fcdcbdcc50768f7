"""The command line, as a user runs it: no server, no database."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli import main

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json"))
QUESTIONS = [path for path in EXAMPLES if "hardware" not in json.loads(path.read_text(encoding="utf-8"))]
ESTIMATES = [path for path in EXAMPLES if path not in QUESTIONS]
AS_OF = ("--as-of", "2026-11-30T00:00:00Z")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(shown(capsys, *arguments, "--json"))


@pytest.mark.parametrize("path", QUESTIONS, ids=[path.stem for path in QUESTIONS])
def test_every_example_is_answered_in_a_table_of_a_hundred_columns(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    text = shown(capsys, "recommend", str(path), *AS_OF)
    assert "option" in text.split("\n\n")[1]
    assert "Left out:" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("path", ESTIMATES, ids=[path.stem for path in ESTIMATES])
def test_every_estimate_example_is_answered(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    assert answered(capsys, "estimate", str(path))["verdict"] == "fits"


def test_one_plan_is_explained_with_bill_time_line_and_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "recommend", str(QUESTIONS[0]), "--explain", "1", *AS_OF)
    assert all(word in text for word in ("compute", "Total", "provisioning", "Configuration:", "Memory:", "Speed", "worst case"))
    assert max(map(len, text.splitlines())) <= 100


def test_a_rank_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no plan 99" in refused(capsys, "recommend", str(QUESTIONS[0]), "--explain", "99", *AS_OF)


def test_the_json_of_a_question_is_the_same_twice(capsys: pytest.CaptureFixture[str]) -> None:
    first = shown(capsys, "recommend", str(QUESTIONS[0]), "--json", *AS_OF)
    assert shown(capsys, "recommend", str(QUESTIONS[0]), "--json", *AS_OF) == first


def test_a_list_of_estimates_comes_back_as_a_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = json.loads(ESTIMATES[0].read_text(encoding="utf-8"))
    path = tmp_path / "list.json"
    path.write_text(json.dumps([one, one]), encoding="utf-8")
    first, second = answered(capsys, "estimate", str(path))
    assert first == second


def test_a_fault_in_a_list_says_in_which(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = json.loads(ESTIMATES[0].read_text(encoding="utf-8"))
    path = tmp_path / "list.json"
    path.write_text(json.dumps([one, {**one, "hardware": {"gpu": "B52"}}]), encoding="utf-8")
    assert "/1/hardware/gpu" in refused(capsys, "estimate", str(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "/workload"),
        ('{"workload": {"model": {"preset": "llama-2-8b"}, "method": "lora", "target": {"steps": 5}}}', "llama-2-7b"),
        ('{"workload": {"model": {"preset": "llama-2-7b"}, "method": "lora", "target": {"steps": NaN}}}', "/workload/target/steps"),
        (
            '{"workload": {"model": {"preset": "gpt2"}, "method": "full", "target": {"steps": 5}}, "constraints": {"regions": ["mars"]}}',
            "mars",
        ),
    ],
)
def test_a_fault_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "request.json"
    path.write_text(content, encoding="utf-8")
    assert words in refused(capsys, "recommend", str(path), *AS_OF)


def test_a_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.json" in refused(capsys, "recommend", "nowhere.json")


@pytest.mark.parametrize("command", ["providers", "gpus", "models", "market"])
def test_lists_come_as_tables_and_as_json(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert max(map(len, shown(capsys, command).splitlines())) <= 100
    assert len(answered(capsys, command)) > 10


def test_the_market_can_be_narrowed_to_a_family_of_cards(capsys: pytest.CaptureFixture[str]) -> None:
    offers = answered(capsys, "market", "--gpu", "H100", "--provider", "lambda")
    assert offers
    assert all(offer["gpu"].startswith("H100") and offer["provider"] == "lambda" for offer in offers)


RUNS = (
    "id,source_name,source_url_or_repo_path,model,params_billion,active_params_billion,layers,hidden,vocab,seq_len,global_batch_tokens,precision,method,"
    "parallelism,activation_checkpointing,gpu_model,n_gpus,gpus_per_node,interconnect_intra,interconnect_inter,tokens_trained_billion,"
    "measured_tokens_per_sec_total,measured_tokens_per_sec_per_gpu,measured_tflops_per_gpu,measured_mfu,measured_gpu_hours,measured_wall_hours,"
    "measured_cost_usd,target,year,note\n"
    "good,a,b,llama-2-7b,6.74,,32,4096,32000,4096,4194304,bf16,pretrain,FSDP,none,A100-SXM4-80GB,8,8,NVLink,,,,{speed},,,,,,,2024,\n"
    "odd,a,b,no model,,,,,,,,bf16,pretrain,,,no such card,8,8,,,,,1,,,,,,,2024,\n"
)


def evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str], speed: str) -> list[dict[str, Any]]:
    measured, out = tmp_path / "runs.csv", tmp_path / "out.jsonl"
    measured.write_text(RUNS.format(speed=speed), encoding="utf-8")
    shown(capsys, "evaluate", "runs", str(measured), "--out", str(out))
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_an_evaluation_writes_a_line_a_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good, odd = evaluated(tmp_path, capsys, "3000")
    assert good["p10"] < good["tokens_per_second_per_gpu"] < good["p90"]
    assert odd["id"] == "odd"
    assert odd["skipped"]


def test_an_evaluation_does_not_see_what_was_measured(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert evaluated(tmp_path, capsys, "3000") == evaluated(tmp_path, capsys, "9")


def test_a_file_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "no column" in refused(capsys, "evaluate", "memory", str(path))


def test_a_request_is_read_from_standard_input() -> None:
    body = QUESTIONS[0].read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "recommend", "-", "--json", *AS_OF], input=body, capture_output=True, check=True, timeout=120
    )
    assert json.loads(done.stdout)["plans"]


def test_the_command_line_offers_what_this_release_can_do() -> None:
    done = subprocess.run([sys.executable, "-m", "app.cli", "--help"], capture_output=True, check=True, text=True, timeout=120)
    offered = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("    ") and not line.startswith("     ")}
    assert offered == {"serve", "migrate", "recommend", "estimate", "evaluate", "market", "parse", "providers", "gpus", "models"}
