from __future__ import annotations

from typing import Any

import pytest

from app.domain.fees import ASSUMED, FREE, INCLUDED, KNOWN, UNKNOWN, FeeAmounts, FeeBook, _quantiles
from app.domain.fx import ExchangeError
from app.domain.market import Fee, FeeKind
from tests.support.bills import ASSUMPTIONS
from tests.support.builders import a_fee, a_market, a_provider, an_offer


def _book(*fees: Fee, currency: str = "USD", **parts: Any) -> FeeBook:
    return FeeBook(a_market(fees=fees, **parts), currency, ASSUMPTIONS)


def _one(book: FeeBook, kind: FeeKind = "block_storage", quantity: float = 100.0) -> tuple[float, float, float, int]:
    amounts: FeeAmounts = book.amounts(kind, quantity)
    return float(amounts.low[0]), float(amounts.mid[0]), float(amounts.high[0]), int(amounts.status[0])


def test_a_fee_of_the_region_beats_the_general_one() -> None:
    assert _one(_book(a_fee("0.10"), a_fee("0.25", region="us-1"))) == (25.0, 25.0, 25.0, KNOWN)


def test_a_region_in_a_list_is_that_region() -> None:
    assert _one(_book(a_fee("0.25", region="eu-1, us-1")))[3] == KNOWN


def test_another_region_of_the_provider_is_an_assumption_with_a_range() -> None:
    low, mid, high, status = _one(_book(a_fee("0.10", region="eu-9")))
    assert (low, mid, high) == pytest.approx((8.0, 10.0, 16.0))
    assert status == ASSUMED


def test_an_unknown_fee_takes_the_quantiles_of_the_known_providers() -> None:
    others = [a_fee(price, provider=name) for name, price in (("a", "0.10"), ("b", "0.20"), ("c", "0.40"))]
    # quantiles of (0.10, 0.20, 0.40): P10 0.12, P50 0.20, P90 0.36
    low, mid, high, status = _one(_book(*others))
    assert (low, mid, high) == pytest.approx((12.0, 20.0, 36.0))
    assert status == UNKNOWN


def test_platforms_of_the_same_kind_are_compared_first() -> None:
    others = [a_fee(price, provider=name) for name, price in (("a", "0.10"), ("b", "0.10"), ("big", "0.90"))]
    providers = [a_provider(), a_provider("a"), a_provider("b"), a_provider("big", kind="hyperscaler")]
    assert _one(_book(*others, providers=providers))[1] == pytest.approx(10.0)


def test_without_any_known_provider_the_planning_range_counts_and_is_never_zero() -> None:
    low, mid, high, status = _one(_book())
    assert 0.0 < low < mid < high
    assert status == UNKNOWN


def test_a_charge_without_a_figure_is_not_compared_with_free_ones() -> None:
    others = [a_fee("0", provider="a"), a_fee("0.20", provider="b"), a_fee("0.40", provider="c")]
    assert _one(_book(a_fee(None), *others))[1] == pytest.approx(30.0)


def test_a_stated_zero_is_free() -> None:
    assert _one(_book(a_fee("0", kind="egress_internet", unit="GB")), "egress_internet") == (0.0, 0.0, 0.0, FREE)


def test_what_comes_with_the_machine_is_included() -> None:
    assert _one(_book(a_fee("0", sku="included in instance", unit="")))[3] == INCLUDED


def test_a_free_system_disk_does_not_make_data_disks_free() -> None:
    assert _one(_book(a_fee("0", sku="system disk"), a_fee("0.30", sku="data disk")))[1] == pytest.approx(30.0)


def test_archives_are_not_where_a_run_keeps_its_data() -> None:
    book = _book(a_fee("0.001", kind="object_storage", sku="deep archive"), a_fee("0.02", kind="object_storage", sku="standard"))
    assert _one(book, "object_storage")[1] == pytest.approx(2.0)


@pytest.mark.parametrize(("unit", "price"), [("GB_month", "7.2"), ("GB_day", "0.24"), ("GB_hour", "0.01")])
def test_storage_by_hour_day_and_month_is_one_price(unit: str, price: str) -> None:
    assert _one(_book(a_fee(price, unit=unit)), quantity=1.0)[1] == pytest.approx(7.2)


def test_a_unit_of_another_nature_is_not_a_price_per_gigabyte() -> None:
    assert _one(_book(a_fee("0.005", unit="IOPS_month")))[3] == UNKNOWN


def test_fees_are_converted_at_the_dated_rate() -> None:
    # 0.30 CNY per GB and month, 100 GB, 1 CNY = 1.1550 / 7.7000 USD = 0.15 USD
    assert _one(_book(a_fee("0.30", "CNY")))[1] == pytest.approx(4.5)


