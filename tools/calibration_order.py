"""The room that the fit moves in: constants within their bounds, and better software never slower than plainer software.

A fitted constant is a position from 0 to 1 in its room. A constant by class of software has the room that the better class leaves of its
bounds: from the end where software is slow to the better class's value. A class that is not fitted keeps its value as far as its
neighbours let it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from app.domain.hardware import Floats
from tools.calibration_file import Constant

BEST_FIRST = ("tuned", "ordinary", "fused", "script")
"""Classes of software from the fastest to the slowest; ``fused`` is a plain loop with some hand-written kernels."""
_CHAIN = tuple(name for name in BEST_FIRST if name != "fused")
MORE_IS_FASTER = frozenset({"gemm_share", "fp8_share", "overlap", "tensor_overlap", "virtual_stages"})
LESS_IS_FASTER = frozenset({"elementwise_bytes", "launch_seconds_per_layer", "step_seconds"})


class Space:
    """All fitted constants of ``constants`` as one vector of positions, in the order of the file."""

    def __init__(self, constants: Sequence[Constant]) -> None:
        self._constants = constants
        self._low = np.array([constant.bounds[key][0] for constant in constants for key in _fitted(constant)])
        self._high = np.array([constant.bounds[key][1] for constant in constants for key in _fitted(constant)])
        self._prior = np.array([constant.prior[key] for constant in constants for key in _fitted(constant)])

    def __len__(self) -> int:
        return len(self._prior)

    def position(self) -> Floats:
        """Where the constants stand now, as near as their rooms allow."""
        found: list[float] = []
        for constant in self._constants:
            values: dict[str, float] = {}
            for key in _keys(constant):
                if key not in constant.bounds:
                    values[key] = _allowed(constant, key, values)
                    continue
                low, high = _room(constant, key, values)
                values[key] = min(max(constant.value[key], low), high)
                found.append((values[key] - low) / (high - low) if high > low else 0.5)
        return np.array(found)

    def placed(self, position: Floats) -> list[Constant]:
        """The constants at ``position``."""
        share = iter(np.clip(position, 0.0, 1.0).tolist())
        return [constant.with_value(_values(constant, share)) for constant in self._constants]

    def from_prior(self, position: Floats) -> Floats:
        """How far each fitted constant at ``position`` lies from its prior, in widths of its bounds."""
        values = np.array([constant.value[key] for constant in self.placed(position) for key in _fitted(constant)])
        return np.asarray((values - self._prior) / (self._high - self._low))


def in_order(constant: Constant) -> bool:
    """Whether better software is at least as fast by this constant (True for one that is not by class of software)."""
    if constant.name not in MORE_IS_FASTER | LESS_IS_FASTER:
        return True
    values = [constant.value[name] for name in BEST_FIRST]
    return values == sorted(values, reverse=constant.name in MORE_IS_FASTER)


def _keys(constant: Constant) -> tuple[str, ...]:
    return _CHAIN if constant.name in MORE_IS_FASTER | LESS_IS_FASTER else tuple(constant.value)


def _fitted(constant: Constant) -> tuple[str, ...]:
    return tuple(key for key in _keys(constant) if key in constant.bounds)


def _room(constant: Constant, key: str, better: dict[str, float]) -> tuple[float, float]:
    """Lowest and highest value of ``key`` when better classes have the values ``better``."""
    low, high = constant.bounds[key]
    if better and constant.name in MORE_IS_FASTER:
        high = max(low, min(high, *better.values()))
    elif better and constant.name in LESS_IS_FASTER:
        low = min(high, max(low, *better.values()))
    return low, high


def _allowed(constant: Constant, key: str, better: dict[str, float]) -> float:
    """The value of a class that is not fitted, no better than better classes."""
    value = constant.value[key]
    if constant.name in MORE_IS_FASTER:
        return min(value, *better.values()) if better else value
    return max(value, *better.values()) if better and constant.name in LESS_IS_FASTER else value


def _values(constant: Constant, share: Iterator[float]) -> dict[str, float]:
    """All values of one constant; each fitted one takes the next of ``share``."""
    values: dict[str, float] = {}
    for key in _keys(constant):
        if key in constant.bounds:
            low, high = _room(constant, key, values)
            values[key] = low + next(share) * (high - low)
        else:
            values[key] = _allowed(constant, key, values)
    if "fused" in constant.value:
        low, high = sorted((values["ordinary"], values["script"]))
        values["fused"] = min(max(constant.value["fused"], low), high)
    return {key: values[key] for key in constant.value}
