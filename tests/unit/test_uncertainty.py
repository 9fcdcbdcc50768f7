from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from app.domain.drift import drift_table, gpu_class
from app.domain.market_columns import Market
from app.domain.money import Money
from app.domain.request import Constraints
from app.domain.uncertainty import points, poisson_quantile
from tests.support.bills import ASSUMPTIONS, a_job, detailed, plans, projected
from tests.support.builders import AS_OF, GPUS, a_gpu, a_market, a_provider, a_source, a_tariff


def _drift(age_days: float | None, kind: str = "gpu_cloud", **tariff: Any) -> tuple[float, float]:
    observed = None if age_days is None else AS_OF - timedelta(days=age_days)
    source = a_source(observed_at=observed, date_precision="unknown" if observed is None else "day")
    market: Market = a_market(tariffs=[a_tariff(source=source, **tariff)], providers=[a_provider(kind=kind)])
    table = drift_table(market, ASSUMPTIONS)
    return float(table.down[0]), float(table.up[0])


def test_the_points_of_each_column_are_evenly_spread_normals() -> None:
    assert np.mean(points(1000).speed) == pytest.approx(0.0, abs=1e-9)
    assert np.quantile(points(1000).price, 0.9) == pytest.approx(1.2816, abs=0.01)
    assert abs(np.corrcoef(points(1000).speed, points(1000).price)[0, 1]) < 0.1


@pytest.mark.parametrize("mean", [0.01, 0.7, 5.0, 40.0])
def test_interruptions_are_counted_as_poisson(mean: float) -> None:
    uniform = (np.arange(500) + 0.5) / 500
    assert poisson_quantile(uniform, np.full(500, mean)).tolist() == stats.poisson.ppf(uniform, mean).tolist()


@given(st.floats(0.0, 500.0), st.floats(0.0, 500.0), st.floats(0.01, 0.99))
def test_a_higher_rate_never_draws_fewer_interruptions(one: float, other: float, uniform: float) -> None:
    low, high = poisson_quantile(np.full(2, uniform), np.array(sorted((one, other))))
    assert low <= high + 1e-9


def test_the_same_question_gives_the_same_numbers() -> None:
    market = a_market()
    assert detailed(a_job(), market).bill.total == detailed(a_job(), a_market()).bill.total


@given(st.floats(0.1, 2000.0), st.floats(0.0, 0.6), st.sampled_from(["on_demand", "spot"]), st.floats(1.0, 3.0))
def test_percentiles_are_in_order(hours: float, sigma: float, option: str, attempts: float) -> None:
    market = a_market(tariffs=[a_tariff(option=option)])
    found = detailed(a_job(hours_at_unit_speed=hours, attempts=attempts), market, plans(market, sigma=sigma))
    assert found.bill.total.p10 <= found.bill.total.p50 <= found.bill.total.p90
    assert found.timeline.total.p10 <= found.timeline.total.p50 <= found.timeline.total.p90


def test_speed_error_alone_gives_its_own_quantiles() -> None:
    # ln speed ± 0.2: P10–P90 of 100 h of stepping lie at 100·e^(±0.2563) around the rest of the time line
    market = a_market()
    total = detailed(a_job(hours_at_unit_speed=100.0), market, plans(market, sigma=0.2)).timeline.total
    assert total.p90 - total.p50 == pytest.approx(100.0 * (np.exp(0.2563) - 1.0), rel=0.02)
    assert total.p50 - total.p10 == pytest.approx(100.0 * (1.0 - np.exp(-0.2563)), rel=0.02)


@pytest.mark.parametrize("option", ["on_demand", "spot"])
def test_the_bounds_that_rank_are_close_to_the_draws_that_are_shown(option: str) -> None:
    market = a_market(tariffs=[a_tariff(option=option)])
    columns = plans(market, sigma=0.3)
    job = a_job(hours_at_unit_speed=100.0, data={"dataset_gb": 1000.0, "keep_storage_days": 30.0, "download_gb": 500.0})
    screened, shown = projected(job, market, columns), detailed(job, market, columns)
    assert screened.cost_p90[0] == pytest.approx(shown.bill.total.p90, rel=0.06)
    assert screened.cost_p10[0] == pytest.approx(shown.bill.total.p10, rel=0.06)
    assert screened.hours_p90[0] == pytest.approx(shown.timeline.total.p90, rel=0.06)


