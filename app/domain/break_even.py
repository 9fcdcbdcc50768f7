"""At which speed or price of one plan another becomes the cheaper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.bill import MACHINE_LINES
from app.domain.hardware import Ints
from app.domain.knowledge import Knowledge
from app.domain.screening import Screened, with_speed

_GRID = 48
_ROUNDS = 2
_SLOWEST = 0.02
"""Below a fiftieth of the estimated speed something else is broken; no break-even is sought there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where a plan costs the same as its rival. ``speed_factor`` and ``price_factor`` multiply the plan's own; None: never.

    ``price_factor`` is exact as long as the plan's other lines stay what they are, since machine lines are proportional to the price.
    """

    speed_factor: float | None
    price_factor: float | None


def crossing(screened: Screened, plan: int, rival: int, knowledge: Knowledge) -> Crossing:
    """Break-even of row ``plan`` against the dearer row ``rival`` of ``screened.plans``; the rival itself stays as estimated."""
    cost = screened.projection.total_cost
    gap = float(cost[rival] - cost[plan])
    machines = float(sum(screened.projection.lines[name][plan] for name in MACHINE_LINES))
    price = 1.0 + gap / machines if machines > 0.0 else None
    return Crossing(speed_factor=_speed_factor(screened, plan, float(cost[rival]), knowledge), price_factor=price)


def _speed_factor(screened: Screened, plan: int, rival_cost: float, knowledge: Knowledge) -> float | None:
    """The largest speed factor ≤ 1 at which ``plan`` costs at least ``rival_cost``: a grid, refined around its first crossing.

    Cost falls with speed in steps (billing steps, whole terms), so a grid finds what a root finder might step over.
    """
    slow, fast = _SLOWEST, 1.0
    row: Ints = np.full(_GRID, plan, dtype=np.int64)
    for _ in range(_ROUNDS):
        tried = np.geomspace(fast, slow, _GRID)
        dearer = np.flatnonzero(with_speed(screened, row, tried, knowledge).total_cost >= rival_cost)
        if len(dearer) == 0:
            return None
        first = int(dearer[0])
        if first == 0:
            return float(tried[0])
        fast, slow = float(tried[first - 1]), float(tried[first])
    return slow
