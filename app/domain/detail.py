"""One plan in full: time line, itemised bill, percentiles, scenarios, availability and traps, from the same columns that ranked it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.domain.answer import (
    Amount,
    Availability,
    Bill,
    PlanWarning,
    PriceSource,
    Probability,
    Purchase,
    QuotaView,
    Scenario,
    Spread,
    Timeline,
)
from app.domain.assumptions import Assumptions
from app.domain.bill import bill_columns, machine_hours, shown_total
from app.domain.bill_lines import OnePlan, bill_lines
from app.domain.fx import converted
from app.domain.job_fees import JobFees, coverage
from app.domain.market_columns import Market
from app.domain.plan_terms import PlanColumns, PlanTerms
from app.domain.projection import basis
from app.domain.quota import held_gpus
from app.domain.request import Constraints, Preferences
from app.domain.texts import Texts
from app.domain.timeline import PhaseColumns, phases
from app.domain.traps import plan_warnings
from app.domain.uncertainty import bill_total, draw, hours_spread, probability
from app.domain.units import HOURS_PER_DAY
from app.domain.workload import TrainingJob

_MINUTES_PER_HOUR = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDetail:
    """The parts of an answer's ``Plan`` that rest on time, money and risk. ``gpu_hours`` counts the stepping of all GPUs."""

    timeline: Timeline
    bill: Bill
    probability: Probability
    scenarios: tuple[Scenario, ...]
    warnings: tuple[PlanWarning, ...]
    availability: Availability
    purchase: Purchase
    price_source: PriceSource
    checkpoint_interval_minutes: float
    gpu_hours: float


def detail(
    job: TrainingJob,
    market: Market,
    plans: PlanColumns,
    constraints: Constraints,
    preferences: Preferences,
    assumptions: Assumptions,
    row: int,
    texts: Texts,
    *,
    tight: bool = False,
) -> PlanDetail:
    """Plan ``row`` in full; ``tight`` says that memory is tight. The formulas are those of ``project``, on this row alone.

    Raises:
        ValueError: the plan has no known price.
        ExchangeError: no published rate leads to the target currency.
    """
    one = plans.take(np.array([row], dtype=np.int64))
    known = basis(job, market, one, constraints, preferences, assumptions)
    if math.isnan(known.terms.price_per_node_hour[0]) or math.isnan(known.terms.period[0]):
        msg = "a plan without a known price has no bill"
        raise ValueError(msg)
    attempts = job.spec.attempts
    used = phases(known.terms, attempts)
    plan = OnePlan(
        job=job,
        market=market,
        market_terms=known.market_terms,
        fees=known.fees,
        terms=known.terms,
        used=used,
        machines=machine_hours(known.terms, used, assumptions),
        lines=bill_columns(known.terms, used, known.fees, assumptions),
        offer=market.offer_at(int(one.offer[0])),
        tariff=market.tariff_at(int(one.tariff[0])),
        offer_row=int(one.offer[0]),
        tariff_row=int(one.tariff[0]),
        assumptions=assumptions,
        texts=texts,
        currency=preferences.currency,
    )
    drawn = draw(known.terms, attempts, known.fees, assumptions)
    cost = float(shown_total(plan.lines)[0])
    budget = None if constraints.budget is None else converted(constraints.budget, market.rates, preferences.currency)
    single = coverage(known.fees.several if one.nodes[0] > 1 else known.fees.single)
    gpus = int(one.nodes[0]) * plan.offer.gpus_per_node
    return PlanDetail(
        timeline=_timeline(used, hours_spread(drawn, float(used.total[0]))),
        bill=Bill(
            lines=bill_lines(plan),
            total=bill_total(drawn, cost, preferences.currency),
            fee_coverage=float(single[int(known.terms.place[0])]),
        ),
        probability=probability(drawn, budget, constraints.deadline_hours),
        scenarios=scenarios(known.terms, attempts, known.fees, assumptions, preferences.currency),
        warnings=plan_warnings(plan, tight=tight),
        availability=_availability(plan, constraints, gpus),
        purchase=_purchase(plan),
        price_source=_price_source(plan),
        checkpoint_interval_minutes=float(known.terms.interval[0]) * _MINUTES_PER_HOUR,
        gpu_hours=float(used.compute[0]) * gpus,
    )


