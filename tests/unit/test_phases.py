from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.domain.plan_terms import PlanTerms
from app.domain.projection import basis
from app.domain.request import Constraints, Preferences
from app.domain.timeline import PhaseColumns, phases
from tests.support.bills import ASSUMPTIONS, a_job, plans
from tests.support.builders import a_market, a_provider, a_tariff


def _terms(job: Any = None, **market: Any) -> PlanTerms:
    made = a_market(**market)
    return basis(job or a_job(), made, plans(made), Constraints(), Preferences(), ASSUMPTIONS).terms


def _struck_twice(capacity_wait: float) -> PhaseColumns:
    terms = replace(_terms(), capacity_wait=np.array([capacity_wait]))
    return phases(terms, 1.0, interruptions=np.array([2.0]))


def test_each_interruption_waits_for_a_machine_and_the_wait_is_not_rented() -> None:
    at_once, late = _struck_twice(0.0), _struck_twice(10.0)
    assert late.total[0] - at_once.total[0] == pytest.approx(20.0)
    assert late.lost[0] - at_once.lost[0] == pytest.approx(20.0)
    assert late.lost_rented[0] == at_once.lost_rented[0]
    assert late.rented[0] == at_once.rented[0]


def test_an_interruption_at_the_worst_moment_waits_too() -> None:
    terms = replace(_terms(), capacity_wait=np.array([10.0]))
    none, one = (phases(terms, 1.0, interruptions=np.array([0.0]), extra_interruptions=count) for count in (0.0, 1.0))
    segment_and_restart = float(np.minimum(terms.interval, terms.work)[0]) + terms.restart
    assert one.rented[0] - none.rented[0] == pytest.approx(segment_and_restart)
    assert one.total[0] - none.total[0] == pytest.approx(segment_and_restart + 10.0)


def test_a_reclaimed_machine_is_missed_as_long_as_spot_capacity_takes_a_broken_one_as_long_as_provisioning() -> None:
    spot, on_demand = (_terms(tariffs=[a_tariff(option=option)]) for option in ("spot", "on_demand"))
    assert spot.capacity_wait[0] == ASSUMPTIONS.spot_capacity_wait_hours.value
    assert on_demand.capacity_wait[0] == ASSUMPTIONS.provisioning_hours["gpu_cloud"].value


def test_transfers_keep_the_machine_rented_on_marketplaces_alone() -> None:
    # 4,500 GB in and 450 GB out at 1 Gbit/s: 10 h and 1 h
    job = a_job(data={"dataset_gb": 4500.0, "download_gb": 450.0, "upload_mbit_s": 1000.0})
    market, cloud = (phases(_terms(job, providers=[a_provider(kind=kind)]), 1.0) for kind in ("marketplace", "gpu_cloud"))
    assert market.upload[0] + market.download[0] == pytest.approx(11.0)
    assert market.rented[0] - cloud.rented[0] == pytest.approx(11.0)
