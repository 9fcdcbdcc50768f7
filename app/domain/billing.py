"""How time and volume become money: billing steps, minimums, whole periods, marginal tiers. Known-faults of the field: see the tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.hardware import Bools, Floats
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import Market
from app.domain.units import HOURS_PER_DAY, HOURS_PER_WEEK, SECONDS_PER_HOUR

_ROUNDING_SLACK = 1e-9
"""A use that is a whole number of steps but for float noise is that number of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingTable:
    """Metering by provider (rows of ``Market.providers``) and purchase option (columns of PURCHASE_OPTIONS)."""

    step_seconds: Floats
    minimum_seconds: Floats
    known: Bools


def billing_table(market: Market, assumptions: Assumptions) -> BillingTable:
    """The rules of the market; where none is known, the cautious assumption: whole hours. A rule for one option beats a general one."""
    shape = (len(market.providers), len(PURCHASE_OPTIONS))
    step = np.full(shape, assumptions.unknown_billing_step_seconds.value)
    minimum = np.full(shape, assumptions.unknown_billing_minimum_seconds.value)
    known = np.zeros(shape, dtype=np.bool_)
    row = {provider: index for index, provider in enumerate(market.providers)}
    for rule in sorted(market.billing_rules, key=lambda entry: entry.option is not None):
        if rule.provider not in row:
            continue
        options = slice(None) if rule.option is None else PURCHASE_OPTIONS.index(rule.option)
        step[row[rule.provider], options] = max(rule.step_seconds, 1)
        minimum[row[rule.provider], options] = rule.minimum_seconds
        known[row[rule.provider], options] = True
    return BillingTable(step_seconds=step, minimum_seconds=minimum, known=known)


def metered_hours(used_hours: Floats, step_seconds: Floats, minimum_seconds: Floats) -> Floats:
    """Hours on the bill of a machine used for ``used_hours``: rounded up to whole steps, at least the minimum, nothing for no use."""
    steps = np.ceil(used_hours * (SECONDS_PER_HOUR / step_seconds) - _ROUNDING_SLACK)
    billed = np.maximum(steps * step_seconds, minimum_seconds) / SECONDS_PER_HOUR
    return np.where(used_hours > 0.0, billed, 0.0)


def period_hours(term_hours: Floats, unit_hours: Floats) -> Floats:
    """The smallest span that can be bought: the term, or the unit when that is longer than an hour; 0 for metered tariffs."""
    return np.maximum(term_hours, np.where(unit_hours > 1.0, unit_hours, 0.0))


def whole_period_hours(used_hours: Floats, period: Floats, capacity_block: Bools, week_steps_after_days: float) -> Floats:
    """Hours paid under a commitment: whole periods. Capacity blocks by the day go on in whole weeks after ``week_steps_after_days``.

    ``period`` is positive wherever the result is used.
    """
    paid = np.maximum(np.ceil(used_hours / period - _ROUNDING_SLACK), 1.0) * period
    long_block = capacity_block & (period == HOURS_PER_DAY) & (paid > week_steps_after_days * HOURS_PER_DAY)
    if long_block.any():
        paid = np.where(long_block, np.ceil(used_hours / HOURS_PER_WEEK - _ROUNDING_SLACK) * HOURS_PER_WEEK, paid)
    return paid


@dataclass(frozen=True, slots=True)
class Tiers:
    """A marginal price list: from ``bounds[i]`` on, each further unit costs ``prices[i]``. ``bounds`` starts with 0 and rises."""

    bounds: tuple[float, ...]
    prices: tuple[float, ...]

    def cost(self, quantity: float) -> float:
        """What ``quantity`` units cost: 0 for 0, continuous, never falling."""
        total = 0.0
        uppers = (*self.bounds[1:], float("inf"))
        for lower, upper, price in zip(self.bounds, uppers, self.prices, strict=True):
            if quantity > lower:
                total += (min(quantity, upper) - lower) * price
        return total


def tiers_of(parts: list[tuple[float, float | None, float]], free_quantity: float = 0.0) -> Tiers:
    """A price list from published rows (from, to, price) and a free allowance.

    Rows may come in any order and overlap (a free tier inside a priced one): the narrower row wins. What no row covers costs what the next
    row above costs, or, past the last bound, what the last row costs: an unknown is never free. The allowance makes the first
    ``free_quantity`` units free; it does not shift the tiers.
    """
    rows = [(low, float("inf") if high is None else high, price) for low, high, price in parts]
    bounds = sorted({0.0, free_quantity, *(low for low, _, _ in rows), *(high for _, high, _ in rows if high != float("inf"))})
    prices: list[float] = []
    for bound in bounds:
        covering = [row for row in rows if row[0] <= bound < row[1]]
        if bound < free_quantity:
            prices.append(0.0)
        elif covering:
            prices.append(min(covering, key=lambda row: (row[1] - row[0], row[2]))[2])
        else:
            above = [row for row in rows if row[0] > bound]
            nearest = min(above, key=lambda row: (row[0], -row[2])) if above else max(rows, key=lambda row: (row[1], row[2]))
            prices.append(nearest[2])
    return Tiers(tuple(bounds), tuple(prices))