def test_probabilities_follow_the_limits() -> None:
    market = a_market()
    middle = detailed(a_job(), market)
    limits = Constraints(budget=Money.of(f"{middle.bill.total.p50:.2f}", "USD"), deadline_hours=middle.timeline.total.p90)
    chance = detailed(a_job(), market, constraints=limits).probability
    assert chance.over_budget == pytest.approx(0.5, abs=0.06)
    assert chance.late == pytest.approx(0.1, abs=0.01)


def test_without_limits_no_probability_is_claimed() -> None:
    chance = detailed(a_job(), a_market()).probability
    assert (chance.over_budget, chance.late) == (None, None)


def test_slower_takes_a_third_more_stepping_and_the_worst_case_is_the_worst() -> None:
    expected, slower, struck, worst = detailed(a_job(hours_at_unit_speed=100.0), a_market()).scenarios
    assert slower.hours - expected.hours == pytest.approx(30.0, rel=0.02)
    assert struck.hours - expected.hours == pytest.approx(3.0 + ASSUMPTIONS.restart_hours.value + 0.25, rel=0.02)
    assert worst.hours > max(slower.hours, struck.hours)
    assert worst.cost.value > slower.cost.value > expected.cost.value


def test_the_scenario_as_expected_is_the_bill() -> None:
    found = detailed(a_job(), a_market())
    assert found.scenarios[0].cost.value == found.bill.total.p50
    assert found.scenarios[0].hours == found.timeline.total.p50


def test_drift_after_the_measured_span_is_the_measured_one() -> None:
    # older cards at GPU clouds: +9.2 % and −28 % at P90 and P10 after 90 days
    down, up = _drift(90.0)
    assert up == pytest.approx(np.log(1.092) / 1.2815516)
    assert down == pytest.approx(-np.log(0.72) / 1.2815516)


def test_drift_grows_with_the_root_of_the_age() -> None:
    assert _drift(90.0)[1] == pytest.approx(3.0 * _drift(10.0)[1])


def test_a_price_without_a_date_drifts_like_the_oldest() -> None:
    assert _drift(None) == _drift(365.0) == _drift(3650.0)


def test_spot_drifts_more_than_list_prices_and_marketplaces_more_than_hyperscalers() -> None:
    assert _drift(30.0, option="spot")[1] > _drift(30.0)[1]
    assert _drift(30.0, "marketplace")[1] > _drift(30.0, "hyperscaler")[1]


def test_an_older_price_widens_the_bill() -> None:
    fresh, old = (a_market(tariffs=[a_tariff(source=a_source(observed_at=AS_OF - timedelta(days=days)))]) for days in (1.0, 300.0))
    narrow, wide = (detailed(a_job(), market).bill.total for market in (fresh, old))
    assert wide.p90 > narrow.p90
    assert wide.p50 == narrow.p50


def test_every_option_and_class_has_a_drift() -> None:
    for kind in ("hyperscaler", "gpu_cloud", "marketplace", "broker", "china", "other"):
        for option in ("on_demand", "spot", "reserved", "capacity_block"):
            assert _drift(30.0, kind, option=option)[1] > 0.0


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        (GPUS["H100-SXM5-80GB"], "current"),
        (GPUS["A100-SXM4-80GB"], "older"),
        (a_gpu(name="RTXPRO6000-Blackwell-96GB", architecture="Blackwell", form_factor="PCIe"), "older"),
        (a_gpu(name="RTX4090-24GB", architecture="Ada", form_factor="consumer"), "consumer"),
    ],
)
def test_cards_fall_into_the_classes_that_were_measured(gpu: Any, expected: str) -> None:
    assert gpu_class(replace(gpu)) == expected
