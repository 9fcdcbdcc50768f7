"""How far a price may have moved since it was read."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from app.catalog.assumptions import load_assumptions
from app.domain.drift import Z90, drift_table
from app.domain.market import PURCHASE_OPTIONS
from tests.support.builders import AS_OF, a_market, a_source, a_tariff, an_offer

ASSUMPTIONS = load_assumptions()


def widths(tariffs, option, **market):
    made = a_market(offers=[an_offer()], tariffs=tariffs, **market)
    table = drift_table(made, ASSUMPTIONS)
    (row,) = np.flatnonzero(made.tariffs.option == PURCHASE_OPTIONS.index(option))
    return float(table.up[row]), float(table.down[row])


def test_an_older_price_may_have_moved_further():
    young = widths([a_tariff()], "on_demand")
    old = widths([a_tariff()], "on_demand", as_of=AS_OF + timedelta(days=200))
    assert old[0] > young[0]
    assert old[1] > young[1]


def test_a_price_without_a_date_counts_as_a_year_old():
    undated = widths([a_tariff(source=a_source(observed_at=None, date_precision="unknown"))], "on_demand")
    year = widths([a_tariff(source=a_source(observed_at=AS_OF - timedelta(days=365)))], "on_demand")
    assert undated == pytest.approx(year)


def test_a_spot_price_rises_to_the_on_demand_price_and_its_drift_but_not_beyond():
    later = AS_OF + timedelta(days=330)
    up, _ = widths([a_tariff(amount="16.00"), a_tariff(amount="14.00", option="spot")], "spot", as_of=later)
    own, _ = widths([a_tariff(amount="16.00")], "on_demand", as_of=later)
    assert up == pytest.approx(np.log(16 / 14) / Z90 + own)


def test_a_spot_price_with_room_below_on_demand_keeps_its_own_drift():
    later = AS_OF + timedelta(days=5)
    up, _ = widths([a_tariff(amount="160.00"), a_tariff(amount="1.00", option="spot")], "spot", as_of=later)
    alone, _ = widths([a_tariff(amount="1.00", option="spot")], "spot", as_of=later)
    assert up == pytest.approx(alone)
