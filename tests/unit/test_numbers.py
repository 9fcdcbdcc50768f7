"""The grammar of figures: what is written as declared is read exactly, everything else is refused by a named reason."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.money import Money
from scrapers import numbers
from scrapers.numbers import NumberError


def reason(call: object, *args: object, **options: object) -> str:
    with pytest.raises(NumberError) as caught:
        call(*args, **options)  # type: ignore[operator]
    return caught.value.reason


@given(st.integers(0, 10**12 - 1), st.integers(0, 9))
def test_a_plain_decimal_is_read_exactly(units: int, places: int) -> None:
    number = Decimal(units).scaleb(-places)
    assert numbers.amount(f"{number:f}") == number
    assert numbers.amount(number) == number


@pytest.mark.parametrize(
    "text",
    ["from $1.10", "8x H100 $23.92/hr", "12.5¢", "$1.5K", "1e3", "1E-7", "0x10", "1,000", "1 000", "+1", "١٢", "1.", ".5", "NaN", "Free"],
)
def test_a_figure_that_is_not_plain_is_not_guessed(text: str) -> None:
    assert reason(numbers.amount, text) == "not_a_number"


@pytest.mark.parametrize("value", [True, 1.5, None, [], {}])
def test_what_is_no_exact_number_is_refused(value: object) -> None:
    assert reason(numbers.amount, value) == "not_a_number"


@pytest.mark.parametrize("value", [Decimal("1e400000"), Decimal("1e-400000"), 10**12, Decimal("1e12"), Decimal("0e400000")])
def test_a_hostile_size_is_refused_before_an_integer_is_made_of_it(value: object) -> None:
    assert reason(numbers.amount, value) == "out_of_range"


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN")])
def test_what_is_not_finite_is_refused(value: Decimal) -> None:
    assert reason(numbers.amount, value) == "not_a_number"


def test_a_negative_figure_is_refused() -> None:
    assert reason(numbers.amount, Decimal(-1)) == "negative"


@pytest.mark.parametrize(("text", "grouping", "figure"), [("1,234.50", ",", "1234.50"), ("12 345", " ", "12345"), ("999", ",", "999")])
def test_groups_of_thousands_are_read_only_where_they_are_declared(text: str, grouping: str, figure: str) -> None:
    assert numbers.amount(text, grouping=grouping) == Decimal(figure)


@pytest.mark.parametrize("text", ["1,23", "12,34,567", "1,2345", ",123"])
def test_a_comma_that_does_not_group_thousands_is_refused(text: str) -> None:
    assert reason(numbers.amount, text, grouping=",") == "not_a_number"


@pytest.mark.parametrize("text", ["Contact sales", "  Contact\u00a0us ", "—", "", "N/A*", "面议"])
def test_a_price_on_request_is_unknown_and_never_zero(text: str) -> None:
    assert reason(numbers.money, text, "USD") == "price_on_request"
    assert reason(numbers.written, text, "${}/hr") == "price_on_request"


@pytest.mark.parametrize(
    ("text", "form"), [("$2.49/GPU-hr", "${}/GPU-hr"), (" $ 2.49 /gpu-HR", "${} /GPU-hr"), ("2.49 元/小时", "{}元/小时")]
)
def test_a_figure_in_a_declared_form_is_read(text: str, form: str) -> None:
    assert numbers.written(text, form) == Decimal("2.49")


@pytest.mark.parametrize("text", ["from $2.49/hr", "$2.49/hr*", "€2.49/hr", "$2.49", "$2.49/h", "$2.49/hr $1.99/hr", "$-2.49/hr"])
def test_a_figure_in_another_form_is_refused(text: str) -> None:
    assert reason(numbers.written, text, "${}/hr") == "wrong_form"


def test_a_form_without_a_place_for_the_figure_is_a_fault_of_the_scraper() -> None:
    with pytest.raises(ValueError, match="no place"):
        numbers.written("$1", "$")


@given(st.integers(1, 10**9))
def test_declared_cents_are_divided_exactly(cents: int) -> None:
    assert numbers.money(cents, "USD", per=100) == Money(cents * 10_000_000, "USD")


def test_a_price_a_second_is_multiplied_exactly() -> None:
    assert numbers.money("0.001097", "USD", times=3600) == Money.of("3.9492", "USD")


def test_zero_is_a_price_only_where_free_is_declared() -> None:
    assert reason(numbers.money, 0, "USD") == "zero_price"
    assert numbers.money(0, "USD", free=True) == Money(0, "USD")


@pytest.mark.parametrize(("value", "per"), [("0.0000000001", 1), (1, 3), ("88.4899999025753", 1)])
def test_what_is_finer_than_a_nano_unit_is_refused_unless_rounding_is_declared(value: object, per: int) -> None:
    assert reason(numbers.money, value, "USD", per=per) == "too_fine"


def test_declared_rounding_is_to_the_nearest_nano_unit() -> None:
    assert numbers.money("88.4899999025753", "USD", to_nano=True) == Money(88_489_999_903, "USD")
    assert reason(numbers.money, "0.0000000001", "USD", to_nano=True) == "zero_price"


def test_money_outside_64_bits_is_refused() -> None:
    assert reason(numbers.money, 10**11, "USD") == "out_of_range"


@pytest.mark.parametrize(
    ("text", "gb"),
    [
        ("80 GB", "80"),
        ("80GB", "80"),
        ("2900 GiB", "3113.8512896"),
        ("1,800 GB", "1800"),
        ("22 TiB", "24189.255811072"),
        ("512 MB", "0.512"),
    ],
)
def test_a_size_is_brought_to_gb_by_its_own_unit(text: str, gb: str) -> None:
    assert numbers.size_gb(text) == Decimal(gb)


@pytest.mark.parametrize("text", ["80", "80 Gb", "80 GB SSD", "about 80 GB", "1.8.0 GB"])
def test_a_size_without_a_known_unit_is_refused(text: str) -> None:
    assert reason(numbers.size_gb, text) in {"wrong_form", "not_a_number"}


def test_a_count_has_no_fraction() -> None:
    assert numbers.whole("8") == 8
    assert numbers.whole(Decimal("8.0")) == 8
    assert reason(numbers.whole, "8.5") == "not_a_number"


def test_a_currency_that_the_source_never_used_is_refused() -> None:
    assert numbers.currency_code(" usd", known=frozenset({"USD"})) == "USD"
    assert reason(numbers.currency_code, "CNY", known=frozenset({"USD"})) == "wrong_currency"
