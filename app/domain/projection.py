"""Project all candidate plans at once: hours and cost per phase and line, with bounds good enough to screen and rank by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.bill import bill_columns, paid_hours, storage_hours
from app.domain.drift import Z90
from app.domain.hardware import Bools, Floats, Ints
from app.domain.job_fees import FEE_LINES, HOURLY_FEE_LINES, JobFees, coverage, job_fees
from app.domain.market_columns import Market
from app.domain.market_terms import MarketTerms, market_terms
from app.domain.plan_terms import PlanColumns, PlanTerms, plan_terms
from app.domain.request import Constraints, Preferences
from app.domain.timeline import PhaseColumns, phases
from app.domain.workload import TrainingJob

_MINUTES_PER_HOUR = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionColumns:
    """Per row: hours of each phase, cost of each line (unrounded, target currency), and bounds.

    ``total_cost`` is the expected bill (P50), NaN where ``price_known`` is False. ``cost_p10`` … ``hours_p90`` approximate what ``detail``
    draws. ``loading_factor`` and ``checkpoint_factor`` are the shares of time that data loading and checkpoints leave.
    """

    currency: str
    hours: PhaseColumns
    lines: Mapping[str, Floats]
    total_hours: Floats
    total_cost: Floats
    hours_p10: Floats
    hours_p90: Floats
    cost_p10: Floats
    cost_p90: Floats
    fee_coverage: Floats
    checkpoint_interval_minutes: Floats
    loading_factor: Floats
    checkpoint_factor: Floats
    quota_state: Ints
    quota_wait_hours: Floats
    price_known: Bools

    def __len__(self) -> int:
        return len(self.total_hours)

    def take(self, index: Ints) -> ProjectionColumns:
        """The rows at ``index``."""
        columns = {name: value[index] for name in self.__dataclass_fields__ if isinstance(value := getattr(self, name), np.ndarray)}
        lines = {name: value[index] for name, value in self.lines.items()}
        return replace(self, hours=self.hours.take(index), lines=lines, **columns)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What projection and detail both stand on."""

    market_terms: MarketTerms
    fees: JobFees
    terms: PlanTerms


def basis(
    job: TrainingJob, market: Market, plans: PlanColumns, constraints: Constraints, preferences: Preferences, assumptions: Assumptions
) -> Basis:
    """Gather terms and fees of ``plans``.

    Raises:
        ExchangeError: no published rate leads to the target currency.
    """
    terms = market_terms(market, preferences.currency, assumptions)
    return Basis(
        market_terms=terms,
        fees=job_fees(job, market, terms.fees, preferences, assumptions),
        terms=plan_terms(job, market, terms, plans, constraints, assumptions),
    )


def project(
    job: TrainingJob, market: Market, plans: PlanColumns, constraints: Constraints, preferences: Preferences, assumptions: Assumptions
) -> ProjectionColumns:
    """Hours and cost of every plan.

    Raises:
        ExchangeError: no published rate leads to the target currency.
    """
    known = basis(job, market, plans, constraints, preferences, assumptions)
    terms, fees = known.terms, known.fees
    hours = phases(terms, job.spec.attempts)
    lines = bill_columns(terms, hours, fees, assumptions)
    total = np.zeros(len(terms))
    for amount in lines.values():
        total += amount
    low_hours, high_hours = _hour_bounds(terms, hours, assumptions)
    low_cost, high_cost = _cost_bounds(terms, hours, fees, lines, (low_hours, high_hours), assumptions)
    single, several = coverage(fees.single), coverage(fees.several)
    stepping = hours.compute + hours.checkpoint_stalls
    return ProjectionColumns(
        currency=preferences.currency,
        hours=hours,
        lines=lines,
        total_hours=hours.total,
        total_cost=total,
        hours_p10=hours.total - low_hours,
        hours_p90=hours.total + high_hours,
        cost_p10=np.maximum(total - low_cost, 0.0),
        cost_p90=total + high_cost,
        fee_coverage=np.where(terms.nodes > 1, several.take(terms.place), single.take(terms.place)),
        checkpoint_interval_minutes=terms.interval * _MINUTES_PER_HOUR,
        loading_factor=terms.loading_factor,
        checkpoint_factor=hours.compute / stepping,
        quota_state=terms.quota_state,
        quota_wait_hours=terms.quota_wait,
        price_known=~np.isnan(terms.price_per_node_hour) & ~np.isnan(terms.period),
    )