def scenarios(terms: PlanTerms, attempts: float, fees: JobFees, assumptions: Assumptions, currency: str) -> tuple[Scenario, ...]:
    """The four named futures (R23). An interruption strikes just before the next checkpoint; the worst case is slow and struck."""
    slow = assumptions.slower_factor.value
    cases = {
        "as_expected": (1.0, 0.0),
        "slower_30_percent": (slow, 0.0),
        "one_interruption": (1.0, 1.0),
        "worst_case": (slow, 1.0),
    }
    made: list[Scenario] = []
    for name, (slowness, extra) in cases.items():
        used = phases(terms, attempts, slowness=slowness, extra_interruptions=extra)
        cost = float(shown_total(bill_columns(terms, used, fees, assumptions))[0])
        made.append(Scenario(name=name, hours=float(used.total[0]), cost=Amount(cost, currency)))
    return tuple(made)


def _timeline(used: PhaseColumns, total: Spread) -> Timeline:
    return Timeline(
        quota_wait=float(used.quota_wait[0]),
        provisioning=float(used.provisioning[0]),
        setup=float(used.setup[0]),
        upload=float(used.upload[0]),
        compute=float(used.compute[0]),
        checkpoint_stalls=float(used.checkpoint_stalls[0]),
        lost_to_interruptions=float(used.lost[0]),
        download=float(used.download[0]),
        total=total,
    )


def _availability(plan: OnePlan, constraints: Constraints, gpus: int) -> Availability:
    market, row = plan.market, plan.offer_row
    default = float(plan.market_terms.quotas.default_gpus[row, market.tariffs.option[plan.tariff_row]])
    held = float(held_gpus(market, constraints)[market.offers.provider[row], market.offers.gpu[row]])
    stock = int(market.offers.in_stock[row])
    return Availability(
        stock="available" if stock == 1 else "unavailable" if stock == 0 else "unknown",
        quota=QuotaView(
            needed=f"{gpus} GPU",
            default=None if math.isnan(default) else f"{default:g}",
            held=None if math.isnan(held) else f"{held:g}",
            wait_days=float(plan.terms.quota_wait[0]) / HOURS_PER_DAY,
        ),
    )


def _purchase(plan: OnePlan) -> Purchase:
    tariff, terms = plan.tariff, plan.terms
    term = None
    if tariff.term_unit is not None and tariff.term_count is not None:
        term = f"{tariff.term_count} {tariff.term_unit}{'s' if tariff.term_count > 1 else ''}"
    option = int(plan.market.tariffs.option[plan.tariff_row])
    return Purchase(
        option=tariff.option,
        term=term,
        upfront=tariff.upfront,
        price=tariff.amount,
        price_unit=tariff.unit,
        price_per_node_hour=plan.node_price,
        billing_step_seconds=int(terms.step_seconds[0]),
        minimum_seconds=int(terms.minimum_seconds[0]),
        billing_rule_known=bool(plan.market_terms.billing.known[int(terms.provider[0]), option]),
    )


def _price_source(plan: OnePlan) -> PriceSource:
    source, drift = plan.tariff.source, plan.market_terms.drift
    dated = bool(drift.dated[plan.tariff_row])
    age_hours = float(drift.age_hours[plan.tariff_row]) if dated else None
    limit = plan.assumptions.stale_after_days[plan.tariff.option].value * HOURS_PER_DAY
    return PriceSource(
        name=source.name,
        url=source.url,
        observed_at=source.observed_at,
        date_precision=source.date_precision,
        age_hours=age_hours,
        stale=age_hours is None or age_hours > limit,
        kind=plan.tariff.kind,
        evidence=source.evidence,
    )
