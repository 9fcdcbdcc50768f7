"""Which quota governs a plan."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from app.domain.quota import quota_table
from tests.support.builders import a_market, a_quota, an_offer


def default_gpus(*quotas):
    table = quota_table(a_market(offers=[an_offer()], quotas=quotas)).default_gpus
    return float(table[0, 0]), float(table[0, 1])


def test_the_quota_that_names_the_card_governs():
    general, own = a_quota(default=Decimal(64)), a_quota(code="Q-2", gpu_family="A100", default=Decimal(4))
    assert default_gpus(general, own)[0] == 4.0


def test_a_spot_quota_governs_spot_alone():
    on_demand, spot = default_gpus(
        a_quota(gpu_family="A100", default=Decimal(8)), a_quota(code="S", name="A100 spot", gpu_family="A100", default=Decimal(2))
    )
    assert (on_demand, spot) == (8.0, 2.0)


def test_a_quota_for_capacity_blocks_or_serverless_workers_governs_no_hourly_machine():
    others = [
        a_quota(code=name, name=name, gpu_family="A100", default=Decimal(64))
        for name in ("Capacity Blocks per block", "serverless workers")
    ]
    assert np.isnan(default_gpus(*others)[0])
