"""The order of plans, the Pareto front, the curve and the back-up."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ranking import (
    PlanFigures,
    best_of_each,
    cheapest_by_count,
    choose_shown,
    objective_value,
    pareto_front,
    ranked,
    stable_keys,
)

points = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=40)


def figures(rows):
    return PlanFigures(
        cost=np.array([row[0] for row in rows], dtype=float),
        cost_p90=np.array([row[0] * 1.5 for row in rows], dtype=float),
        hours=np.array([row[1] for row in rows], dtype=float),
        tight=np.array([row[2] if len(row) > 2 else False for row in rows]),
        key=np.arange(len(rows)),
    )


def test_expected_cost_puts_the_cheapest_first():
    rows = figures([(9.0, 1.0), (3.0, 7.0), (5.0, 2.0)])
    assert ranked(rows, objective_value(rows, "expected_cost")).tolist() == [1, 2, 0]


def test_time_puts_the_fastest_first():
    rows = figures([(9.0, 1.0), (3.0, 7.0), (5.0, 2.0)])
    assert ranked(rows, objective_value(rows, "time")).tolist() == [0, 2, 1]


def test_a_tight_plan_comes_after_an_equal_one_that_fits():
    rows = figures([(5.0, 2.0, True), (5.0, 2.0, False)])
    assert ranked(rows, rows.cost).tolist() == [1, 0]


@given(points, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_the_input(rows, rng):
    straight = figures(rows)
    order = ranked(straight, straight.cost)
    shuffle = list(range(len(rows)))
    rng.shuffle(shuffle)
    index = np.array(shuffle)
    mixed = PlanFigures(
        cost=straight.cost[index],
        cost_p90=straight.cost_p90[index],
        hours=straight.hours[index],
        tight=straight.tight[index],
        key=straight.key[index],
    )
    assert index[ranked(mixed, mixed.cost)].tolist() == order.tolist()


@given(points)
def test_the_front_holds_exactly_the_points_that_nothing_beats(rows):
    cost, hours = (np.array([row[i] for row in rows], dtype=float) for i in (0, 1))
    front = {rows[i] for i in pareto_front(cost, hours)}
    wanted = {a for a in rows if not any(b[0] <= a[0] and b[1] <= a[1] and b != a for b in rows)}
    assert front == wanted


@given(points)
def test_a_dominated_plan_changes_no_front(rows):
    cost, hours = (np.array([row[i] for row in rows], dtype=float) for i in (0, 1))
    before = pareto_front(cost, hours).tolist()
    after = pareto_front(np.append(cost, cost.max() + 1), np.append(hours, hours.max() + 1)).tolist()
    assert after == before


def test_the_best_of_each_group_keeps_the_order():
    assert best_of_each(np.array([3, 1, 0, 2]), np.array([7, 5, 7, 5])).tolist() == [3, 0]


def test_the_curve_takes_the_cheapest_plan_at_each_count():
    cost, hours = np.array([5.0, 4.0, 9.0, 1.0]), np.array([1.0, 2.0, 1.0, 1.0])
    gpu, gpus = np.array([0, 0, 0, 1]), np.array([8, 8, 16, 8])
    assert cheapest_by_count(cost, hours, np.arange(4), gpu, gpus, [0]).tolist() == [1, 2]


def test_the_back_up_is_the_best_plan_of_another_platform():
    order = np.array([0, 1, 2])
    provider, upstream = np.array([0, 1, 2]), np.array([0, 0, 2])
    shown, backup = choose_shown(order, provider, upstream, 3)
    assert (shown.tolist(), backup) == ([0, 1, 2], 3)


def test_the_last_shown_plan_gives_way_to_a_back_up_further_down():
    order = np.arange(5)
    owner = np.array([0, 0, 0, 0, 1])
    shown, backup = choose_shown(order, owner, owner, 3)
    assert (shown.tolist(), backup) == ([0, 1, 4], 3)


def test_there_is_no_back_up_when_one_platform_is_all_there_is():
    shown, backup = choose_shown(np.arange(3), np.zeros(3), np.zeros(3), 2)
    assert (shown.tolist(), backup) == ([0, 1], None)


def test_keys_follow_the_identity_not_the_position():
    keys = stable_keys([np.array([2, 1, 2]), np.array([0, 5, 0])])
    assert keys[0] == keys[2] > keys[1]
