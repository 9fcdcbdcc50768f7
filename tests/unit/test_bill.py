"""Bills worked out by hand, with the arithmetic beside them, and what must hold for every bill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bill import MACHINE_LINES
from app.domain.detail import PlanDetail
from app.domain.market import Tariff
from app.domain.money import Money
from app.domain.request import Preferences
from tests.support.bills import ASSUMPTIONS, a_job, detailed, line, plans, projected
from tests.support.builders import a_billing_rule, a_fee, a_market, a_rate, a_source, a_tariff, an_offer

WHOLE_HOURS = a_billing_rule(step_seconds=3600, minimum_seconds=3600)
CNY = Preferences(currency="CNY")
_TERMS: list[dict[str, Any]] = [
    {"option": "on_demand"},
    {"option": "spot"},
    {"option": "reserved", "term_unit": "month", "term_count": 1},
    {"option": "reserved", "term_unit": "year", "term_count": 1, "upfront": "all"},
    {"option": "capacity_block", "term_unit": "day", "term_count": 1, "upfront": "all"},
]


def _machines(found: PlanDetail) -> float:
    return sum(entry.amount.value for entry in found.bill.lines if entry.kind in MACHINE_LINES)


def test_started_hours_are_paid_in_full() -> None:
    # 10 h of stepping + 0.5 h of trial + seconds of checkpoints and expected losses: 11 started hours × 16.00
    found = detailed(a_job(), a_market(billing_rules=[WHOLE_HOURS]))
    assert _machines(found) == pytest.approx(176.00, abs=0.011)


def test_by_the_second_only_the_use_is_paid() -> None:
    # 10 h + a checkpoint of 5 s every 3 h: (10 + 10/3 × 5/3600) × 16.00 = 160.07
    found = detailed(a_job(), a_market())
    assert line(found, "compute").amount.value == pytest.approx(160.07, abs=0.011)
    assert line(found, "trial_run").amount.value == 8.00


def test_a_minute_of_work_pays_the_minimum() -> None:
    found = detailed(a_job(hours_at_unit_speed=1.0 / 60.0), a_market(billing_rules=[WHOLE_HOURS]))
    assert _machines(found) == pytest.approx(16.00, abs=0.011)


def test_ten_hours_on_a_month_s_lease_pay_the_month() -> None:
    # 730 h × 16.00 = 11,680.00
    found = detailed(a_job(), a_market(tariffs=[a_tariff(option="reserved", term_unit="month", term_count=1)]))
    assert line(found, "compute").amount.value == 11680.00
    assert line(found, "compute").quantity == pytest.approx(730.0)
    assert line(found, "trial_run").status == "included"


def test_eight_hundred_hours_on_monthly_leases_pay_two_months() -> None:
    # 2 × 730 × 16.00 = 23,360.00
    market = a_market(tariffs=[a_tariff(option="reserved", term_unit="month", term_count=1)])
    assert line(detailed(a_job(hours_at_unit_speed=800.0), market), "compute").amount.value == 23360.00


def test_a_sum_for_the_whole_term_is_paid_once() -> None:
    # 551,221.00 for a year, whatever is used of it
    tariff = a_tariff(amount="551221", option="reserved", unit="node_term", term_unit="year", term_count=1, upfront="all")
    found = detailed(a_job(), a_market(tariffs=[tariff]))
    assert line(found, "compute").amount.value == 551221.00
    assert [warning.amount.value for warning in found.warnings if warning.code == "upfront_payment" and warning.amount] == [551221.00]


def test_yuan_prices_become_dollars_at_the_dated_rate() -> None:
    # 11 h × 100 CNY × 1.1550 / 7.7000 = 165.00 USD
    found = detailed(a_job(), a_market(tariffs=[a_tariff(amount="100", currency="CNY")], billing_rules=[WHOLE_HOURS]))
    assert _machines(found) == pytest.approx(165.00, abs=0.011)


def test_a_month_in_euro_becomes_yuan() -> None:
    # 1,940 EUR a month × 7.7000 = 14,938.00 CNY
    tariff = a_tariff(amount="1940", currency="EUR", unit="node_month")
    found = detailed(a_job(), a_market(tariffs=[tariff]), preferences=CNY)
    assert line(found, "compute").amount.value == 14938.00


def test_three_thousand_gpu_hours_at_ten_yuan_are_thirty_thousand() -> None:
    # 375 h × 8 GPUs × 10 CNY; 374 h of stepping, half an hour of trial, minutes of checkpoints and losses
    market = a_market(tariffs=[a_tariff(amount="80", currency="CNY")], billing_rules=[WHOLE_HOURS])
    found = detailed(a_job(hours_at_unit_speed=374.0), market, preferences=CNY)
    assert _machines(found) == pytest.approx(30000.00, abs=0.021)


def test_five_terabytes_and_ten_checkpoints_kept_a_month_cost_1400_yuan() -> None:
    # (5,000 + 10 × 200) GB × 0.2 CNY per GB and month
    data = {"dataset_gb": 5000.0, "checkpoint_gb": 200.0, "checkpoints_kept": 10, "keep_storage_days": 30.0}
    market = a_market(fees=[a_fee("0.2", "CNY", kind="object_storage")])
    kept = line(detailed(a_job(data=data), market, preferences=CNY), "kept_storage")
    assert kept.quantity == 7000.0
    assert kept.amount.value == 1400.00
    assert kept.unit_price == Money.of("0.2", "CNY")
    assert kept.status == "known"


def test_results_leave_through_the_tiers() -> None:
    # 12,000 GB: 10,240 × 0.09 + 1,760 × 0.085 = 1,071.20
    fees = [
        a_fee("0.09", kind="egress_internet", unit="GB", sku="out", tier_to_gb=10240.0),
        a_fee("0.085", kind="egress_internet", unit="GB", sku="out", tier_from_gb=10240.0),
    ]
    found = detailed(a_job(data={"download_gb": 12000.0}), a_market(fees=fees))
    assert line(found, "egress_internet").amount.value == 1071.20


def test_getting_the_data_set_out_of_its_home_is_charged_by_its_home() -> None:
    # 1,100 GB − 100 GB free = 1,000 GB × 0.09 = 90.00
    home = a_fee("0.09", provider="aws", region="us-east-1", kind="egress_internet", unit="GB", free_gb=100.0)
    data = {"dataset_gb": 1100.0, "located_provider": "aws", "located_region": "us-east-1"}
    assert line(detailed(a_job(data=data), a_market(fees=[home])), "dataset_transfer").amount.value == 90.00


def test_data_at_home_pays_no_transfer() -> None:
    data = {"dataset_gb": 1100.0, "located_provider": "acme", "located_region": "us-1"}
    kinds = {entry.kind for entry in detailed(a_job(data=data), a_market()).bill.lines}
    assert not kinds & {"dataset_transfer", "ingress_internet"}


def test_the_smallest_purchase_is_paid_even_when_less_is_used() -> None:
    # 16 GPUs must be bought: two nodes × 11 h × 16.00
    market = a_market(tariffs=[a_tariff(minimum_gpus=16)], billing_rules=[WHOLE_HOURS])
    assert _machines(detailed(a_job(), market)) == pytest.approx(352.00, abs=0.011)


def test_every_second_attempt_that_fails_is_a_line() -> None:
    # attempts 1.5: half of (10 h + checkpoints) × 16.00
    failed = line(detailed(a_job(attempts=1.5), a_market()), "failed_attempts")
    assert failed.amount.value == pytest.approx(0.5 * 160.07, abs=0.011)


def test_an_engineer_costs_set_up_trial_and_a_share_of_the_run() -> None:
    # (2 h + 0.5 h + 5 % of about 10 h) × 50.00 = 150.0 and a little
    asked = Preferences(engineer_hourly_rate=Money.of("50", "USD"))
    found = detailed(a_job(setup_hours=2.0), a_market(), preferences=asked)
    assert line(found, "engineer_time").amount.value == pytest.approx(150.0, abs=0.05)


def test_waiting_has_a_price_only_when_asked_for() -> None:
    worth = Money.of("240", "USD")
    asked = detailed(a_job(), a_market(), preferences=Preferences(objective="cost_and_delay", value_of_a_day=worth))
    assert line(asked, "delay").amount.value == pytest.approx(10.0 * asked.timeline.total.p50, abs=0.011)
    silent = detailed(a_job(), a_market(), preferences=Preferences(value_of_a_day=worth))
    assert "delay" not in {entry.kind for entry in silent.bill.lines}


def test_several_nodes_share_files_and_each_has_a_system_disk() -> None:
    fees = [a_fee("0.10"), a_fee("0.30", kind="file_storage")]
    market = a_market(fees=fees)
    job = a_job(data={"dataset_gb": 100.0})
    one, three = (detailed(job, market, plans(market, nodes=nodes)) for nodes in (1, 3))
    disk = ASSUMPTIONS.system_disk_gb.value
    for found, gb, price in ((one, 100.0 + disk, 0.10), (three, 100.0 + 3.0 * disk, 0.30)):
        stored = line(found, "run_storage")
        timeline = found.timeline
        months = (timeline.total.p50 - timeline.quota_wait - timeline.provisioning) / 720.0
        assert stored.quantity == pytest.approx(gb * months)
        assert stored.amount.value == pytest.approx(gb * months * price, abs=0.006)


def test_an_unknown_fee_is_a_line_with_a_range_and_lowers_the_coverage() -> None:
    found = detailed(a_job(data={"download_gb": 1000.0}), a_market())
    egress = line(found, "egress_internet")
    assert egress.status == "unknown"
    assert egress.unit_price is None
    assert egress.low is not None
    assert egress.high is not None
    assert egress.low.value <= egress.amount.value <= egress.high.value
    assert found.bill.fee_coverage < 0.5


def test_full_coverage_needs_every_relevant_fee() -> None:
    kinds = ("block_storage", "object_storage", "snapshot", "image_storage")
    fees = [
        *(a_fee(kind=kind) for kind in kinds),
        *(a_fee("0", kind=kind, unit="GB") for kind in ("egress_internet", "ingress_internet")),
        a_fee("3", kind="public_ipv4", unit="address_month"),
    ]
    assert detailed(a_job(), a_market(fees=fees)).bill.fee_coverage == 1.0


def test_a_line_leads_to_its_source() -> None:
    compute = line(detailed(a_job(), a_market(tariffs=[a_tariff(source=a_source(evidence="ev_7"))])), "compute")
    assert (compute.source_url, compute.evidence) == ("https://acme.example/pricing", "ev_7")
    assert compute.observed_at is not None


def test_a_plan_without_a_rate_has_no_known_price_and_no_bill() -> None:
    market = a_market(tariffs=[a_tariff(currency="JPY")])
    assert projected(a_job(), market).price_known.tolist() == [False]
    with pytest.raises(ValueError, match="known price"):
        detailed(a_job(), market)


def test_a_term_of_unknown_length_has_no_known_price() -> None:
    market = a_market(tariffs=[a_tariff(option="reserved", term_unit="month", term_count=None)])
    assert projected(a_job(), market).price_known.tolist() == [False]


def _tariffs(amount: str, currency: str) -> list[Tariff]:
    return [a_tariff(amount=amount, currency=currency, **terms) for terms in _TERMS]


@given(
    st.decimals("0.05", "400", places=2),
    st.sampled_from(["USD", "CNY", "EUR"]),
    st.floats(0.05, 3000.0),
    st.integers(1, 16),
    st.floats(1.0, 3.0),
    st.floats(0.0, 5000.0),
)
def test_a_bill_adds_up_to_the_cent_and_equals_its_projection(
    amount: object, currency: str, hours: float, nodes: int, attempts: float, gb: float
) -> None:
    fees = [a_fee(), a_fee("0.12", kind="egress_internet", unit="GB", tier_to_gb=1000.0), a_fee("0.02", "EUR", kind="object_storage")]
    market = a_market(tariffs=_tariffs(str(amount), currency), fees=fees)
    job = a_job(hours_at_unit_speed=hours, attempts=attempts, data={"dataset_gb": gb, "download_gb": gb / 2.0, "keep_storage_days": 7.0})
    columns = plans(market, nodes=nodes)
    found = projected(job, market, columns, preferences=CNY)
    for row in range(len(columns)):
        bill = detailed(job, market, columns, row, preferences=CNY).bill
        cents = sum(round(entry.amount.value * 100.0) for entry in bill.lines)
        assert cents == round(bill.total.p50 * 100.0)
        assert bill.total.p50 == pytest.approx(found.total_cost[row], abs=0.005 * len(found.lines))
        assert bill.total.p10 <= bill.total.p50 <= bill.total.p90


@given(st.floats(0.05, 1000.0), st.floats(1.0, 4.0), st.integers(1, 8), st.floats(0.0, 200.0))
def test_more_work_never_costs_less(hours: float, factor: float, nodes: int, checkpoint_gb: float) -> None:
    market = a_market(tariffs=_tariffs("16", "USD"))
    less, more = (
        projected(a_job(hours_at_unit_speed=h, checkpoint_gb=checkpoint_gb), market, plans(market, nodes=nodes)).total_cost
        for h in (hours, hours * factor)
    )
    assert np.all(less <= more + 1e-6)


@given(st.permutations(range(6)))
def test_the_order_of_the_market_s_records_does_not_matter(order: list[int]) -> None:
    offers = [an_offer(provider=f"p{index % 3}", region=f"r{index}", sku=f"s{index}") for index in range(6)]
    fees = [a_fee(f"0.{index + 1}", provider=f"p{index % 3}", region=f"r{index}") for index in range(6)]
    straight = a_market(offers=offers, fees=fees)
    mixed = a_market(offers=[offers[index] for index in order], fees=[fees[index] for index in reversed(order)])
    job = a_job(data={"dataset_gb": 500.0, "keep_storage_days": 30.0})
    assert projected(job, straight).total_cost.tolist() == projected(job, mixed).total_cost.tolist()


def test_twice_the_nodes_at_the_same_hours_cost_twice_the_machines() -> None:
    market = a_market(rates=[a_rate("USD", "1.1550")])
    job = a_job(checkpoint_gb=0.0)
    one, two = (projected(job, market, plans(market, nodes=nodes)).lines["trial_run"][0] for nodes in (1, 2))
    assert two == pytest.approx(2.0 * one)


def test_a_line_says_from_where_on_its_tariff_is_unknown() -> None:
    tiers = [
        a_fee("0.10", kind="egress_internet", unit="GB", sku="to the internet", tier_to_gb=1000.0),
        a_fee(None, kind="egress_internet", unit="GB", sku="to the internet", tier_from_gb=1000.0),
    ]
    within, beyond = (line(detailed(a_job(data={"download_gb": gb}), a_market(fees=tiers)), "egress_internet") for gb in (1000.0, 2000.0))
    assert (within.status, within.low) == ("known", None)
    assert beyond.status == "unknown"
    assert "above 1,000 GB not published" in beyond.label
    assert beyond.low is not None
    assert beyond.high is not None
    assert beyond.low.value < beyond.amount.value <= beyond.high.value
