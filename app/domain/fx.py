"""Dated exchange rates: one currency's worth in another, from published reference rates, never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal

import numpy as np

from app.domain.answer import ExchangeUsed
from app.domain.hardware import Floats
from app.domain.market import Rate
from app.domain.money import Money

_EIGHT_DIGITS = Context(prec=8)


class ExchangeError(ValueError):
    """No published rates connect the two currencies."""

    def __init__(self, from_currency: str, to_currency: str) -> None:
        super().__init__(f"no published rate leads from {from_currency} to {to_currency}")
        self.from_currency = from_currency
        self.to_currency = to_currency


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One unit of ``from_currency`` is ``rate`` units of ``to_currency``; ``day`` is the older day used, None for one currency.

    The rate is rounded to eight digits *before* it is used, so that the rate shown reproduces the amount shown.
    """

    from_currency: str
    to_currency: str
    rate: Decimal
    day: date | None
    source: str

    def used(self) -> ExchangeUsed | None:
        """What an answer shows of it; None for the same currency."""
        if self.day is None:
            return None
        text = f"{self.rate:f}".rstrip("0").rstrip(".")
        return ExchangeUsed(from_currency=self.from_currency, to_currency=self.to_currency, rate=text, date=self.day, source=self.source)


def exchange(rates: Sequence[Rate], from_currency: str, to_currency: str) -> Exchange:
    """The rate between two currencies: the same, a published pair, its inverse, or a cross through the base that both are quoted in.

    Of several days the latest counts; of several bases the one with the latest older day.

    Raises:
        ExchangeError: nothing connects them.
    """
    if from_currency == to_currency:
        return Exchange(from_currency=from_currency, to_currency=to_currency, rate=Decimal(1), day=None, source="")
    latest = _latest(rates)
    found: list[tuple[date, str, Decimal, str]] = []
    for base in sorted({pair[0] for pair in latest}):
        first, second = _worth(latest, base, from_currency), _worth(latest, base, to_currency)
        if first is None or second is None:
            continue
        days = [rate.day for rate in (first[1], second[1]) if rate is not None]
        sources = sorted({rate.source for rate in (first[1], second[1]) if rate is not None})
        found.append((min(days), base, second[0] / first[0], " + ".join(sources)))
    if not found:
        raise ExchangeError(from_currency, to_currency)
    day, _, rate, source = max(found, key=lambda entry: (entry[0], entry[1]))
    return Exchange(from_currency=from_currency, to_currency=to_currency, rate=_EIGHT_DIGITS.plus(rate), day=day, source=source)


def factors(rates: Sequence[Rate], currencies: Iterable[str], target: str) -> Floats:
    """What one unit of each of ``currencies`` is worth in ``target``; NaN where no rate is known: such prices are unknown, not zero."""

    def factor(currency: str) -> float:
        try:
            return float(exchange(rates, currency, target).rate)
        except ExchangeError:
            return float("nan")

    return np.array([factor(currency) for currency in currencies], dtype=np.float64)


def rates_used(rates: Sequence[Rate], currencies: Iterable[str], target: str) -> tuple[ExchangeUsed, ...]:
    """The rates that turn ``currencies`` into ``target``, by name of the currency.

    Raises:
        ExchangeError: one of them has no rate.
    """
    used = (exchange(rates, currency, target).used() for currency in sorted(set(currencies)))
    return tuple(entry for entry in used if entry is not None)


def converted(money: Money, rates: Sequence[Rate], target: str) -> float:
    """An exact amount as a projection in ``target``.

    Raises:
        ExchangeError: no rate is known.
    """
    return float(money.decimal * exchange(rates, money.currency, target).rate)


def _latest(rates: Sequence[Rate]) -> dict[tuple[str, str], Rate]:
    latest: dict[tuple[str, str], Rate] = {}
    for rate in sorted(rates, key=lambda entry: (entry.day, entry.source)):
        latest[(rate.base, rate.quote)] = rate
    return latest


def _worth(latest: dict[tuple[str, str], Rate], base: str, currency: str) -> tuple[Decimal, Rate | None] | None:
    """Units of ``currency`` for one ``base``; the base itself is worth 1 without a rate."""
    if currency == base:
        return Decimal(1), None
    rate = latest.get((base, currency))
    return None if rate is None else (rate.rate, rate)
