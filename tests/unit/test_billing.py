from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.billing import Tiers, billing_table, metered_hours, period_hours, tiers_of, whole_period_hours
from app.domain.market import PURCHASE_OPTIONS
from tests.support.bills import ASSUMPTIONS
from tests.support.builders import a_billing_rule, a_market

PRICES = st.lists(st.tuples(st.floats(1.0, 5000.0), st.floats(0.0, 2.0)), min_size=1, max_size=5)


def _hours(used: float, step: float, minimum: float) -> float:
    return float(metered_hours(np.array([used]), np.array([step]), np.array([minimum]))[0])


def _whole(used: float, period: float, *, block: bool = False) -> float:
    return float(whole_period_hours(np.array([used]), np.array([period]), np.array([block]), 14.0)[0])


def _stairs(steps: list[tuple[float, float]], free: float = 0.0) -> Tiers:
    lows = np.concatenate(([0.0], np.cumsum([width for width, _ in steps])[:-1])).tolist()
    highs: list[float | None] = [*lows[1:], None]
    return tiers_of([(low, high, price) for low, high, (_, price) in zip(lows, highs, steps, strict=True)], free)


@pytest.mark.parametrize(
    ("used", "step", "minimum", "billed"),
    [
        (1.5, 1.0, 60.0, 1.5),  # by the second
        (1.5, 3600.0, 3600.0, 2.0),  # a started hour is paid
        (0.001, 1.0, 60.0, 60.0 / 3600.0),  # the minimum
        (2.0, 3600.0, 3600.0, 2.0),  # a whole number of steps stays one
        (0.0, 3600.0, 3600.0, 0.0),  # nothing for no use
    ],
)
def test_use_is_metered_by_step_and_minimum(used: float, step: float, minimum: float, billed: float) -> None:
    assert _hours(used, step, minimum) == pytest.approx(billed)


@pytest.mark.parametrize(("used", "paid"), [(10.0, 730.0), (730.0, 730.0), (731.0, 1460.0)])
def test_a_month_is_paid_whole(used: float, paid: float) -> None:
    assert _whole(used, 730.0) == paid


@pytest.mark.parametrize(("days", "paid_days"), [(0.5, 1.0), (14.0, 14.0), (14.1, 21.0), (22.0, 28.0)])
def test_capacity_blocks_grow_by_days_and_after_two_weeks_by_weeks(days: float, paid_days: float) -> None:
    assert _whole(days * 24.0, 24.0, block=True) == paid_days * 24.0


def test_a_price_by_the_month_without_a_term_still_sells_whole_months() -> None:
    assert period_hours(np.array([0.0, 0.0, 8760.0]), np.array([1.0, 730.0, 730.0])).tolist() == [0.0, 730.0, 8760.0]


def test_a_rule_for_one_option_beats_the_general_rule() -> None:
    rules = [a_billing_rule(), a_billing_rule(option="spot", step_seconds=3600, minimum_seconds=3600)]
    table = billing_table(a_market(billing_rules=rules), ASSUMPTIONS)
    assert table.step_seconds[0, PURCHASE_OPTIONS.index("on_demand")] == 1
    assert table.step_seconds[0, PURCHASE_OPTIONS.index("spot")] == 3600


def test_an_unknown_rule_is_cautious_and_says_that_it_is_unknown() -> None:
    table = billing_table(a_market(billing_rules=[]), ASSUMPTIONS)
    assert table.step_seconds[0, 0] == 3600
    assert not table.known.any()


def test_tiers_are_marginal() -> None:
    # 10,240 × 0.09 + 1,760 × 0.085 = 921.60 + 149.60
    tiers = tiers_of([(0.0, 10240.0, 0.09), (10240.0, None, 0.085)])
    assert tiers.cost(12000.0) == pytest.approx(1071.20)


def test_a_free_tier_inside_a_priced_one_wins_where_it_holds() -> None:
    # AWS prints 0–100 GB at 0 beside 0–10,240 GB at 0.09: 150 GB cost 50 × 0.09
    tiers = tiers_of([(0.0, 100.0, 0.0), (0.0, 10240.0, 0.09), (10240.0, None, 0.085)])
    assert tiers.cost(150.0) == pytest.approx(4.5)


def test_a_free_allowance_equals_a_free_first_tier() -> None:
    allowance = tiers_of([(100.0, 10240.0, 0.09), (10240.0, None, 0.085)], 100.0)
    assert allowance.cost(150.0) == pytest.approx(4.5)
    assert allowance.cost(100.0) == 0.0


def test_what_no_row_covers_is_not_free() -> None:
    tiers = tiers_of([(100.0, 200.0, 0.09)])
    assert tiers.cost(50.0) == pytest.approx(4.5)
    assert tiers.cost(300.0) - tiers.cost(200.0) == pytest.approx(9.0)


@given(PRICES, st.floats(0.0, 500.0), st.floats(0.0, 20000.0), st.floats(0.0, 20000.0))
def test_more_volume_never_costs_less(steps: list[tuple[float, float]], free: float, one: float, other: float) -> None:
    tiers = _stairs(steps, free)
    assert tiers.cost(min(one, other)) <= tiers.cost(max(one, other)) + 1e-9


@given(PRICES, st.floats(0.0, 500.0))
def test_tiers_start_at_nothing_and_have_no_jumps(steps: list[tuple[float, float]], free: float) -> None:
    tiers = _stairs(steps, free)
    assert tiers.cost(0.0) == 0.0
    for bound in tiers.bounds:
        assert tiers.cost(bound + 1e-6) - tiers.cost(max(bound - 1e-6, 0.0)) <= 1e-5


@given(st.floats(0.001, 1000.0), st.floats(0.001, 1000.0), st.sampled_from([1.0, 60.0, 3600.0]), st.sampled_from([0.0, 60.0, 3600.0]))
def test_longer_use_is_never_billed_less_and_never_below_itself(one: float, other: float, step: float, minimum: float) -> None:
    short, long = sorted((one, other))
    assert _hours(short, step, minimum) <= _hours(long, step, minimum)
    assert _hours(short, step, minimum) >= short - 1e-6
