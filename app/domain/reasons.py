"""Why a plan stands where it does: against the first, on the front, at its number of GPUs, and what would turn the order."""

from __future__ import annotations

import numpy as np

from app.domain.answer import BreakEven
from app.domain.break_even import crossing
from app.domain.explain import figure, hours_text, money_text
from app.domain.hardware import Floats, Ints
from app.domain.knowledge import Knowledge
from app.domain.physics import SpeedEstimate
from app.domain.screening import Screened
from app.domain.texts import Texts

_BEST = {"expected_cost": "best_cost", "worst_case_cost": "best_worst_case", "time": "best_time", "cost_and_delay": "best_delay"}


def why(screened: Screened, shown: Ints, place: int, *, front: bool, speed: SpeedEstimate, texts: Texts) -> tuple[str, ...]:
    """Sentences for the plan at ``place`` (from 0) of ``shown`` (rows of ``screened.plans``)."""
    row, first = int(shown[place]), int(shown[0])
    said: list[str] = []
    if place == 0:
        key = _BEST[screened.preferences.objective]
        said.append(texts.say(f"why.{key}", admitted=figure(len(screened.admitted()), 12), candidates=figure(len(screened.candidates), 12)))
    else:
        said.append(_against_first(screened, row, first, texts))
    if front:
        said.append(texts.say("why.front"))
    said.extend(_count(screened, row, texts))
    bottleneck = texts.say(f"bottleneck.{speed.bottleneck}")
    if speed.mfu is None:
        said.append(texts.say("why.bottleneck_without_mfu", bottleneck=bottleneck))
    else:
        said.append(texts.say("why.bottleneck", bottleneck=bottleneck, mfu=figure(speed.mfu * 100.0, 2)))
    if speed.basis != "model":
        said.append(texts.say(f"why.{speed.basis}"))
    return tuple(said)


def _against_first(screened: Screened, row: int, first: int, texts: Texts) -> str:
    cost, hours = screened.cost, screened.projection.total_hours
    percent = (cost[row] / cost[first] - 1.0) * 100.0 if cost[first] > 0.0 else 0.0
    slower = float(hours[row] - hours[first])
    direction = texts.say("why.slower" if slower >= 0.0 else "why.faster")
    return texts.say("why.against_first", percent=figure(float(percent), 2), hours=hours_text(texts, abs(slower)), direction=direction)


def _count(screened: Screened, row: int, texts: Texts) -> list[str]:
    """What the next larger number of GPUs under the same tariff would do, where that is faster and was priced too."""
    plans, hours = screened.plans, screened.projection.total_hours
    same = np.flatnonzero((plans.tariff == plans.tariff[row]) & (plans.nodes > plans.nodes[row]) & (hours < hours[row]))
    if len(same) == 0:
        return []
    other = int(same[np.argmin(plans.nodes[same])])
    if screened.cost[other] < screened.cost[row]:
        return []
    per_node = int(screened.market.offers.gpus_per_node[plans.offer[row]])
    return [
        texts.say(
            "why.count",
            gpus=figure(per_node * int(plans.nodes[row]), 12),
            other=figure(per_node * int(plans.nodes[other]), 12),
            hours=hours_text(texts, float(screened.projection.total_hours[other])),
            cost=money_text(texts, float(screened.cost[other]), screened.preferences.currency),
        )
    ]


def break_evens(
    screened: Screened,
    shown: Ints,
    place: int,
    *,
    mfu: float | None,
    price_per_node_hour: tuple[float, str],
    knowledge: Knowledge,
    texts: Texts,
) -> tuple[BreakEven, ...]:
    """Where the plan at ``place`` and the next one down the list cost the same, if the next is the dearer one.

    ``price_per_node_hour`` is the plan's own price and its currency.
    """
    if place + 1 >= len(shown):
        return ()
    row, rival = int(shown[place]), int(shown[place + 1])
    costs: Floats = screened.cost
    if not costs[rival] > costs[row]:
        return ()
    point = crossing(screened, row, rival, knowledge)
    against = place + 2
    found: list[BreakEven] = []
    if point.speed_factor is not None:
        if mfu is None:
            value = point.speed_factor
            text = texts.say("break_even.speed", against=against, value=figure(value * 100.0))
            found.append(BreakEven(against=against, input="speed_factor", value=value, text=text))
        else:
            value = mfu * point.speed_factor
            found.append(
                BreakEven(
                    against=against,
                    input="mfu",
                    value=value,
                    text=texts.say("break_even.mfu", against=against, value=figure(value * 100.0)),
                )
            )
    if point.price_factor is not None:
        amount, currency = price_per_node_hour
        value = amount * point.price_factor
        text = texts.say("break_even.price", against=against, value=f"{figure(value, 4)} {currency}")
        found.append(BreakEven(against=against, input="price_per_node_hour", value=value, text=text))
    return tuple(found)
