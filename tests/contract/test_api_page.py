"""docs/api.md names every kind of problem and every meter."""

from __future__ import annotations

from pathlib import Path

from app.api.observe import Metrics
from app.api.problems import KINDS
from app.main import MOST_BODY_BYTES

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_page_lists_every_kind_of_problem_with_its_status() -> None:
    for status, (slug, _) in KINDS.items():
        assert f"| `urn:trainfare:problem:{slug}` | {status} |" in PAGE


def test_the_page_states_the_limit_of_a_body() -> None:
    assert f"{MOST_BODY_BYTES:,} bytes" in PAGE


def test_the_page_names_every_meter() -> None:
    for meter in Metrics().registry.collect():
        assert meter.name in PAGE
