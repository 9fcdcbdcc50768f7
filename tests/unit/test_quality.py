"""The batch rules: every class of wrong batch is seen, and a healthy one passes untouched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.market import PurchaseOption
from app.domain.money import Money
from app.domain.quality import Finding, PricePoint, Rules, bands_of, judge, refused_keys, refuses_batch, screen

RULES = Rules(minimum=3, maximum=20, currency="USD", band=(Decimal("0.05"), Decimal(40)), bands={})
NANO = 1_000_000_000


def point(sku: str, price: str = "3", gpus: int = 8, option: PurchaseOption = "on_demand", currency: str = "USD") -> PricePoint:
    return PricePoint(
        key=(sku, gpus, option),
        thing=(sku, gpus),
        family=("all", "H100"),
        gpu="H100-SXM5-80GB",
        gpus=gpus,
        option=option,
        per_gpu_hour=Money.of(price, currency),
    )


HEALTHY = (point("a", "2.9", 1), point("b", "3", 2), point("c", "3", 4), point("d", "3.1", 8), point("d", "1.2", 8, "spot"))
GOOD = {each.key: each for each in HEALTHY}


def times(points: Iterable[PricePoint], ratio: Decimal) -> list[PricePoint]:
    return [replace(each, per_gpu_hour=Money(int(each.per_gpu_hour.nano * ratio), "USD")) for each in points]


def reasons(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    return {(each.severity, each.reason) for each in findings}


def test_a_healthy_batch_passes_untouched() -> None:
    assert judge(HEALTHY, {}, RULES) == ()
    assert judge(HEALTHY, GOOD, RULES) == ()


@given(st.permutations(HEALTHY), st.sampled_from([Decimal(100), Decimal("0.4"), Decimal(8)]))
def test_the_order_of_the_batch_does_not_matter(points: list[PricePoint], ratio: Decimal) -> None:
    assert judge(times(points, ratio), GOOD, RULES) == judge(times(HEALTHY, ratio), GOOD, RULES)


def test_too_few_prices_stop_the_batch_and_too_many_only_warn() -> None:
    assert reasons(judge(HEALTHY[:2], {}, RULES)) == {("refuse_batch", "too_few")}
    assert reasons(judge(HEALTHY, {}, replace(RULES, maximum=4))) == {("warn", "too_many")}


def test_an_empty_batch_is_stopped_even_when_nothing_was_there_before() -> None:
    assert refuses_batch(judge((), {}, RULES))


def test_a_card_that_is_always_there_is_missed() -> None:
    assert reasons(judge(HEALTHY, {}, replace(RULES, gpus=frozenset({"B200-SXM-180GB"})))) == {("warn", "card_missing")}


def test_half_of_the_prices_gone_stops_the_batch_and_a_quarter_warns() -> None:
    many = tuple(point(f"s{number}") for number in range(12))
    good = {each.key: each for each in many}
    assert ("refuse_batch", "vanished") in reasons(judge(many[:5], good, RULES))
    assert reasons(judge(many[:8], good, RULES)) == {("warn", "vanished")}
    assert judge(many[:10], good, RULES) == ()


@pytest.mark.parametrize(("ratio", "name"), [("100", "ratio_100"), ("0.01", "ratio_100"), ("1000", "ratio_1000"), ("1024", "ratio_1024")])
def test_a_source_that_changed_its_unit_is_stopped_as_a_whole(ratio: str, name: str) -> None:
    findings = judge(times(HEALTHY, Decimal(ratio)), GOOD, replace(RULES, band=(Decimal(0), Decimal(10**6))))
    assert {("refuse_batch", "unit_changed"), ("refuse_record", name)} <= reasons(findings)


def test_one_price_in_cents_is_kept_out_alone() -> None:
    wrong = (*HEALTHY[:3], point("d", "310", 8), HEALTHY[4])
    findings = judge(wrong, GOOD, replace(RULES, band=(Decimal(0), Decimal(1000))))
    assert refused_keys(findings) == {("d", 8, "on_demand")}
    assert not refuses_batch(findings)


def test_a_machine_s_price_where_a_gpu_s_stood_is_seen_by_the_number_of_gpus() -> None:
    wrong = (*HEALTHY[:3], point("d", "24.8", 8), HEALTHY[4])
    assert ("refuse_record", "ratio_gpu_count") in reasons(judge(wrong, GOOD, RULES))


def test_a_machine_that_is_priced_as_one_gpu_is_seen_without_any_history() -> None:
    wrong = (point("a", "3", 1), point("b", "3", 2), point("c", "3", 4), point("d", "0.375", 8))
    assert refused_keys(judge(wrong, {}, RULES)) == {("d", 8, "on_demand")}


@pytest.mark.parametrize(("price", "refused"), [("6.3", True), ("6.1", False), ("1.5", True), ("1.6", False), ("12", True)])
def test_a_jump_of_more_than_two_is_kept_out(price: str, refused: bool) -> None:  # noqa: FBT001
    findings = judge((*HEALTHY[:3], point("d", price, 8), HEALTHY[4]), GOOD, RULES)
    assert (("refuse_record", "jump") in reasons(findings)) is refused


def test_a_price_out_of_the_band_is_kept_out() -> None:
    assert reasons(judge((*HEALTHY, point("e", "41"), point("f", "0.04")), {}, RULES)) == {("refuse_record", "price_band")}


def test_a_price_out_of_the_band_of_its_card_is_kept_out() -> None:
    rules = replace(RULES, bands={"H100-SXM5-80GB": (Decimal(1), Decimal(10))})
    assert reasons(judge((*HEALTHY, point("e", "11")), {}, rules)) == {("refuse_record", "card_price_band")}


def test_another_currency_than_the_declared_one_is_kept_out() -> None:
    assert reasons(judge((*HEALTHY, point("e", "3", currency="CNY")), {}, RULES)) == {("refuse_record", "wrong_currency")}


def test_a_price_whose_currency_changed_is_kept_out() -> None:
    euros = {each.key: replace(each, per_gpu_hour=Money(each.per_gpu_hour.nano, "EUR")) for each in HEALTHY}
    assert reasons(judge(HEALTHY, euros, RULES)) == {("refuse_record", "currency_changed")}


@pytest.mark.parametrize("price", ["3.1", "3.2"])
def test_spot_that_is_no_cheaper_than_on_demand_warns(price: str) -> None:
    findings = judge((*HEALTHY[:4], point("d", price, 8, "spot")), {}, RULES)
    assert reasons(findings) == {("warn", "spot_not_below_on_demand")}
    assert refused_keys(findings) == frozenset()


@pytest.mark.parametrize(
    ("ratio", "gpus", "name"),
    [
        ("100", 1, "ratio_100"),
        ("1000", 1, "ratio_1000"),
        ("1024", 1, "ratio_1024"),
        ("8", 8, "ratio_gpu_count"),
        ("8", 4, None),
        ("1", 1, None),
    ],
)
def test_a_suspicious_ratio_is_known_in_both_directions(ratio: str, gpus: int, name: str | None) -> None:
    assert screen(Decimal(ratio), gpus) == name
    assert screen(1 / Decimal(ratio), gpus) == name


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_a_band_of_a_card_holds_all_the_prices_that_it_came_from(units: list[int]) -> None:
    prices = [("H100", Decimal(unit)) for unit in units]
    low, high = bands_of(prices)["H100"]
    assert all(low <= price <= high for _, price in prices)
    assert (low, high) == (min(units) / Decimal(4), max(units) * Decimal(4))
