"""The whole answer on small markets: properties that must hold whatever the market is."""

from __future__ import annotations

import dataclasses
import random
from datetime import timedelta

import pytest

from app.catalog.columns import market_from_records
from app.catalog.embedded import load_embedded
from app.catalog.loader import load_knowledge
from app.domain.detail import detail
from app.domain.market import PURCHASE_OPTIONS
from app.domain.money import Money
from app.domain.recommend import recommend
from app.domain.request import Constraints, Preferences, QuotaHeld, RecommendRequest, RequestError
from app.domain.screening import screen
from app.domain.workload import DataSpec, Measurement, ModelSpec, TargetSpec, WorkloadSpec
from tests.support.builders import AS_OF, a_billing_rule, a_fee, a_market, a_provider, a_rate, a_source, a_tariff, an_offer

KNOWLEDGE = load_knowledge()
H100 = {"gpu": "H100-SXM5-80GB", "sku": "h100x8", "inter_node_gbit_s": 3200.0}
SMALL = {"gpu": "L4-24GB", "sku": "l4", "gpus_per_node": 1, "intra_node_link": "none", "gpu_memory_gb": 24.0, "vcpus": 8.0, "ram_gb": 32.0}


def world(extra_offers=(), extra_tariffs=(), **parts):
    acme, beta, gamma = an_offer(), an_offer(provider="beta", **H100), an_offer(provider="gamma", **SMALL)
    offers = [acme, beta, gamma, *extra_offers]
    tariffs = [
        a_tariff(acme, "16.00"),
        a_tariff(acme, "6.40", option="spot"),
        a_tariff(acme, "4000", option="reserved", unit="node_month", term_unit="month", term_count=1),
        a_tariff(beta, "31.92"),
        a_tariff(gamma, "0.80"),
        *extra_tariffs,
    ]
    defaults = {
        "providers": [a_provider(), a_provider("beta", kind="hyperscaler"), a_provider("gamma")],
        "rates": [a_rate(), a_rate("USD", "1.1500")],
        "fees": [a_fee(), a_fee("0.08", provider="beta", kind="egress_internet", unit="GB", free_gb=100.0)],
        "billing_rules": [a_billing_rule()],
    }
    return {"offers": offers, "tariffs": tariffs, **defaults, **parts}


def ask(parts=None, *, knowledge=KNOWLEDGE, tokens_b=0.2, as_of=AS_OF, workload=None, constraints=None, **preferences):
    spec = WorkloadSpec(model=ModelSpec(preset="llama-2-7b"), method="lora", target=TargetSpec(tokens_b=tokens_b))
    request = RecommendRequest(
        workload=dataclasses.replace(spec, **(workload or {})),
        constraints=constraints or Constraints(),
        preferences=Preferences(**preferences),
    )
    return recommend(request, market=a_market(gpus=knowledge.gpus, as_of=as_of, **(parts or world())), knowledge=knowledge)


def identity(plan):
    return (plan.offer.provider, plan.offer.region, plan.offer.sku, plan.nodes, plan.purchase.option, plan.purchase.term)


def test_the_cheapest_plan_comes_first_and_ranks_count_up():
    answer = ask()
    costs = [plan.bill.total.p50 for plan in answer.plans]
    assert costs == sorted(costs)
    assert [plan.rank for plan in answer.plans] == list(range(1, len(costs) + 1))
    assert len(costs) >= 4


def test_lines_sum_to_the_total_to_the_cent():
    for plan in ask(currency="CNY").plans:
        assert round(sum(line.amount.value for line in plan.bill.lines), 2) == plan.bill.total.p50


def test_percentiles_are_in_order():
    for plan in ask().plans:
        assert plan.bill.total.p10 <= plan.bill.total.p50 <= plan.bill.total.p90
        assert plan.timeline_hours.total.p10 <= plan.timeline_hours.total.p50 <= plan.timeline_hours.total.p90


def test_the_parts_of_the_time_line_sum_to_the_expected_total():
    for plan in ask().plans:
        phases = dataclasses.asdict(plan.timeline_hours)
        total = phases.pop("total")
        assert sum(phases.values()) == pytest.approx(total["p50"], rel=1e-9)


