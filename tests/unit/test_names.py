from __future__ import annotations

import csv

import pytest

from app.catalog.gpus import load_gpus
from scrapers.names import CARD_MEMORY_GB, gpu_name
from tests.support.facts import FACTS, needs_facts


@pytest.mark.parametrize(
    ("text", "memory_gb", "card"),
    [
        ("NVIDIA H100 80GB HBM3", None, "H100-SXM5-80GB"),
        ("H100_SXM5", 80, "H100-SXM5-80GB"),
        ("H100 PCIe", 80, "H100-PCIE-80GB"),
        ("H100 NVL", 94, "H100-NVL-94GB"),
        ("NVIDIA A100-SXM4-80GB", None, "A100-SXM4-80GB"),
        ("A100", 40, "A100-40GB"),
        ("A100", 80, "A100-80GB"),
        ("Tesla V100", 32, "V100-32GB"),
        ("NVIDIA GeForce RTX 4090", None, "RTX4090-24GB"),
        ("RTX 4090", 48, "RTX4090-48GB-modified"),
        ("RTX 6000 Ada", 48, "RTX6000-Ada-48GB"),
        ("RTX6000", 24, "RTX6000-Turing-24GB"),
        ("RTX PRO 6000 Blackwell Server Edition", 96, "RTXPRO6000-Blackwell-96GB"),
        ("A10", 24, "A10-24GB"),
        ("A10G", 24, "A10G-24GB"),
        ("L4", 22.4, "L4-24GB"),
        ("B300", 262, "B300-SXM-288GB"),
    ],
)
def test_a_sources_spelling_names_one_card(text: str, memory_gb: float | None, card: str) -> None:
    assert gpu_name(text, memory_gb) == card


@pytest.mark.parametrize(
    ("text", "memory_gb"),
    [
        ("A100", None),
        ("V100", None),
        ("RTX6000", None),
        ("H800", 80),
        ("H100 NVL", 80),
        ("RTX 4070", 16),
        ("RTX 3060", 8),
        ("A4000", 48),
        ("L40", 24),
        ("H100", 40),
        ("H100 Ti", 80),
        ("vGPU-48GB", 48),
        ("", None),
        ("RTX 3080x2", 20),
    ],
)
def test_a_name_that_is_unknown_or_contradicts_its_memory_names_no_card(text: str, memory_gb: float | None) -> None:
    assert gpu_name(text, memory_gb) is None


def test_every_card_of_the_table_is_known_with_the_same_memory() -> None:
    assert {name: gpu.memory_gb for name, gpu in load_gpus().items()} == CARD_MEMORY_GB


def test_every_canonical_name_names_itself() -> None:
    assert [card for card, memory in CARD_MEMORY_GB.items() if gpu_name(card, memory) != card] == []


@needs_facts
def test_no_name_of_the_price_file_becomes_a_card_of_another_family() -> None:
    assert FACTS is not None
    with (FACTS / "prices-catalog.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    other_card_known_from_the_machine = {("L40", "L40S-48GB")}
    wrong = set()
    for row in rows:
        named = gpu_name(row["source_gpu_name"], float(row["gpu_memory_gb_each"]))
        if named is not None and named.split("-")[0] != row["gpu_model"].split("-")[0]:
            wrong.add((row["source_gpu_name"], row["gpu_model"]))
    assert wrong <= other_card_known_from_the_machine
