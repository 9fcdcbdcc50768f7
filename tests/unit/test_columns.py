"""The market in columns, from records."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import permutations

import numpy as np
import pytest

from app.domain.hardware import INTRA_LINKS
from app.domain.market import PURCHASE_OPTIONS
from tests.support.builders import (
    AS_OF,
    GPUS,
    OBSERVED_AT,
    a_fee,
    a_market,
    a_rate,
    a_source,
    a_stock,
    a_tariff,
    an_offer,
)
from tests.support.markets import assert_equal_markets


def test_an_offer_becomes_one_row_of_codes() -> None:
    market = a_market()
    row = market.offers
    assert (market.providers[row.provider[0]], market.places[row.place[0]]) == ("acme", ("acme", "us-1"))
    assert (market.countries[row.country[0]], market.gpus[row.gpu[0]].name) == ("US", "A100-SXM4-80GB")
    assert (INTRA_LINKS[row.link[0]], row.gpus_per_node[0], row.inter_node_gbit_s[0]) == ("nvlink", 8, 800.0)


def test_unknown_figures_are_not_zero() -> None:
    row = a_market(offers=[an_offer(country=None, vcpus=None, maximum_nodes=None)]).offers
    assert np.isnan(row.vcpus[0])
    assert np.isnan(row.local_nvme_gb[0])
    assert (row.country[0], row.maximum_nodes[0], row.in_stock[0]) == (-1, 0, -1)


def test_the_order_of_the_records_does_not_matter() -> None:
    offers = [an_offer(sku=sku, provider=provider) for sku, provider in (("b", "acme"), ("a", "zeta"), ("a", "acme"))]
    first = a_market(offers=offers)
    for other in permutations(offers):
        assert_equal_markets(first, a_market(offers=other))


def test_rows_lead_back_to_their_records() -> None:
    offers = [an_offer(sku=sku) for sku in "cab"]
    market = a_market(offers=offers)
    assert [market.offer_at(row).sku for row in range(3)] == ["a", "b", "c"]
    assert [market.tariff_at(row).offer[2] for row in range(3)] == ["a", "b", "c"]


def test_an_offer_of_an_unknown_gpu_is_left_out_with_its_prices() -> None:
    market = a_market(offers=[an_offer(gpu="Unheard-Of", sku="odd"), an_offer()], gpus=GPUS)
    assert (len(market.offers), len(market.tariffs), market.tariff_at(0).offer[2]) == (1, 1, "a100x8")


@pytest.mark.parametrize(
    ("unit", "term_unit", "term_count", "unit_hours", "term_hours"),
    [
        ("node_hour", None, None, 1.0, 0.0),
        ("node_day", "day", 7, 24.0, 168.0),
        ("node_week", "week", 2, 168.0, 336.0),
        ("node_month", "month", 12, 730.0, 8760.0),
        ("node_term", "year", 3, 26280.0, 26280.0),
        ("node_month", "month", None, 730.0, np.nan),
        ("node_term", "year", None, np.nan, np.nan),
    ],
)
def test_units_and_terms_are_hours(unit: str, term_unit: str | None, term_count: int | None, unit_hours: float, term_hours: float) -> None:
    row = a_market(tariffs=[a_tariff(unit=unit, term_unit=term_unit, term_count=term_count)]).tariffs
    np.testing.assert_array_equal([row.unit_hours[0], row.term_hours[0]], [unit_hours, term_hours])


def test_prices_that_start_later_or_have_ended_are_left_out() -> None:
    soon, past = AS_OF + timedelta(hours=1), AS_OF - timedelta(hours=1)
    tariffs = [
        a_tariff(amount="1", valid_from=soon),
        a_tariff(amount="2", valid_to=AS_OF),
        a_tariff(amount="3", valid_from=past, valid_to=soon),
        a_tariff(amount="4", valid_from=AS_OF),
    ]
    assert list(a_market(tariffs=tariffs).tariffs.amount) == [3.0, 4.0]


def test_a_price_without_a_date_has_no_age() -> None:
    tariffs = [a_tariff(source=a_source(observed_at=None)), a_tariff(option="spot")]
    hours = a_market(tariffs=tariffs).tariffs.observed_hours
    assert np.isnan(hours[0])
    assert hours[1] == OBSERVED_AT.timestamp() / 3600


def test_purchase_options_are_codes() -> None:
    tariffs = [a_tariff(option=option) for option in reversed(PURCHASE_OPTIONS)]
    assert [PURCHASE_OPTIONS[code] for code in a_market(tariffs=tariffs).tariffs.option] == list(PURCHASE_OPTIONS)


def test_the_latest_reading_of_the_stock_counts() -> None:
    later = a_source(observed_at=OBSERVED_AT + timedelta(days=1))
    market = a_market(stock=[a_stock(status="unavailable", source=later), a_stock()])
    assert market.offers.in_stock[0] == 0


def test_of_each_currency_the_last_rate_not_after_the_instant_is_in_use() -> None:
    rates = [
        a_rate(rate="7.9", day=date(2026, 11, 3)),
        a_rate(rate="7.7", day=date(2026, 11, 2)),
        a_rate(rate="7.6", day=date(2026, 10, 1)),
    ]
    assert [str(rate.rate) for rate in a_market(rates=rates).rates] == ["7.7"]


def test_fees_come_by_provider_and_tier() -> None:
    fees = [a_fee(provider="zeta"), a_fee(tier_from_gb=50.0), a_fee(tier_to_gb=50.0)]
    assert [(fee.provider, fee.tier_from_gb) for fee in a_market(fees=fees).fees] == [("acme", 0.0), ("acme", 50.0), ("zeta", 0.0)]


def test_a_price_of_an_offer_nobody_knows_is_an_error() -> None:
    with pytest.raises(KeyError):
        a_market(tariffs=[a_tariff(an_offer(sku="unheard-of"))])
