from __future__ import annotations

from string import Formatter

import pytest

from app.catalog.assumptions import AssumptionsError, load_assumptions, parse_assumptions
from app.catalog.texts import load_texts
from app.domain.assumptions import Figure


def _placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_both_languages_have_the_same_sentences() -> None:
    texts = load_texts()
    assert texts["en"].templates.keys() == texts["zh"].templates.keys()


def test_both_languages_fill_in_the_same_values() -> None:
    texts = load_texts()
    for key, english in texts["en"].templates.items():
        assert _placeholders(english) == _placeholders(texts["zh"].templates[key]), key


def test_every_assumption_has_a_unit_and_a_source() -> None:
    assumptions = load_assumptions()
    figures = [getattr(assumptions, name) for name in type(assumptions).__dataclass_fields__]
    assert all(entry.unit and entry.source for entry in figures if isinstance(entry, Figure))
    assert all(row.source for row in assumptions.drift)


def test_a_file_that_lacks_a_figure_does_not_load() -> None:
    with pytest.raises(AssumptionsError, match="goodput"):
        parse_assumptions({})
