"""From a question to judged, timed and priced candidates: everything that ranking and explaining work on, in columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app.domain.admission import CODE, Reason, admit_offers, late, mark, quota_refused
from app.domain.bill import shown_total
from app.domain.fx import converted
from app.domain.hardware import Floats, Ints
from app.domain.knowledge import Knowledge
from app.domain.market_columns import Market
from app.domain.measured import Scale, scale_of
from app.domain.plan_terms import PlanColumns
from app.domain.plans import Candidates, enumerate_candidates
from app.domain.projection import ProjectionColumns, project
from app.domain.request import Constraints, Preferences, RecommendRequest
from app.domain.resolve import resolve
from app.domain.search import REASONS as SEARCH_REASONS
from app.domain.search import SearchResult, search
from app.domain.workload import TrainingJob

_OF_SEARCH: dict[str, Reason] = {
    "none": "admitted",
    "precision": "precision",
    "batch": "batch",
    "layout": "memory",
    "host_memory": "memory",
    "memory": "memory",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """All candidates with a reason code each (0: admitted), and the estimate of those that came as far as being priced.

    ``reasons_held`` counts the reasons known to hold; what was refused before the search may have more, which nobody has looked at.

    ``priced`` are rows of ``candidates``; ``plans`` and ``projection`` have one row for each of them. ``searched`` are the shapes that
    were searched: ``shape_row[shape]`` is the row of ``found``, -1 for a shape that no candidate needed. ``cost`` is the bill as it will be
    shown: the sum of its lines, each rounded to 0.01.
    """

    request: RecommendRequest
    job: TrainingJob
    market: Market
    scale: Scale | None
    candidates: Candidates
    reasons: Ints
    reasons_held: Ints
    found: SearchResult
    searched: Ints
    shape_row: Ints
    priced: Ints
    plans: PlanColumns
    projection: ProjectionColumns
    cost: Floats
    budget: float | None

    @property
    def constraints(self) -> Constraints:
        """The caller's limits."""
        return self.request.constraints

    @property
    def preferences(self) -> Preferences:
        """How the caller wants the answer."""
        return self.request.preferences

    def admitted(self) -> Ints:
        """Rows of ``plans`` that meet every limit."""
        return np.flatnonzero(self.reasons[self.priced] == 0)

    def found_row(self, plan: int) -> int:
        """Row of ``found`` behind one row of ``plans``."""
        return int(self.shape_row[self.candidates.shape[self.priced[plan]]])


def screen(request: RecommendRequest, *, market: Market, knowledge: Knowledge) -> Screened:
    """Enumerate, judge, search, time and price.

    Raises:
        WorkloadError: the workload cannot be understood.
        ExchangeError: no published rate leads to the answer's currency.
    """
    constraints, preferences = request.constraints, request.preferences
    job = resolve(request.workload, presets=knowledge.presets, gpus=knowledge.gpus)
    scale = scale_of(job, knowledge.gpus, knowledge.calibration)
    candidates = enumerate_candidates(market, max_gpus=constraints.max_gpus, max_nodes=constraints.max_nodes)
    judged = admit_offers(market, candidates, constraints)
    reasons = judged.reason
    searched = np.unique(candidates.shape[reasons == 0])
    shape_row = np.full(len(candidates.shapes), -1, dtype=np.int64)
    shape_row[searched] = np.arange(len(searched))
    found = search(job, candidates.shapes.take(searched), knowledge.calibration)
    _judge_shapes(reasons, candidates, shape_row, found)
    mark(judged, quota_refused(market, candidates, constraints), "quota")

    priced = np.flatnonzero(reasons == 0)
    plans = _plan_columns(candidates, priced, shape_row, found, scale)
    projection = project(job, market, plans, constraints, preferences, knowledge.assumptions)
    cost = shown_total(projection.lines)
    budget = _budget(market, constraints, preferences)
    unknown, expired, dear = (np.zeros(len(candidates), dtype=np.bool_) for _ in range(3))
    unknown[priced] = ~projection.price_known
    expired[priced] = late(projection.total_hours, constraints.deadline_hours)
    dear[priced] = False if budget is None else np.round(cost - projection.lines["delay"], 2) > budget
    mark(judged, unknown, "price_unknown")
    mark(judged, expired, "deadline")
    mark(judged, dear, "budget")
    return Screened(
        request=request,
        job=job,
        market=market,
        scale=scale,
        candidates=candidates,
        reasons=reasons,
        reasons_held=judged.held,
        found=found,
        searched=searched,
        shape_row=shape_row,
        priced=priced,
        plans=plans,
        projection=projection,
        cost=cost,
        budget=budget,
    )


def _judge_shapes(reasons: Ints, candidates: Candidates, shape_row: Ints, found: SearchResult) -> None:
    """Give the search's own reasons to the candidates of shapes without a layout (in place)."""
    codes = np.array([CODE[_OF_SEARCH[name]] for name in SEARCH_REASONS], dtype=np.int64)
    rows = np.flatnonzero(reasons == 0)
    reasons[rows] = codes[found.reason[shape_row[candidates.shape[rows]]]]


def _plan_columns(candidates: Candidates, rows: Ints, shape_row: Ints, found: SearchResult, scale: Scale | None) -> PlanColumns:
    shape = shape_row[candidates.shape[rows]]
    speed, sigma = found.speed.units_per_second[shape], found.speed.sigma[shape]
    if scale is not None:
        speed, sigma = speed * scale.factors(found.speed)[shape], np.full(len(sigma), scale.sigma)
    return PlanColumns(
        tariff=candidates.tariff[rows], offer=candidates.offer[rows], nodes=candidates.nodes[rows], units_per_second=speed, sigma=sigma
    )


def _budget(market: Market, constraints: Constraints, preferences: Preferences) -> float | None:
    """The budget in the answer's currency."""
    if constraints.budget is None:
        return None
    return converted(constraints.budget, market.rates, preferences.currency)


def with_speed(screened: Screened, rows: Ints, speed_factor: Floats, knowledge: Knowledge) -> ProjectionColumns:
    """The projection of plans ``rows`` (repeats allowed) at other speeds: ``speed_factor`` times the estimate."""
    plans = screened.plans.take(rows)
    plans = replace(plans, units_per_second=plans.units_per_second * speed_factor)
    return project(screened.job, screened.market, plans, screened.constraints, screened.preferences, knowledge.assumptions)
