"""Reads the constants of the speed model from app/data/calibration.toml."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

from app.domain.calibration import Calibration

CALIBRATION_FILE = Path(__file__).resolve().parents[1] / "data" / "calibration.toml"


def load_calibration(path: Path = CALIBRATION_FILE) -> Calibration:
    """The constants in force.

    Raises:
        ValueError: a constant is missing, unknown, or not a number.
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return calibration_of({name: table["value"] for name, table in document.items()})


def calibration_of(values: dict[str, float | dict[str, float]]) -> Calibration:
    """A calibration from one number, or one table of numbers, a constant.

    Raises:
        ValueError: a constant is missing, unknown, or not a number.
    """
    wanted = {field.name for field in fields(Calibration)}
    if wanted != values.keys():
        message = f"calibration: missing {sorted(wanted - values.keys())}, unknown {sorted(values.keys() - wanted)}"
        raise ValueError(message)
    for name, value in values.items():
        numbers = value.values() if isinstance(value, dict) else [value]
        if not all(isinstance(number, int | float) for number in numbers):
            message = f"calibration: {name} is not a number"
            raise ValueError(message)
    return Calibration(**values)  # type: ignore[arg-type]  # names and kinds are checked above
