"""Candidates and what limits admit."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from app.domain.admission import REASONS, admit_offers, quota_refused
from app.domain.plans import enumerate_candidates, node_counts
from app.domain.request import Constraints, QuotaHeld
from tests.support.builders import AS_OF, OBSERVED_AT, a_gpu, a_market, a_provider, a_source, a_stock, a_tariff, an_offer


def reasons(market, constraints):
    candidates = enumerate_candidates(market, max_gpus=constraints.max_gpus, max_nodes=constraints.max_nodes)
    codes = admit_offers(market, candidates, constraints).reason
    return [REASONS[code] for code in codes], candidates


def one(offer=None, tariff=None, constraints=None, **market):
    offer = offer or an_offer()
    tariff = tariff or a_tariff(offer)
    found, _ = reasons(a_market(offers=[offer], tariffs=[tariff], **market), constraints or Constraints(max_gpus=offer.gpus_per_node))
    return found


def test_node_counts_hold_every_number_up_to_eight_and_the_maximum():
    assert node_counts(11).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]


def test_node_counts_grow_by_at_most_a_quarter_beyond_eight():
    counts = node_counts(10_000).astype(float)
    assert (counts[8:] / counts[7:-1]).max() <= 1.26


def test_a_tariff_gives_a_plan_for_every_count_within_the_limit():
    found, candidates = reasons(a_market(offers=[an_offer()], tariffs=[a_tariff()]), Constraints(max_gpus=32))
    assert candidates.nodes.tolist() == [1, 2, 3, 4]
    assert found == ["admitted"] * 4


def test_a_machine_above_the_limit_is_one_refused_candidate():
    assert one(constraints=Constraints(max_gpus=4)) == ["size"]


def test_equal_machines_share_their_shapes():
    twin = an_offer(region="us-2", sku="other")
    market = a_market(offers=[an_offer(), twin], tariffs=[a_tariff(), a_tariff(twin)])
    candidates = enumerate_candidates(market, max_gpus=16, max_nodes=4)
    assert len(candidates) == 4
    assert len(candidates.shapes) == 2
    assert candidates.shapes.total_gpus[candidates.shape].tolist() == (candidates.nodes * 8).tolist()


def test_a_component_never_ranks():
    assert one(an_offer(component=True)) == ["component"]


def test_an_auction_floor_is_no_price():
    assert one(tariff=a_tariff(kind="floor")) == ["price_unknown"]


def test_a_term_of_unknown_length_is_no_price():
    assert one(tariff=a_tariff(option="reserved", term_unit="month", term_count=None)) == ["price_unknown"]


def test_an_old_price_ranks_only_when_asked_for():
    tariff = a_tariff(kind="history")
    assert one(tariff=tariff) == ["stale"]
    assert one(tariff=tariff, constraints=Constraints(max_gpus=8, include_history_prices=True)) == ["admitted"]


def test_a_price_of_unknown_date_is_not_young_enough_for_an_age_limit():
    undated = a_tariff(source=a_source(observed_at=None, date_precision="unknown"))
    limit = Constraints(max_gpus=8, max_price_age_days=30)
    assert one(tariff=undated, constraints=limit) == ["stale"]
    assert one(constraints=limit) == ["admitted"]


def test_an_age_limit_counts_from_the_instant_of_the_market():
    limit = Constraints(max_gpus=8, max_price_age_days=(AS_OF - OBSERVED_AT) / timedelta(days=1) - 0.1)
    assert one(constraints=limit) == ["stale"]


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        (Constraints(providers_include=("other",)), "provider"),
        (Constraints(providers_exclude=("acme",)), "provider"),
        (Constraints(countries=("DE",)), "region"),
        (Constraints(regions=("eu-1",)), "region"),
        (Constraints(gpus_include=("H100-SXM5-80GB",)), "gpu"),
        (Constraints(gpus_exclude=("A100-SXM4-80GB",)), "gpu"),
        (Constraints(purchase_options=("spot",)), "purchase_option"),
        (Constraints(min_vcpus_per_gpu=13), "host"),
        (Constraints(min_ram_gb_per_gpu=145), "host"),
        (Constraints(in_stock_only=True), "stock"),
        (Constraints(min_gpus=9), "size"),
    ],
)
def test_each_limit_refuses_by_its_own_name(constraints, reason):
    assert one(constraints=replace(constraints, max_gpus=8)) == [reason]


def test_an_offer_of_unknown_country_is_not_inside_any():
    assert one(an_offer(country=None), constraints=Constraints(max_gpus=8, countries=("US",))) == ["region"]


def test_known_stock_decides_and_unknown_stock_does_not():
    assert one(stock=[a_stock(status="unavailable")]) == ["stock"]
    assert one(stock=[a_stock()], constraints=Constraints(max_gpus=8, in_stock_only=True)) == ["admitted"]


def test_spot_is_refused_when_the_run_must_not_be_interrupted():
    assert one(tariff=a_tariff(option="spot"), constraints=Constraints(max_gpus=8, interruptible=False)) == ["interruptible"]


def test_a_smallest_purchase_refuses_smaller_plans():
    tariff = a_tariff(minimum_gpus=16)
    assert one(tariff=tariff, constraints=Constraints(max_gpus=24)) == ["minimum_purchase", "admitted", "admitted"]


def test_private_machines_do_not_make_a_cluster():
    market = {"providers": [a_provider(kind="marketplace")]}
    assert one(constraints=Constraints(max_gpus=16), **market) == ["admitted", "cluster"]


def test_a_stated_largest_cluster_holds():
    assert one(an_offer(maximum_nodes=1), constraints=Constraints(max_gpus=16)) == ["admitted", "cluster"]


def test_a_stated_quota_refuses_what_exceeds_it_and_silence_refuses_nothing():
    market = a_market(offers=[an_offer()], tariffs=[a_tariff()])
    candidates = enumerate_candidates(market, max_gpus=16, max_nodes=2)
    held = Constraints(quotas_held=(QuotaHeld(provider="acme", gpu="A100-SXM4-80GB", gpus=8),))
    assert quota_refused(market, candidates, held).tolist() == [False, True]
    assert not np.any(quota_refused(market, candidates, Constraints()))


def test_a_card_that_needs_ported_code_ranks_only_when_it_is_named():
    tpu = a_gpu(name="TPU-v5e", vendor="Google")
    offer = an_offer(gpu="TPU-v5e")
    assert one(offer, gpus={"TPU-v5e": tpu}) == ["software"]
    assert one(offer, constraints=Constraints(max_gpus=8, gpus_include=("TPU-v5e",)), gpus={"TPU-v5e": tpu}) == ["admitted"]


def test_every_reason_that_holds_is_counted():
    market = a_market(offers=[an_offer()], tariffs=[a_tariff(kind="history")])
    candidates = enumerate_candidates(market, max_gpus=8, max_nodes=1)
    judged = admit_offers(market, candidates, Constraints(max_gpus=8, countries=("DE",)))
    assert (REASONS[judged.reason[0]], judged.held[0]) == ("stale", 2)