def test_a_range_in_dollars_without_a_rate_is_an_error() -> None:
    with pytest.raises(ExchangeError):
        _book(rates=[], currency="CNY").amounts("block_storage", 1.0)


def test_the_free_allowance_applies_once() -> None:
    fee = a_fee("0.09", kind="egress_internet", unit="GB", free_gb=100.0)
    assert _one(_book(fee), "egress_internet", 150.0)[1] == pytest.approx(4.5)


def test_a_place_outside_the_market_can_be_asked_about() -> None:
    book = _book(a_fee("0.09", provider="aws", region="us-east-1", kind="egress_internet", unit="GB"), offers=[an_offer()])
    assert float(book.amounts_at("egress_internet", 1000.0, "aws", "us-east-1").mid[0]) == pytest.approx(90.0)


def test_an_unknown_fee_is_not_taken_for_zero_when_most_providers_charge_nothing() -> None:
    found = _quantiles([0.0, 0.0, 0.0, 0.08, 0.12])
    assert found.low == 0.0
    assert 0.0 < found.mid <= found.high


def test_the_middle_of_an_unknown_fee_is_that_of_providers_that_charge() -> None:
    # two of five charge nothing: the low end is theirs, the rest is the others'
    found = _quantiles([0.0, 0.0, 0.05, 0.10, 0.15])
    assert found.low == 0.0
    assert found.mid == pytest.approx(0.10)
    assert found.high == pytest.approx(0.14)


def test_archives_are_avoided_even_where_no_product_is_called_standard() -> None:
    book = _book(a_fee("0.001", kind="object_storage", sku="deep archive"), a_fee("0.02", kind="object_storage", sku="bucket"))
    assert _one(book, "object_storage")[1] == pytest.approx(2.0)


def test_where_only_a_premium_tier_has_a_figure_the_ordinary_price_is_unknown() -> None:
    premium = a_fee("0.195", kind="object_storage", sku="Premium block blob LRS")
    ordinary = a_fee(None, kind="object_storage", sku="Hot block blob LRS")
    others = [a_fee(price, kind="object_storage", provider=name) for name, price in (("a", "0.02"), ("b", "0.03"))]
    _, mid, _, status = _one(_book(premium, ordinary, *others), "object_storage")
    assert (mid, status) == (pytest.approx(2.5), UNKNOWN)


def test_machines_do_not_send_through_a_content_network() -> None:
    fees = [a_fee("0.01", kind="egress_internet", unit="GB", sku="CDN"), a_fee("0.09", kind="egress_internet", unit="GB", sku="internet")]
    assert _one(_book(*fees), "egress_internet")[1] == pytest.approx(9.0)


def test_elsewhere_the_product_of_the_most_regions_counts_at_its_middle_price() -> None:
    usual = [a_fee(price, region=region, sku="EBS gp3") for price, region in (("0.07", "eu-1"), ("0.08", "eu-2"), ("0.09", "eu-3"))]
    once = [a_fee(price, region="eu-1", sku=sku) for price, sku in (("0.10", "io1"), ("0.11", "io2"), ("0.12", "io3"), ("0.13", "io4"))]
    _, mid, _, status = _one(_book(*usual, *once))
    assert (mid, status) == (pytest.approx(8.0), ASSUMED)


_PART_KNOWN = (
    a_fee("0.10", kind="egress_internet", unit="GB", tier_to_gb=1000.0),
    a_fee(None, kind="egress_internet", unit="GB", tier_from_gb=1000.0),
    a_fee("0.02", kind="egress_internet", unit="GB", provider="a"),
    a_fee("0.20", kind="egress_internet", unit="GB", provider="b"),
)


def test_up_to_a_tier_without_a_figure_the_price_is_known() -> None:
    assert _one(_book(*_PART_KNOWN), "egress_internet", 1000.0) == (100.0, 100.0, 100.0, KNOWN)


def test_an_amount_that_reaches_into_a_tier_without_a_figure_is_unknown_in_that_part_alone() -> None:
    # 1000 GB at 0.10, and 1000 GB at P10 and P90 of the known providers (0.02, 0.10, 0.20): 0.036 and 0.18
    low, mid, high, status = _one(_book(*_PART_KNOWN), "egress_internet", 2000.0)
    assert (low, mid, high) == pytest.approx((136.0, 200.0, 280.0))
    assert status == UNKNOWN


def test_a_row_without_a_figure_does_not_matter_where_another_row_has_one() -> None:
    fees = [a_fee("0.10", kind="egress_internet", unit="GB"), a_fee(None, kind="egress_internet", unit="GB", tier_from_gb=1000.0)]
    assert _one(_book(*fees), "egress_internet", 2000.0)[3] == KNOWN
