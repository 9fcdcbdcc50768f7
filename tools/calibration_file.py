"""app/data/calibration.toml as a list of constants: read, changed by the fit, written back in the same form."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

_Value = TypeVar("_Value")
PLAIN = ""
"""Key of a constant that is one number."""
_HEAD = """# Constants of the speed model (app/domain/calibration.py says what each is for). Written by tools/calibrate.py.
# A constant with `bounds` is fitted on measured runs within them, from `prior`; one without is taken from its source.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """One constant: a number under the key PLAIN, or several by class.

    ``bounds`` holds low and high of each fitted key, ``prior`` where physics puts it before any row is seen.
    """

    name: str
    value: Mapping[str, float]
    unit: str
    meaning: str
    source: str
    bounds: Mapping[str, tuple[float, float]]
    prior: Mapping[str, float]

    def plain(self) -> float | dict[str, float]:
        """As the calibration wants it."""
        return self.value[PLAIN] if PLAIN in self.value else dict(self.value)

    def with_value(self, value: Mapping[str, float]) -> Constant:
        """The same constant with other numbers."""
        return replace(self, value=value)


def read_constants(path: Path) -> list[Constant]:
    """All constants in the order of the file."""
    return [_constant(name, entry) for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()]


def _constant(name: str, entry: Mapping[str, Any]) -> Constant:
    value, bounds = entry["value"], entry.get("bounds", {})
    numbers = value if isinstance(value, dict) else {PLAIN: value}
    ranges = bounds if isinstance(bounds, dict) else {PLAIN: bounds}
    prior = entry.get("prior", {})
    priors = prior if isinstance(prior, dict) else {PLAIN: prior}
    return Constant(
        name=name,
        value={key: float(number) for key, number in numbers.items()},
        unit=str(entry["unit"]),
        meaning=str(entry["meaning"]),
        source=str(entry["source"]),
        bounds={key: (float(low), float(high)) for key, (low, high) in ranges.items()},
        prior={key: float(number) for key, number in priors.items()},
    )


def write_constants(path: Path, constants: Sequence[Constant]) -> None:
    """Write them, four significant digits."""
    parts = [_HEAD]
    for constant in constants:
        lines = [f"[{constant.name}]", f"value = {_table(constant.value, _number)}"]
        lines += [f'{key} = "{getattr(constant, key)}"' for key in ("unit", "meaning", "source")]
        if constant.bounds:
            lines.append(f"prior = {_table(constant.prior, _number)}")
            lines.append(f"bounds = {_table(constant.bounds, lambda pair: f'[{_number(pair[0])}, {_number(pair[1])}]')}")
        parts.append("\n".join(lines) + "\n")
    path.write_text("\n".join(parts), encoding="utf-8")


def _table(values: Mapping[str, _Value], show: Callable[[_Value], str]) -> str:
    if PLAIN in values:
        return show(values[PLAIN])
    return "{ " + ", ".join(f'"{key}" = {show(value)}' for key, value in values.items()) + " }"


def _number(value: float) -> str:
    return repr(float(f"{value:.4g}"))
