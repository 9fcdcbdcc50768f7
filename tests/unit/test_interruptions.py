from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.interruptions import daly_interval_hours, interruptions_per_hour, spot_rates, wall_hours
from tests.support.bills import ASSUMPTIONS
from tests.support.builders import a_market, an_offer

WORK, CHECKPOINT, RESTART, MTBF = 200.0, 0.05, 0.2, 8.0


def _expected(interval: float) -> float:
    return float(wall_hours(np.array([WORK]), np.array([interval]), np.array([CHECKPOINT]), RESTART, np.array([MTBF]))[0])


def _simulated(interval: float, runs: int = 400) -> float:
    """Mean wall time when failures strike exponentially, restarts included, and work since the last checkpoint is lost."""
    generator = np.random.Generator(np.random.PCG64(7))
    total = 0.0
    for _ in range(runs):
        segments, clock = WORK / interval, 0.0
        for _ in range(round(segments)):
            while (failure := generator.exponential(MTBF)) < interval + CHECKPOINT:
                clock += failure
                while (again := generator.exponential(MTBF)) < RESTART:
                    clock += again
                clock += RESTART
            clock += interval + CHECKPOINT
        total += clock
    return total / runs


def test_the_best_interval_is_young_s_where_checkpoints_are_cheap() -> None:
    # √(2 · 10 s · 3690 h) with C = 10 s: 4.53 h
    seconds = 10.0 / 3600.0
    best = float(daly_interval_hours(np.array([seconds]), np.array([3690.0]))[0])
    assert best == pytest.approx(np.sqrt(2.0 * seconds * 3690.0), rel=0.01)


def test_the_expected_wall_time_agrees_with_a_simulation() -> None:
    assert _expected(2.0) == pytest.approx(_simulated(2.0), rel=0.02)


def test_no_interval_beats_daly_s_by_more_than_a_trifle() -> None:
    best = float(daly_interval_hours(np.array([CHECKPOINT]), np.array([MTBF]))[0])
    others = min(_expected(interval) for interval in np.geomspace(best / 5.0, best * 5.0, 101))
    assert _expected(best) <= others * 1.0005


def test_without_failures_only_the_checkpoints_cost_time() -> None:
    wall = wall_hours(np.array([10.0]), np.array([1.0]), np.array([0.1]), 0.2, np.array([1e9]))
    assert float(wall[0]) == pytest.approx(11.0, rel=1e-6)


@given(st.floats(0.01, 500.0), st.floats(1.0, 3.0), st.floats(0.1, 5.0), st.floats(0.5, 1000.0))
def test_more_work_never_ends_sooner(work: float, factor: float, interval: float, mtbf: float) -> None:
    both = wall_hours(np.array([work, work * factor]), np.full(2, interval), np.full(2, 0.05), 0.2, np.full(2, mtbf))
    assert both[0] <= both[1] + 1e-9
    assert both[0] >= work


def test_failures_grow_with_the_node_count() -> None:
    hardware = interruptions_per_hour(np.array([1, 8, 2048]), np.zeros(3), ASSUMPTIONS)
    assert hardware[1] == pytest.approx(8.0 * hardware[0])
    assert 1.0 / hardware[2] == pytest.approx(1.8, rel=0.02)  # published for 16,384 GPUs: 1.8 h


def test_reclaims_grow_slower_than_the_node_count_because_they_come_in_bursts() -> None:
    spot = interruptions_per_hour(np.array([1, 16]), np.full(2, 0.2), ASSUMPTIONS)
    assert spot[0] < spot[1] < 16.0 * spot[0]


def test_a_provider_without_a_published_rate_gets_that_of_its_kind_and_it_is_marked() -> None:
    rates, own = spot_rates(a_market(offers=[an_offer(provider="aws"), an_offer(provider="acme")]), ASSUMPTIONS)
    assert own.tolist() == [False, True]
    assert rates.tolist() == [ASSUMPTIONS.spot_interruptions_by_kind["gpu_cloud"].value, 0.236]
