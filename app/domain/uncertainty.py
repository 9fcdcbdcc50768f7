"""Joint draws of what can go differently: speed, price, interruptions, unknown fees, failed attempts. Seeded once, the same for every plan.

All plans share one set of stratified points, so that plans are compared under the same luck, a dearer or longer plan never looks better by
chance, and the same question always gets the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from app.domain.answer import BillTotal, Probability, Spread
from app.domain.assumptions import Assumptions
from app.domain.bill import bill_columns
from app.domain.drift import Z90
from app.domain.hardware import Floats
from app.domain.job_fees import JobFees
from app.domain.plan_terms import PlanTerms
from app.domain.timeline import phases

_SEED = 20_261_130
_NORMAL_FROM = 50.0
_LARGEST_FEE_SHIFT = 2.0


@dataclass(frozen=True, slots=True)
class Points:
    """Columns of n values: standard normals for speed, price, rate of interruptions and fees; uniforms in (0, 1) for counts."""

    speed: Floats
    price: Floats
    rate: Floats
    fees: Floats
    count: Floats
    attempts: Floats


@dataclass(frozen=True, slots=True)
class Draws:
    """Hours and costs of one plan under each point; ``spent`` is the cost without the value of delay, which no budget pays."""

    hours: Floats
    cost: Floats
    spent: Floats


@lru_cache(maxsize=4)
def points(number: int) -> Points:
    """A Latin hypercube: each column holds the midpoints of ``number`` equal strata in its own seeded order."""
    generator = np.random.Generator(np.random.PCG64(_SEED))
    uniform = (np.arange(number) + 0.5) / number
    normal = np.array([NormalDist().inv_cdf(value) for value in uniform], dtype=np.float64)
    return Points(
        speed=generator.permutation(normal),
        price=generator.permutation(normal),
        rate=generator.permutation(normal),
        fees=generator.permutation(normal),
        count=generator.permutation(uniform),
        attempts=generator.permutation(uniform),
    )


def poisson_quantile(uniform: Floats, mean: Floats) -> Floats:
    """The Poisson count at each probability: exact by summing up to a mean of 50, by the normal beyond. Never falls when the mean rises."""
    small = np.minimum(mean, _NORMAL_FROM)
    probability = np.exp(-small)
    cumulated, count = probability.copy(), np.zeros_like(mean)
    step = 0
    while (unfinished := cumulated < uniform).any():
        step += 1
        probability = probability * small / step
        count[unfinished] = step
        cumulated = np.where(unfinished, cumulated + probability, cumulated)
        if step > _NORMAL_FROM * 4:
            break
    return np.where(mean <= _NORMAL_FROM, count, count + (mean - _NORMAL_FROM) + _deviation(uniform, mean) - _deviation(uniform, small))


def _deviation(uniform: Floats, mean: Floats) -> Floats:
    """z(uniform) · √mean, with the normal quantile in Tukey's lambda form (within 0.02 of it between 1 % and 99 %)."""
    deviation: Floats = 4.91 * (uniform**0.14 - (1.0 - uniform) ** 0.14) * np.sqrt(mean)
    return deviation


def draw(terms: PlanTerms, attempts: float, fees: JobFees, assumptions: Assumptions) -> Draws:
    """Hours and cost of one plan (``terms`` has one row) under every point.

    Speed errs log-normally by the estimate's own sigma, prices by the drift of their age (upward and downward apart), the
    rate of spot interruptions log-normally and their number as Poisson, assumed fees between and beyond the ends of their range.
    """
    drawn = points(int(assumptions.draws.value))
    rows = terms.take(np.zeros(len(drawn.speed), dtype=np.int64))
    slowness = np.exp(drawn.speed * rows.sigma)
    tries = 1.0 + poisson_quantile(drawn.attempts, np.full(len(drawn.attempts), attempts - 1.0)) if attempts > 1.0 else attempts
    expected = phases(rows, tries, slowness=slowness)
    uncertain = np.where(rows.spot, assumptions.interruption_rate_sigma.value, 0.0)
    count = poisson_quantile(drawn.count, expected.interruptions * np.exp(drawn.rate * uncertain))
    used = phases(rows, tries, slowness=slowness, interruptions=count)
    drift = np.where(drawn.price > 0.0, rows.drift_up, rows.drift_down)
    shift = np.clip(drawn.fees / Z90, -1.0, _LARGEST_FEE_SHIFT)
    lines = bill_columns(rows, used, fees, assumptions, price_factor=np.exp(drawn.price * drift), fee_shift=shift)
    cost = np.sum(np.stack(list(lines.values())), axis=0)
    return Draws(hours=used.total, cost=cost, spent=cost - lines["delay"])


def hours_spread(draws: Draws, expected_hours: float) -> Spread:
    """P10 and P90 of the draws around the expected time line, which is shown as P50."""
    low, high = np.quantile(draws.hours, (0.1, 0.9))
    return Spread(p10=min(float(low), expected_hours), p50=expected_hours, p90=max(float(high), expected_hours))


def bill_total(draws: Draws, expected_cost: float, currency: str) -> BillTotal:
    """P10 and P90 of the draws around the sum of the lines, which is shown as P50."""
    low, high = (round(float(value), 2) for value in np.quantile(draws.cost, (0.1, 0.9)))
    return BillTotal(p10=min(low, expected_cost), p50=expected_cost, p90=max(high, expected_cost), currency=currency)


def probability(draws: Draws, budget: float | None, deadline_hours: float | None) -> Probability:
    """Share of the draws beyond each limit."""
    return Probability(
        over_budget=None if budget is None else float(np.mean(draws.spent > budget)),
        late=None if deadline_hours is None else float(np.mean(draws.hours > deadline_hours)),
    )
