"""Prices that a dated list proves old, what was in force on a past day, and fees that must or must not be there."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest

from app.catalog.columns import market_from_records
from app.catalog.embedded import load_embedded
from app.catalog.gpus import load_gpus
from app.domain.market_columns import PRICE_KINDS
from tests.support.builders import a_source, a_tariff, an_offer
from tools.make_data.outdated import outdated
from tools.make_data.tally import Tally

UNDATED = a_source(observed_at=None, date_precision="unknown")
RECORDS, CARDS = load_embedded(), load_gpus()


def kinds(*pairs, provider_kinds=None):
    found = outdated([offer for offer, _ in pairs], [tariff for _, tariff in pairs], provider_kinds or {"acme": "gpu_cloud"}, Tally())
    return [tariff.kind for tariff in found]


def pair(amount, offer=None, **tariff):
    offer = offer or an_offer()
    return offer, a_tariff(offer, amount, **tariff)


def test_an_undated_machine_at_another_price_a_gpu_than_the_dated_list_is_history():
    listed = pair("4.00", an_offer(sku="one", gpus_per_node=1))
    assert kinds(listed, pair("16.00", kind="observed", source=UNDATED)) == ["list", "history"]


def test_an_undated_machine_at_the_list_s_price_a_gpu_stays():
    listed = pair("4.00", an_offer(sku="one", gpus_per_node=1))
    assert kinds(listed, pair("32.00", kind="observed", source=UNDATED)) == ["list", "observed"]


def test_a_hyperscaler_s_other_regions_are_left_alone():
    listed = pair("4.00", an_offer(sku="one", gpus_per_node=1))
    found = kinds(listed, pair("16.00", kind="observed", source=UNDATED), provider_kinds={"acme": "hyperscaler"})
    assert found == ["list", "observed"]


@pytest.mark.parametrize(("amount", "kind"), [("28.00", "history"), ("30.00", "observed")])
def test_a_resale_far_below_its_upstream_s_list_is_history(amount, kind):
    resale = an_offer(provider="broker", upstream="acme")
    both = {"acme": "gpu_cloud", "broker": "broker"}
    found = kinds(pair("32.00"), pair(amount, resale, kind="observed", source=UNDATED), provider_kinds=both)
    assert found == ["list", kind]


def market(*day):
    return market_from_records(RECORDS, gpus=CARDS, as_of=datetime(*day, tzinfo=UTC))


def prices(made, provider, sku):
    offers = [row for row in range(len(made.offers)) if made.offer_at(row).provider == provider and made.offer_at(row).sku == sku]
    rows = np.flatnonzero(np.isin(made.tariffs.offer, offers) & (made.tariffs.option == 0))
    return {(float(made.tariffs.amount[row]), PRICE_KINDS[made.tariffs.kind[row]]) for row in rows}


@pytest.mark.parametrize("day", [(2020, 1, 1), (2026, 7, 1), (2026, 9, 30), (2026, 10, 5), (2026, 11, 30)])
def test_no_price_is_younger_than_the_day_asked_about(day):
    made = market(*day)
    begun = np.array([made.tariff_at(row).valid_from is None for row in range(len(made.tariffs))])
    age = made.as_of.timestamp() / 3600.0 - made.tariffs.observed_hours
    assert not np.any(age[begun] < 0.0)


def test_a_price_in_force_on_a_past_day_ranks_on_that_day():
    before, after = market(2026, 9, 30), market(2026, 10, 5)
    assert (4.98, "list") in prices(before, "autodl", "A800-80GB")
    assert prices(before, "autodl", "A800-80GB") != prices(after, "autodl", "A800-80GB")


@pytest.mark.parametrize(("day", "read"), [((2026, 9, 30), (2026, 3, 28)), ((2026, 10, 5), (2026, 10, 4))])
def test_a_price_read_twice_ranks_from_its_first_reading_dated_as_known_then(day, read):
    made = market(*day)
    found = [
        tariff
        for row in range(len(made.tariffs))
        if (tariff := made.tariff_at(row)).offer[0] == "autodl" and tariff.offer[2:] == ("RTX 4090", 1)
    ]
    assert [(float(tariff.amount.decimal), tariff.kind, tariff.source.observed_at) for tariff in found] == [
        (1.98, "list", datetime(*read, tzinfo=UTC))
    ]


def test_only_undated_prices_are_left_before_the_first_reading():
    made = market(2020, 1, 1)
    assert np.all(np.isnan(made.tariffs.observed_hours))


def test_additional_addresses_of_ovhcloud_keep_the_price_of_its_own_page():
    (fee,) = [fee for fee in RECORDS.fees if (fee.provider, fee.kind) == ("ovhcloud", "public_ipv4")]
    assert fee.amount is not None
    assert (fee.amount.decimal, fee.amount.currency, fee.unit) == (Decimal("1.5"), "EUR", "address_month")


@pytest.mark.parametrize("provider", ["gcp", "nebius"])
def test_no_scratch_disk_is_offered_as_a_place_to_keep_data(provider):
    disks = [fee.sku for fee in RECORDS.fees if fee.provider == provider and fee.kind == "block_storage"]
    assert disks
    assert not [sku for sku in disks if "local" in sku]
