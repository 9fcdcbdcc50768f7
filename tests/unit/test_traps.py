from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.domain.answer import PlanWarning
from app.domain.detail import detail
from app.domain.money import Money
from app.domain.request import Constraints, Preferences
from tests.support.bills import ASSUMPTIONS, TEXTS, a_job, detailed, plans
from tests.support.builders import AS_OF, a_fee, a_market, a_provider, a_source, a_tariff, an_offer


def _warning(code: str, job: Any = None, **market: Any) -> PlanWarning | None:
    found = [entry for entry in detailed(job or a_job(), a_market(**market)).warnings if entry.code == code]
    assert len(found) <= 1
    return found[0] if found else None


def _amount(warning: PlanWarning | None) -> float:
    assert warning is not None
    assert warning.amount is not None
    return warning.amount.value


def test_a_disk_left_on_a_stopped_machine_has_its_price() -> None:
    # (100 GB + 50 GB system disk) × 0.20 for a month
    fees = [a_fee("0.10"), a_fee("0.20", kind="stopped_disk")]
    job = a_job(data={"dataset_gb": 100.0, "keep_storage_days": 30.0})
    assert _amount(_warning("stopped_disk_still_billed", job, fees=fees)) == pytest.approx(30.0)


def test_a_machine_billed_while_stopped_costs_its_full_rate() -> None:
    # 2 days × 24 h × 16.00
    fees = [a_fee(None, kind="stopped_disk", unit="machine_hour", sku="stopped server")]
    warning = _warning("stopped_disk_still_billed", a_job(data={"keep_storage_days": 2.0}), fees=fees)
    assert _amount(warning) == pytest.approx(768.0)


def test_a_lease_that_is_hardly_used_says_what_it_wastes() -> None:
    warning = _warning("minimum_period", tariffs=[a_tariff(option="reserved", term_unit="month", term_count=1)])
    # 730 h are paid, about 10.5 are used
    assert _amount(warning) == pytest.approx((730.0 - 10.5) * 16.0, rel=0.001)


def test_spot_names_the_notice_and_what_is_lost() -> None:
    aws = an_offer(provider="aws")
    warning = _warning("spot_reclaim_notice", a_job(hours_at_unit_speed=100.0), offers=[aws], tariffs=[a_tariff(aws, option="spot")])
    assert warning is not None
    assert "2 minutes" in warning.text
    assert _amount(warning) > 0.0
    assert _warning("spot_reclaim_notice") is None


def test_an_assumed_interruption_rate_is_said() -> None:
    assert _warning("spot_rate_assumed", tariffs=[a_tariff(option="spot")]) is not None


def test_traffic_out_of_another_provider_has_its_amount() -> None:
    home = a_fee("0.09", provider="aws", region="us-east-1", kind="egress_internet", unit="GB")
    job = a_job(data={"dataset_gb": 1000.0, "located_provider": "aws", "located_region": "us-east-1"})
    assert _amount(_warning("cross_region_traffic", job, fees=[home])) == pytest.approx(90.0)


def test_taking_results_home_has_its_amount() -> None:
    fee = a_fee("0.09", kind="egress_internet", unit="GB")
    assert _amount(_warning("egress_at_the_end", a_job(data={"download_gb": 100.0}), fees=[fee])) == pytest.approx(9.0)


def test_several_cards_on_pcie_are_named() -> None:
    assert _warning("pcie_only_multi_gpu", offers=[an_offer(intra_node_link="pcie")]) is not None
    assert _warning("pcie_only_multi_gpu", offers=[an_offer(intra_node_link="pcie", gpus_per_node=1)]) is None


def test_unpublished_fees_say_how_high_they_may_go() -> None:
    assert _amount(_warning("unknown_fees", a_job(data={"download_gb": 1000.0}))) > 0.0


def test_a_stale_price_and_an_undated_one_differ() -> None:
    old = a_tariff(source=a_source(observed_at=AS_OF - timedelta(days=200)))
    undated = a_tariff(source=a_source(observed_at=None, date_precision="unknown"))
    assert _warning("stale_price", tariffs=[old]) is not None
    assert _warning("price_date_unknown", tariffs=[old]) is None
    assert _warning("price_date_unknown", tariffs=[undated]) is not None
    assert _warning("stale_price", tariffs=[undated]) is None
    assert _warning("stale_price") is None


def test_a_broker_names_the_platform_behind() -> None:
    warning = _warning("broker_upstream", offers=[an_offer(upstream="nebius")])
    assert warning is not None
    assert "nebius" in warning.text


def test_an_unpublished_billing_step_is_said_only_where_time_is_metered() -> None:
    assert _warning("billing_rule_unknown", billing_rules=[]) is not None
    lease = a_tariff(option="reserved", term_unit="month", term_count=1)
    assert _warning("billing_rule_unknown", billing_rules=[], tariffs=[lease]) is None


def test_tight_memory_is_a_risk() -> None:
    market = a_market(providers=[a_provider()])
    found = detail(a_job(), market, plans(market), Constraints(), Preferences(), ASSUMPTIONS, 0, TEXTS, tight=True)
    assert found.warnings[0].code == "tight_memory"


def test_taking_much_home_from_a_silent_provider_is_never_counted_as_free() -> None:
    free = [a_fee("0", kind="egress_internet", unit="GB", provider=name) for name in ("a", "b", "c")]
    dear = a_fee("0.08", kind="egress_internet", unit="GB", provider="d")
    for fees in ([], free, [*free, dear]):
        assert _amount(_warning("egress_at_the_end", a_job(data={"download_gb": 966.0}), fees=fees)) > 0.0


def test_waiting_for_quota_has_the_amount_that_the_caller_gives_to_days() -> None:
    market = a_market(providers=[a_provider(kind="hyperscaler")])
    asked = Preferences(objective="cost_and_delay", value_of_a_day=Money.of("100", "USD"))
    (priced,) = [entry for entry in detailed(a_job(), market, preferences=asked).warnings if entry.code == "quota_needed"]
    (silent,) = [entry for entry in detailed(a_job(), market).warnings if entry.code == "quota_needed"]
    # a new account at a hyperscaler: 48 h
    assert _amount(priced) == pytest.approx(200.0)
    assert silent.amount is None