def test_the_same_question_gets_the_same_answer():
    assert ask() == ask()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_offers_and_tariffs_does_not_matter(seed):
    parts = world()
    shuffle = random.Random(seed)  # noqa: S311
    mixed = {name: shuffle.sample(rows, len(rows)) for name, rows in parts.items()}
    assert ask(mixed) == ask(parts)


def test_a_dominated_offer_changes_no_plan():
    poor = an_offer(sku="zzz")
    before, after = ask(), ask(world([poor], [a_tariff(poor, "99.00")]))
    assert [identity(plan) for plan in before.plans] == [identity(plan) for plan in after.plans]
    assert [plan.bill for plan in before.plans] == [plan.bill for plan in after.plans]


@pytest.mark.parametrize("option", PURCHASE_OPTIONS[:3])
def test_more_tokens_never_cost_less_or_take_less_time(option):
    constraints = Constraints(purchase_options=(option,))
    answers = [ask(tokens_b=tokens, constraints=constraints, limit=1) for tokens in (0.01, 0.1, 0.3, 1.0, 5.0, 50.0)]
    costs = [answer.plans[0].bill.total.p50 for answer in answers]
    assert costs == sorted(costs)


def test_a_tighter_constraint_never_makes_the_best_plan_cheaper():
    free = ask(limit=1).plans[0].bill.total.p50
    for constraints in (
        Constraints(interruptible=False),
        Constraints(providers_exclude=("acme",)),
        Constraints(max_gpus=8),
        Constraints(deadline_hours=30.0),
    ):
        assert ask(constraints=constraints, limit=1).plans[0].bill.total.p50 >= free


def test_the_deadline_is_kept_and_its_smallest_change_lets_the_example_in():
    limit = Constraints(deadline_hours=5.0)
    answer = ask(constraints=limit)
    assert all(plan.timeline_hours.total.p50 <= 5.0 for plan in answer.plans)
    (example,) = [example for example in answer.rejected.examples if example.reason == "deadline"]
    hours = float(example.smallest_change.split(" to ")[1].split(" h")[0])
    wider = ask(constraints=Constraints(deadline_hours=hours))
    assert sum(wider.rejected.counts.values()) < sum(answer.rejected.counts.values())


def test_the_budget_is_kept_in_another_currency():
    free = ask(currency="USD")
    second = free.plans[1].bill.total.p50
    limit = Constraints(budget=Money.of(f"{second * 7.7 / 1.15:.2f}", "CNY"))
    answer = ask(constraints=limit)
    assert 0 < len(answer.plans) < len(free.plans) + 1
    assert all(plan.bill.total.p50 <= second + 0.01 for plan in answer.plans)
    assert answer.rejected.counts["budget"] > 0
    assert all(plan.probability.over_budget is not None for plan in answer.plans)


def test_an_impossible_budget_gives_an_empty_list_with_reasons():
    answer = ask(constraints=Constraints(budget=Money.of("0.01", "USD")))
    assert answer.plans == ()
    assert answer.pareto == ()
    assert answer.backup is None
    assert answer.trial_plan is None
    assert answer.rejected.counts["budget"] > 0


def test_every_candidate_is_either_admitted_or_counted_once():
    answer = ask(constraints=Constraints(max_gpus=16, interruptible=False), limit=100)
    refused = sum(answer.rejected.counts.values())
    assert 0 < refused < answer.candidates


def test_the_back_up_stands_with_another_provider():
    answer = ask()
    assert answer.backup is not None
    assert answer.plans[answer.backup - 1].offer.provider != answer.plans[0].offer.provider


def test_plans_named_as_pareto_are_beaten_by_no_other_plan():
    answer = ask(limit=100)
    points = {plan.rank: (plan.bill.total.p50, plan.timeline_hours.total.p50) for plan in answer.plans}
    for rank in answer.pareto:
        cost, hours = points[rank]
        assert not any(c <= cost and h <= hours and (c, h) != (cost, hours) for c, h in points.values())


