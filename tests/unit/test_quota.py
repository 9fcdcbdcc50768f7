"""Which quota governs a plan, how long asking takes, and what the caller holds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest

from app.catalog.assumptions import load_assumptions
from app.catalog.columns import market_from_records
from app.catalog.embedded import load_embedded
from app.catalog.gpus import load_gpus
from app.domain.admission import quota_refused
from app.domain.market import PURCHASE_OPTIONS, ProviderInfo
from app.domain.plans import enumerate_candidates
from app.domain.quota import ENOUGH, MUST_ASK, UNKNOWN_MUST_ASK, held_gpus, quota_state, quota_table, quota_wait_hours
from app.domain.request import Constraints, QuotaHeld
from tests.support.builders import a_market, a_quota, a_tariff, an_offer

ASSUMPTIONS = load_assumptions()
ON_DEMAND, SPOT, RESERVED, BLOCK = range(4)
GPU = "A100-SXM4-80GB"


def default_gpus(*quotas, offer=None):
    return quota_table(a_market(offers=[offer or an_offer()], quotas=quotas)).default_gpus[0].tolist()


def named(name, default=Decimal(64), **over):
    return a_quota(code=name, name=name, gpu_family="A100", default=default, **over)


def test_the_quota_that_names_the_card_governs():
    assert default_gpus(a_quota(default=Decimal(2)), named("own", Decimal(4)))[ON_DEMAND] == 4.0


def test_the_quota_that_names_the_machine_goes_before_one_that_names_its_card():
    assert default_gpus(named("a100x4", Decimal(0), unit="instance"), named("a100x8", Decimal(1), unit="instance"))[ON_DEMAND] == 8.0


def test_of_equally_close_quotas_the_strictest_in_gpus_governs():
    vcpus, instances = named("cores", Decimal(96 * 3), unit="vcpu"), named("machines", Decimal(2), unit="instance")
    assert default_gpus(vcpus, instances)[ON_DEMAND] == 16.0


def test_a_vcpu_quota_grants_whole_machines():
    assert default_gpus(named("cores", Decimal(96 * 3 - 1), unit="vcpu"))[ON_DEMAND] == 16.0
    assert np.isnan(default_gpus(named("cores", unit="vcpu"), offer=an_offer(vcpus=None))[ON_DEMAND])


def test_a_quota_of_a_family_without_a_published_default_is_unknown_whatever_the_general_one_says():
    assert np.isnan(default_gpus(a_quota(default=Decimal(64)), named("own", None))[ON_DEMAND])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Running On-Demand P instances", {ON_DEMAND, RESERVED}),
        ("All P Spot Instance Requests", {SPOT}),
        ("Preemptible A100 GPUs", {SPOT}),
        ("capacity block groups", {BLOCK}),
        ("Committed A100 GPUs", {RESERVED}),
        ("A100 GPUs", {ON_DEMAND, SPOT, RESERVED, BLOCK}),
    ],
)
def test_a_quota_governs_the_option_that_it_names(name, options):
    assert {option for option, gpus in enumerate(default_gpus(named(name))) if gpus == 64.0} == options


def test_the_quota_of_an_option_goes_before_one_of_all_options():
    assert default_gpus(named("A100 GPUs", Decimal(1)), named("Preemptible A100 GPUs", Decimal(7)))[:2] == [1.0, 7.0]


@pytest.mark.parametrize(
    "name",
    [
        "Capacity Blocks for ML: instances per block",
        "serverless max workers at balance default",
        "1-Click Cluster minimum",
        "1-Click Cluster size",
        "self-serve cluster nodes",
        "multi-node GPU droplets",
        "GPUs per cluster",
        "GPUs per instance",
        "replicas per container group",
        "droplets created at once",
        "block storage",
    ],
)
def test_a_quota_of_something_else_governs_no_machine(name):
    assert np.all(np.isnan(default_gpus(named(name))))


@pytest.mark.parametrize("scope", ["cluster", "instance"])
def test_what_bounds_one_cluster_or_machine_bounds_no_account(scope):
    assert np.all(np.isnan(default_gpus(named("GPUs", scope=scope))))


@pytest.mark.parametrize(
    ("family", "sku", "governs"),
    [
        ("P2,P3,P4", "p4de.24xlarge", True),
        ("P5", "p5.48xlarge", True),
        ("P5", "p50.48xlarge", False),
        ("G,VT", "g6e.xlarge", True),
        ("G", "gpu_8x", False),
        ("none", "p5.48xlarge", False),
        ("A10", "other", False),
        ("A100 40GB", "other", False),
        ("A100 80GB", "other", True),
    ],
)
def test_a_family_is_a_beginning_of_the_sku_or_the_card_itself(family, sku, governs):
    found = default_gpus(a_quota(gpu_family=family), offer=an_offer(sku=sku))[ON_DEMAND]
    assert np.isnan(found) != governs


def judged(gpus, *quotas, kind="hyperscaler", constraints=None):
    market = a_market(
        offers=[an_offer()], quotas=quotas, providers=[ProviderInfo(id="acme", name="Acme", kind=kind, homepage="https://acme.example")]
    )
    row = np.zeros(1, dtype=np.int64)
    table = quota_table(market)
    state = quota_state(market, table, constraints or Constraints(), row, row, np.array([gpus]), ASSUMPTIONS)
    return int(state[0]), float(quota_wait_hours(market, table, state, row, row, ASSUMPTIONS)[0])


def test_an_unpublished_default_of_a_hyperscaler_waits():
    assert judged(8, named("own", None)) == (UNKNOWN_MUST_ASK, ASSUMPTIONS.quota_wait_hours["hyperscaler"].value)


def test_a_default_below_the_plan_waits_and_one_above_does_not():
    assert judged(16, named("own", Decimal(8))) == (MUST_ASK, ASSUMPTIONS.quota_wait_hours["hyperscaler"].value)
    assert judged(8, named("own", Decimal(8))) == (ENOUGH, 0.0)


@pytest.mark.parametrize("approval", ["at once", "at once after real-name check"])
def test_a_quota_that_is_granted_at_once_costs_no_wait(approval):
    assert judged(8, named("own", Decimal(0), approval=approval), kind="china") == (MUST_ASK, 0.0)


def test_what_the_caller_holds_counts_before_what_is_published():
    held = Constraints(quotas_held=(QuotaHeld(provider="acme", gpu=GPU, gpus=8),))
    assert judged(8, named("own", Decimal(0)), constraints=held) == (ENOUGH, 0.0)


def test_entries_about_one_card_add_up_for_the_refusal_as_for_the_wait():
    market = a_market(offers=[an_offer()], tariffs=[a_tariff()])
    held = Constraints(quotas_held=(QuotaHeld(provider="acme", gpu=GPU, gpus=8), QuotaHeld(provider="acme", gpu=GPU, gpus=8)))
    assert held_gpus(market, held)[0, 0] == 16.0
    assert quota_refused(market, enumerate_candidates(market, max_gpus=24, max_nodes=3), held).tolist() == [False, False, True]


@pytest.fixture(scope="module")
def shipped():
    market = market_from_records(load_embedded(), gpus=load_gpus(), as_of=datetime(2026, 12, 1, tzinfo=UTC))
    return market, quota_table(market)


def of(shipped, provider, option, *, sku=""):
    market, table = shipped
    rows = [row for row in range(len(market.offers)) if (offer := market.offer_at(row)).provider == provider and offer.sku.startswith(sku)]
    assert rows
    return table.default_gpus[rows, PURCHASE_OPTIONS.index(option)], table.at_once[rows, PURCHASE_OPTIONS.index(option)]


@pytest.mark.parametrize("family", ["p4d", "p5", "p6"])
def test_aws_publishes_no_on_demand_default_of_its_p_machines(shipped, family):
    assert np.all(np.isnan(of(shipped, "aws", "on_demand", sku=family)[0]))


@pytest.mark.parametrize(
    ("provider", "option"),
    [("nebius", "on_demand"), ("nebius", "spot"), ("lambda", "on_demand"), ("runpod", "on_demand"), ("digitalocean", "on_demand")],
)
def test_no_quota_of_something_else_bounds_these_platforms(shipped, provider, option):
    assert np.all(np.isnan(of(shipped, provider, option)[0]))


def test_compshare_grants_at_once(shipped):
    assert np.all(of(shipped, "compshare", "on_demand")[1])


def test_scaleway_states_each_size_apart(shipped):
    assert np.all(of(shipped, "scaleway", "on_demand", sku="L4-1-24G")[0] == 1.0)
    assert np.all(of(shipped, "scaleway", "on_demand", sku="L4-2-24G")[0] == 0.0)
