"""Names in requests: cards and families, near names."""

from __future__ import annotations

import pytest

from app.api.names import COUNTRIES, Cards, Findings, expand
from app.catalog.gpus import load_gpus

GPUS = tuple(sorted(load_gpus()))


@pytest.mark.parametrize("name", GPUS)
def test_every_canonical_name_means_its_own_card(name: str) -> None:
    assert name in expand(name, GPUS)
    assert Cards(GPUS).one(name, "", Findings()) == name


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("NVIDIA GeForce RTX 3090", {"RTX3090-24GB"}),
        ("a100 80 GB", {"A100-80GB", "A100-PCIE-80GB", "A100-SXM4-80GB"}),
        ("H100 SXM", {"H100-SXM5-80GB"}),
        ("gaudi 2", {"Gaudi2-96GB"}),
        ("4070 Ti SUPER", {"RTX4070TiSUPER-16GB"}),
        ("RTX A6000", {"RTX-A6000-48GB"}),
        ("RTX 6000", {"RTX6000-Ada-48GB", "RTX6000-Turing-24GB"}),
        ("A10", {"A10-24GB"}),
        ("L40", {"L40-48GB"}),
        ("80GB", set()),
        ("NVIDIA", set()),
        ("H1", set()),
        ("", set()),
    ],
)
def test_a_family_means_exactly_its_cards(given: str, meant: set[str]) -> None:
    assert set(expand(given, GPUS)) == meant


def test_a_family_where_one_card_is_needed_is_a_fault_that_lists_them() -> None:
    findings = Findings()
    Cards(GPUS).one("A100", "/here", findings)
    (fault,) = findings.faults
    assert (fault.pointer, fault.code) == ("/here", "ambiguous_gpu")
    assert "A100-SXM4-40GB" in fault.detail


def test_one_card_under_another_spelling_is_said() -> None:
    findings = Findings()
    assert Cards(GPUS).one("rtx 3090", "/here", findings) == "RTX3090-24GB"
    assert findings.readings[0].read_as == ("RTX3090-24GB",)


def test_an_unknown_card_comes_with_families_near_it() -> None:
    findings = Findings()
    Cards(GPUS).family("H101", "/here", findings)
    assert "H100" in findings.faults[0].detail


def test_countries_are_those_of_the_standard() -> None:
    assert {"US", "CN", "DE", "GB", "TW"} <= COUNTRIES
    assert not {"UK", "EU", "ZZ", "001"} & COUNTRIES
