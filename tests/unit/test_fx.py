from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from app.domain.fx import ExchangeError, converted, exchange, factors, rates_used
from app.domain.money import Money
from tests.support.builders import a_rate

RATES = (a_rate("USD", "1.1550"), a_rate("CNY", "7.7000"))


def test_a_cross_rate_goes_through_the_base_both_are_quoted_in() -> None:
    # 1 USD = 7.7000 / 1.1550 CNY = 6.6666667
    assert exchange(RATES, "USD", "CNY").rate == Decimal("6.6666667")


def test_the_base_itself_needs_no_cross() -> None:
    assert exchange(RATES, "EUR", "CNY").rate == Decimal("7.7000")
    assert exchange(RATES, "CNY", "EUR").rate == Decimal("0.12987013")


def test_the_same_currency_needs_no_rate_and_shows_none() -> None:
    same = exchange((), "CNY", "CNY")
    assert same.rate == 1
    assert same.used() is None


def test_a_currency_without_a_rate_is_an_error_and_not_one() -> None:
    with pytest.raises(ExchangeError) as caught:
        exchange(RATES, "JPY", "CNY")
    assert caught.value.from_currency == "JPY"


def test_prices_in_a_currency_without_a_rate_are_unknown() -> None:
    usd, jpy = factors(RATES, ("USD", "JPY"), "CNY")
    assert usd == pytest.approx(6.6666667)
    assert np.isnan(jpy)


def test_the_latest_day_counts() -> None:
    older = a_rate("USD", "2.0000", day=date(2026, 1, 5))
    assert exchange((RATES[0], older), "EUR", "USD").rate == Decimal("1.1550")


def test_a_cross_rate_is_as_old_as_its_older_part() -> None:
    older = a_rate("USD", "1.1550", day=date(2026, 10, 1))
    assert exchange((older, RATES[1]), "USD", "CNY").day == date(2026, 10, 1)


def test_the_rate_shown_reproduces_the_amount_shown() -> None:
    (used,) = rates_used(RATES, ["USD", "CNY", "USD"], "CNY")
    assert (used.from_currency, used.to_currency, used.source) == ("USD", "CNY", "ECB")
    assert converted(Money.of("1000", "USD"), RATES, "CNY") == float(Decimal(1000) * Decimal(used.rate))
