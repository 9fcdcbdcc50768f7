"""Read app/data/assumptions.toml into ``Assumptions``. Nothing is defaulted: a figure without unit or source does not load."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

from app.domain.assumptions import Assumptions, DriftRow, Figure, FigureRange


class AssumptionsError(ValueError):
    """The file lacks a figure, has one too many, or a figure lacks its unit or source."""


@cache
def load_assumptions() -> Assumptions:
    """The shipped planning constants.

    Raises:
        AssumptionsError: the file and the dataclass do not agree.
    """
    text = (resources.files("app") / "data" / "assumptions.toml").read_text(encoding="utf-8")
    return parse_assumptions(tomllib.loads(text))


def parse_assumptions(document: Mapping[str, Any]) -> Assumptions:
    """``Assumptions`` from a parsed TOML document.

    Raises:
        AssumptionsError: see the class.
    """
    wanted = {field.name for field in fields(Assumptions)}
    if wanted != set(document):
        msg = f"missing {sorted(wanted - set(document))}, unknown {sorted(set(document) - wanted)}"
        raise AssumptionsError(msg)
    entries: dict[str, Any] = {name: _entry(name, value) for name, value in document.items()}
    return Assumptions(**entries)


def _entry(name: str, value: Any) -> object:
    if isinstance(value, list):
        return tuple(DriftRow(**row) for row in value)
    if "value" in value:
        return _figure(name, value)
    if name == "fee_ranges_usd":
        return {key: _range(f"{name}.{key}", entry) for key, entry in value.items()}
    return {key: _figure(f"{name}.{key}", entry) for key, entry in value.items()}


def _figure(name: str, entry: Mapping[str, Any]) -> Figure:
    try:
        figure = Figure(float(entry["value"]), entry["unit"], entry["source"])
    except KeyError as error:
        msg = f"{name} lacks {error}"
        raise AssumptionsError(msg) from error
    if not figure.unit or not figure.source:
        msg = f"{name} needs a unit and a source"
        raise AssumptionsError(msg)
    return figure


def _range(name: str, entry: Mapping[str, Any]) -> FigureRange:
    span = FigureRange(**entry)
    if not 0.0 <= span.low <= span.mid <= span.high:
        msg = f"{name}: low ≤ mid ≤ high does not hold"
        raise AssumptionsError(msg)
    return span