def test_the_front_runs_from_cheap_to_fast():
    front = ask().front
    assert [point.cost.value for point in front] == sorted(point.cost.value for point in front)
    assert [point.hours for point in front] == sorted((point.hours for point in front), reverse=True)


def test_a_stated_quota_refuses_larger_plans():
    held = Constraints(quotas_held=(QuotaHeld(provider="acme", gpu="A100-SXM4-80GB", gpus=8),))
    answer = ask(constraints=held, limit=100)
    assert answer.rejected.counts["quota"] > 0
    assert all(plan.gpus <= 8 for plan in answer.plans if plan.offer.provider == "acme")


def test_a_measurement_replaces_the_model_everywhere():
    plain = ask(limit=1).plans[0]
    measured = Measurement(gpu="A100-SXM4-80GB", gpus=8, tokens_per_second=20_000.0)
    answer = ask(workload={"measured": (measured,)})
    assert {plan.speed.basis for plan in answer.plans} == {"measured"}
    assert plain.speed.basis == "model"
    assert all(plan.speed.sigma < plain.speed.sigma for plan in answer.plans)


def test_slower_break_even_really_turns_the_order():
    answer = ask(constraints=Constraints(purchase_options=("on_demand",)))
    first, second = answer.plans[0], answer.plans[1]
    points = [point for point in first.break_even if point.input == "mfu"]
    assert points, "the first plan has a break-even in MFU"
    assert points[0].value < first.speed.mfu
    assert second.bill.total.p50 > first.bill.total.p50


def test_waiting_costs_need_a_value_of_a_day():
    with pytest.raises(RequestError) as refused:
        ask(objective="cost_and_delay")
    assert refused.value.pointer == "/preferences/value_of_a_day"


def test_time_is_bought_when_waiting_is_dear():
    cheap = ask(limit=1).plans[0]
    hurried = ask(objective="cost_and_delay", value_of_a_day=Money.of("100000", "USD"), limit=1).plans[0]
    assert hurried.timeline_hours.total.p50 < cheap.timeline_hours.total.p50


def test_a_commitment_gets_a_trial_by_the_hour_first():
    answer = ask(tokens_b=300.0, constraints=Constraints(interruptible=False, max_gpus=8, providers_include=("acme",)))
    assert answer.plans[0].purchase.option == "reserved"
    assert answer.mixed_strategy is not None
    assert answer.plans[answer.mixed_strategy.trial_plan - 1].purchase.option == "on_demand"


def test_an_unknown_price_date_is_said():
    undated = a_source(observed_at=None, date_precision="unknown")
    offer = an_offer()
    parts = world()
    parts["tariffs"] = [a_tariff(offer, source=undated)]
    answer = ask(parts)
    assert answer.oldest_price_age_hours is None
    assert answer.prices_without_date == len(answer.plans)
    assert "price_date_unknown" in {warning.code for warning in answer.plans[0].warnings}


def test_an_older_price_widens_the_bill():
    young, old = ask(limit=1, as_of=AS_OF), ask(limit=1, as_of=AS_OF + timedelta(days=300))
    assert young.plans[0].bill.total.p50 == old.plans[0].bill.total.p50
    assert old.plans[0].bill.total.p90 > young.plans[0].bill.total.p90


def test_rates_behind_the_amounts_are_shown():
    (used,) = ask(currency="CNY").exchange
    assert (used.from_currency, used.to_currency, used.source) == ("USD", "CNY", "ECB")
    assert float(used.rate) == pytest.approx(7.7 / 1.15, rel=1e-6)


def test_chinese_answers_speak_chinese():
    plan = ask(language="zh").plans[0]
    assert all(any("\u4e00" <= sign <= "\u9fff" for sign in text) for text in plan.why)


