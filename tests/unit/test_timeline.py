from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.quota import MUST_ASK, UNKNOWN_MUST_ASK
from app.domain.request import Constraints, QuotaHeld
from tests.support.bills import ASSUMPTIONS, a_job, detailed, plans, projected
from tests.support.builders import a_market, a_provider, a_quota, a_tariff, an_offer

PARTS = ("quota_wait", "provisioning", "setup", "upload", "compute", "checkpoint_stalls", "lost_to_interruptions", "download")


def test_the_parts_of_the_time_line_sum_to_its_total() -> None:
    job = a_job(data={"dataset_gb": 100.0, "checkpoint_gb": 50.0, "download_gb": 50.0})
    timeline = detailed(job, a_market()).timeline
    assert sum(getattr(timeline, part) for part in PARTS) == pytest.approx(timeline.total.p50)


def test_stepping_takes_units_over_speed_and_goodput() -> None:
    assert detailed(a_job(hours_at_unit_speed=10.0), a_market()).timeline.compute == pytest.approx(10.0)


def test_the_data_set_travels_over_the_caller_s_line_at_line_rate() -> None:
    # 450 GB at 1,000 Mbit/s = 3,600 s
    job = a_job(data={"dataset_gb": 450.0, "upload_mbit_s": 1000.0})
    assert detailed(job, a_market()).timeline.upload == pytest.approx(1.0)


def test_data_that_lives_there_already_is_not_carried_over_the_caller_s_line() -> None:
    far = a_job(data={"dataset_gb": 450.0})
    near = a_job(data={"dataset_gb": 450.0, "located_provider": "acme", "located_region": "us-1"})
    assert detailed(near, a_market()).timeline.upload < detailed(far, a_market()).timeline.upload


def test_failed_attempts_multiply_the_stepping() -> None:
    once, twice = (detailed(a_job(attempts=attempts), a_market()).timeline for attempts in (1.0, 2.0))
    assert twice.compute == pytest.approx(2.0 * once.compute)


def test_given_set_up_hours_replace_the_default() -> None:
    given_hours = detailed(a_job(setup_hours=3.0), a_market()).timeline.setup
    default = detailed(a_job(setup_hours=None), a_market()).timeline.setup
    assert given_hours == pytest.approx(3.0 + ASSUMPTIONS.trial_hours.value)
    assert default == pytest.approx(ASSUMPTIONS.setup_single_node_hours.value + ASSUMPTIONS.trial_hours.value)


def test_a_trial_is_never_longer_than_the_run() -> None:
    assert detailed(a_job(hours_at_unit_speed=0.1), a_market()).timeline.setup == pytest.approx(0.1)


def test_a_published_quota_that_suffices_costs_no_wait() -> None:
    market = a_market(quotas=[a_quota(default=Decimal(8))])
    assert projected(a_job(), market).quota_wait_hours.tolist() == [0.0]


def test_a_published_quota_that_does_not_suffice_must_be_asked_for() -> None:
    market = a_market(quotas=[a_quota(default=Decimal(0))])
    found = projected(a_job(), market)
    assert found.quota_state.tolist() == [MUST_ASK]
    assert found.quota_wait_hours.tolist() == [ASSUMPTIONS.quota_wait_hours["gpu_cloud"].value]


def test_what_the_caller_holds_counts_before_what_is_published() -> None:
    market = a_market(quotas=[a_quota(default=Decimal(0))])
    held = Constraints(quotas_held=(QuotaHeld(provider="acme", gpu="A100-SXM4-80GB", gpus=8),))
    assert projected(a_job(), market, constraints=held).quota_wait_hours.tolist() == [0.0]


def test_an_unpublished_quota_of_a_hyperscaler_is_assumed_to_need_asking_and_this_is_said() -> None:
    market = a_market(providers=[a_provider(kind="hyperscaler")])
    assert projected(a_job(), market).quota_state.tolist() == [UNKNOWN_MUST_ASK]
    assert "quota_needed" in {warning.code for warning in detailed(a_job(), market).warnings}


def test_a_quota_in_vcpus_is_read_in_machines() -> None:
    # 192 vCPUs are two machines of 96: two nodes need no asking, three do
    market = a_market(quotas=[a_quota(unit="vcpu", default=Decimal(192))])
    waits = [projected(a_job(), market, plans(market, nodes=nodes)).quota_wait_hours[0] for nodes in (2, 3)]
    assert waits[0] == 0.0 < waits[1]


def test_a_quota_that_names_the_machine_family_governs_it() -> None:
    market = a_market(
        offers=[an_offer(sku="p4d.24xlarge")],
        quotas=[a_quota(gpu_family="P2,P3,P4,P5", default=Decimal(0)), a_quota(gpu_family="all", default=Decimal(64), code="Q-2")],
    )
    assert projected(a_job(), market).quota_state.tolist() == [MUST_ASK]


def test_the_caller_s_own_checkpoint_interval_is_kept() -> None:
    assert detailed(a_job(data={"checkpoint_interval_minutes": 17.0}), a_market()).checkpoint_interval_minutes == pytest.approx(17.0)


def test_spot_machines_are_checkpointed_more_often_and_lose_more() -> None:
    offer = an_offer()
    market = a_market(offers=[offer], tariffs=[a_tariff(offer), a_tariff(offer, option="spot")])
    found = projected(a_job(hours_at_unit_speed=100.0, checkpoint_gb=100.0), market)
    spot, metered = 1, 0
    assert found.checkpoint_interval_minutes[spot] < found.checkpoint_interval_minutes[metered]
    assert found.hours.lost[spot] > 10.0 * found.hours.lost[metered]


@given(st.floats(0.01, 2000.0), st.floats(1.0, 5.0), st.sampled_from(["on_demand", "spot"]), st.floats(0.0, 500.0))
def test_more_work_never_takes_less_time(hours: float, factor: float, option: str, checkpoint_gb: float) -> None:
    market = a_market(tariffs=[a_tariff(option=option)])
    short, long = (projected(a_job(hours_at_unit_speed=h, checkpoint_gb=checkpoint_gb), market) for h in (hours, hours * factor))
    assert short.total_hours[0] <= long.total_hours[0] + 1e-9
    assert np.isfinite(long.total_hours[0])
