"""Orders plans: by the objective, best of each machine, the Pareto front of cost and time, the curve over GPU counts, the back-up.

Everything here is arithmetic on columns of admitted plans; order of the input never matters, because every tie ends in the plan's own key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.hardware import Bools, Floats, Ints
from app.domain.request import Objective


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFigures:
    """What ranking compares, one row a plan; money in the answer's currency.

    ``key`` is a total order of the plans that does not depend on their position (see ``stable_keys``).
    """

    cost: Floats
    cost_p90: Floats
    hours: Floats
    tight: Bools
    key: Ints


def stable_keys(columns: Sequence[Ints]) -> Ints:
    """One integer a row that orders rows by their identifying codes (≥ 0), most significant first; equal rows get equal keys."""
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        keys = keys * (int(column.max(initial=0)) + 1) + column
    return keys


def objective_value(figures: PlanFigures, objective: Objective) -> Floats:
    """What is minimised: money, or hours for ``time``. Under ``cost_and_delay`` the bill itself has a line for the value of delay."""
    if objective == "time":
        return figures.hours
    if objective == "worst_case_cost":
        return figures.cost_p90
    return figures.cost


def ranked(figures: PlanFigures, value: Floats) -> Ints:
    """Rows from best to worst: value to the cent, then plans that fit before tight ones, then time, cost and key."""
    return np.lexsort((figures.key, figures.cost, figures.hours, figures.tight, np.round(value, 2)))


def best_of_each(order: Ints, group: Ints) -> Ints:
    """The rows of ``order`` that are the first of their ``group`` (one code a row of the figures), in the same order."""
    _, first = np.unique(group[order], return_index=True)
    return order[np.sort(first)]


def pareto_front(cost: Floats, hours: Floats) -> Ints:
    """Rows that no other row beats in both cost and time, fastest last. Equal points are kept once (the first row)."""
    if len(cost) == 0:
        return np.zeros(0, dtype=np.int64)
    quick = hours <= hours[cost == cost.min()].min()  # what is slower than the cheapest is beaten by it
    rows = np.flatnonzero(quick)
    order = rows[np.lexsort((hours[rows], cost[rows]))]
    best = np.minimum.accumulate(hours[order])
    earlier = np.concatenate(([np.inf], best[:-1]))
    return order[hours[order] < earlier]


def cheapest_by_count(cost: Floats, hours: Floats, key: Ints, gpu: Ints, gpus: Ints, wanted_gpu: Sequence[int]) -> Ints:
    """For each wanted GPU model and each count of GPUs, the cheapest row; by model in the given order, then by count."""
    rows: list[int] = []
    for model in wanted_gpu:
        mine = np.flatnonzero(gpu == model)
        mine = mine[np.lexsort((key[mine], hours[mine], cost[mine]))]
        counts, first = np.unique(gpus[mine], return_index=True)
        rows.extend(mine[first[np.argsort(counts)]].tolist())
    return np.array(rows, dtype=np.int64)


def choose_shown(order: Ints, provider: Ints, upstream: Ints, limit: int) -> tuple[Ints, int | None]:
    """The rows to show and the rank (from 1) of the back-up: the best plan whose machines belong to another provider than the first's.

    ``upstream`` is the platform that really owns the machine (the provider itself when it is no broker). When the first ``limit`` rows all
    belong to one platform, the last of them gives way to the back-up, since a second source is worth more than one more of the same.
    """
    shown = order[:limit]
    if len(shown) == 0:
        return shown, None
    first = shown[0]
    other = (provider[order] != provider[first]) & (upstream[order] != upstream[first])
    places = np.flatnonzero(other)
    if len(places) == 0:
        return shown, None
    place = int(places[0])
    if place < limit:
        return shown, place + 1
    if limit == 1:
        return shown, None
    return np.concatenate((shown[:-1], order[place : place + 1])), limit