def test_the_data_set_at_home_costs_nothing_to_fetch():
    here = DataSpec(dataset_gb=500.0, located_provider="beta", located_region="us-1")
    lines = {
        plan.offer.provider: {line.kind: line.amount.value for line in plan.bill.lines}
        for plan in ask(workload={"data": here}, constraints=Constraints(interruptible=False), limit=100).plans
    }
    assert lines["beta"].get("dataset_transfer", 0.0) == 0.0
    assert lines["acme"]["dataset_transfer"] == pytest.approx(0.08 * 400.0, abs=0.01)


def test_the_worst_case_is_ranked_by_the_figure_that_is_shown():
    answer = ask(objective="worst_case_cost", limit=4)
    shown = [plan.bill.total.p90 for plan in answer.plans[: len(answer.plans) - 1]]
    assert shown == sorted(shown)


def test_an_assumed_network_between_machines_is_said():
    bare = an_offer(sku="bare", inter_node_gbit_s=None)
    parts = world()
    parts["offers"], parts["tariffs"] = [bare], [a_tariff(bare)]
    codes = [{warning.code for warning in plan.warnings} for plan in ask(parts, constraints=Constraints(min_gpus=16)).plans]
    assert codes
    assert all("network_assumed" in found for found in codes)
    assert all("network_assumed" not in {warning.code for warning in plan.warnings} for plan in ask().plans)


@pytest.mark.parametrize(("rate", "currency"), [("1000000", "CNY"), ("9000000000", "CNY")])
def test_any_valid_engineer_s_rate_is_shown_as_it_was_given(rate, currency):
    given = Money.of(rate, "USD")
    (line,) = [
        line for line in ask(engineer_hourly_rate=given, currency=currency, limit=1).plans[0].bill.lines if line.kind == "engineer_time"
    ]
    assert line.unit_price == given
    assert line.amount.currency == currency


def test_a_budget_pays_for_no_delay():
    free = ask(constraints=Constraints(purchase_options=("on_demand",)), limit=1).plans[0].bill.total.p90
    budget = Constraints(purchase_options=("on_demand",), budget=Money.of(f"{free * 3:.2f}", "USD"))
    answer = ask(objective="cost_and_delay", value_of_a_day=Money.of("1000000", "USD"), constraints=budget)
    assert answer.plans
    assert answer.plans[0].probability.over_budget < 0.2


def test_a_trial_is_paid_by_the_step_and_minimum_of_its_machine():
    hourly = a_billing_rule(provider="acme", step_seconds=3600, minimum_seconds=3600)
    parts = world(billing_rules=[hourly])
    answer = ask(parts, constraints=Constraints(providers_include=("acme",), purchase_options=("on_demand",), max_gpus=8))
    assert answer.trial_plan.cost.value == pytest.approx(16.0)


def test_there_is_no_trial_where_everything_is_a_commitment():
    answer = ask(constraints=Constraints(purchase_options=("reserved",)))
    assert answer.plans
    assert answer.trial_plan is None
    assert answer.mixed_strategy is None


def test_what_is_taken_home_is_the_result_not_what_resumes_it():
    spec = {"method": "full", "target": TargetSpec(tokens_b=0.01)}
    plan = ask(workload=spec, constraints=Constraints(interruptible=False)).plans[0]
    (line,) = [line for line in plan.bill.lines if line.kind == "egress_internet"]
    assert line.quantity == pytest.approx(2 * 6.738, rel=0.01)


def test_what_is_ranked_is_what_is_shown_to_the_cent():
    request = RecommendRequest(workload=WorkloadSpec(model=ModelSpec(preset="llama-2-7b"), method="lora", target=TargetSpec(tokens_b=0.3)))
    market = market_from_records(load_embedded(), gpus=KNOWLEDGE.gpus, as_of=AS_OF)
    screened = screen(request, market=market, knowledge=KNOWLEDGE)
    given = (screened.job, market, screened.plans, screened.constraints, screened.preferences, KNOWLEDGE.assumptions)
    for row in range(0, len(screened.plans), len(screened.plans) // 150):
        plan = detail(*given, row, KNOWLEDGE.texts["en"])
        assert plan.bill.total.p50 == screened.cost[row]
        assert round(sum(line.amount.value for line in plan.bill.lines), 2) == plan.bill.total.p50