def _hour_bounds(terms: PlanTerms, hours: PhaseColumns, assumptions: Assumptions) -> tuple[Floats, Floats]:
    """How far P10 and P90 of the total lie from its middle: speed error (log-normal), lost work (Poisson, rate uncertain)."""
    running = hours.compute + hours.checkpoint_stalls + hours.lost
    swing = np.exp(Z90 * terms.sigma)
    counts = np.maximum(hours.interruptions, 1e-12)
    rate_sigma = np.where(terms.spot, assumptions.interruption_rate_sigma.value, 0.0)
    losing = Z90 * hours.lost * np.sqrt(1.0 / counts + rate_sigma**2)
    up = np.hypot(running * (swing - 1.0), losing)
    down = np.hypot(running * (1.0 - 1.0 / swing), np.minimum(losing, hours.lost))
    return np.minimum(down, running), up


def _cost_bounds(
    terms: PlanTerms,
    hours: PhaseColumns,
    fees: JobFees,
    lines: Mapping[str, Floats],
    spread: tuple[Floats, Floats],
    assumptions: Assumptions,
) -> tuple[Floats, Floats]:
    """How far P10 and P90 of the bill lie from its middle: hours, price drift and unknown fees in quadrature."""
    machines = lines["compute"] + lines["failed_attempts"] + lines["interruptions"] + lines["trial_run"]
    rate = terms.price_per_node_hour * terms.billed_nodes
    waiting_share = 1.0 - hours.lost_rented / np.maximum(hours.lost, 1e-12)
    rented_share = 1.0 - waiting_share * hours.lost / np.maximum(hours.compute + hours.checkpoint_stalls + hours.lost, 1e-12)
    less, _ = paid_hours(terms, np.maximum(hours.rented - spread[0] * rented_share, 0.0), assumptions)
    more, _ = paid_hours(terms, hours.rented + spread[1] * rented_share, assumptions)
    hourly: Floats | float = fees.engineer_rate * assumptions.engineer_share_of_run.value + fees.delay_rate_per_hour
    for name in HOURLY_FEE_LINES:
        hourly = hourly + lines[name] / storage_hours(hours)
    down_fees, up_fees = _fee_spread(terms, fees, hours)
    down_hours = np.maximum(machines - rate * less, 0.0) + hourly * spread[0]
    up_hours = np.maximum(rate * more - machines, 0.0) + hourly * spread[1]
    down = np.sqrt(down_hours**2 + (machines * -np.expm1(-Z90 * terms.drift_down)) ** 2 + down_fees**2)
    up = np.sqrt(up_hours**2 + (machines * np.expm1(Z90 * terms.drift_up)) ** 2 + up_fees**2)
    return down, up


def _fee_spread(terms: PlanTerms, fees: JobFees, hours: PhaseColumns) -> tuple[Floats, Floats]:
    """Distance of assumed fees from their middle, over all lines together (their ranges move with the market, so they add up)."""
    once_down, once_up = np.zeros(len(terms)), np.zeros(len(terms))
    stored = storage_hours(hours)
    places = len(next(iter(fees.single.values())).relevant)
    place_down, place_up = np.zeros(places), np.zeros(places)
    for name in FEE_LINES:
        if name in HOURLY_FEE_LINES:
            several = fees.several[name].amounts if name == "run_storage" else fees.single[name].amounts
            once_down += (several.mid - several.low).take(terms.place) * stored
            once_up += (several.high - several.mid).take(terms.place) * stored
        else:
            amounts = fees.single[name].amounts
            place_down += amounts.mid - amounts.low
            place_up += amounts.high - amounts.mid
    return once_down + place_down.take(terms.place), once_up + place_up.take(terms.place)
