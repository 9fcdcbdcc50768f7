"""``trainfare parse``: one JSON line a thing seen or refused, from files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from tests.scrapers.cases import FIXTURES

FIELDS = {"type", "provider", "region", "sku", "gpu", "gpus", "gpu_memory_gb", "vcpus", "ram_gb", "purchase_option", "term", "amount"} | {
    "currency",
    "per",
    "price_per_node_hour",
    "pointer",
}
RUNPOD = FIXTURES / "runpod" / "gpuTypes.json"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["parse", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_offer_has_the_promised_fields_and_the_figures_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    offers = [line for line in printed(capsys, "runpod", str(RUNPOD)) if line["type"] == "offer"]
    (h100,) = [line for line in offers if line["sku"] == "8x_H100-SXM5-80GB_SECURE"]
    assert set(h100) >= FIELDS
    assert (h100["amount"], h100["per"], h100["price_per_node_hour"], h100["pointer"]) == ("3.29", "gpu_hour", "26.32", "/data/gpuTypes/1")


def test_what_is_refused_is_named_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    (refused,) = [line for line in printed(capsys, "runpod", str(RUNPOD)) if line.get("reason") == "unknown_gpu"]
    assert refused["pointer"] == "/data/gpuTypes/6/displayName"


def test_a_file_that_is_no_page_of_the_provider_is_a_named_refusal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stranger = tmp_path / "a.json"
    stranger.write_text('{"error": "down"}')
    (line,) = printed(capsys, "runpod", str(stranger))
    assert (line["type"], line["reason"]) == ("rejection", "unknown_page")
    (line,) = printed(capsys, "runpod", str(stranger), "--page", "gpuTypes")
    assert (line["type"], line["reason"], line["whole"]) == ("rejection", "not_this_page", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runpot", str(RUNPOD)], "Did you mean runpod?"),
        (["runpod", "no-such-file"], "No such file"),
        (["runpod", str(RUNPOD), "--page", "plans"], "has no page 'plans', only gpuTypes, catalog"),
    ],
)
def test_a_wrong_command_is_one_line_and_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
