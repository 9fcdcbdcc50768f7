"""``POST /recommend``: the answer, as JSON: field for field the domain's ``Recommendation``, with money and figures in writing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pydantic import Field

from app.api.wire import Exact, Figure, MoneyOut, Out, Rests
from app.api.wire_physics import WorkloadOut
from app.api.wire_plan import PlanOut


class ExchangeOut(Out):
    """A rate that the answer rests on: one ``from`` is ``rate`` of ``to``."""

    from_currency: str = Field(serialization_alias="from")
    """Currency converted from."""
    to_currency: str = Field(serialization_alias="to")
    """Currency converted to."""
    rate: Exact
    """The exact rate, or the cross of two exact rates."""
    date: date
    """Day of the rate."""
    source: str
    """Who publishes it."""


class CurvePointOut(Out):
    """The time and cost of one plan in a chart."""

    gpu: str
    """Card."""
    gpus: int
    """How many."""
    hours: Figure
    """Time to the target."""
    cost: MoneyOut
    """Cost to the target."""
    provider: str
    """Where."""
    option: str
    """How it is bought."""


class RejectedOfferOut(Out):
    """The place of a plan that was left out."""

    provider: str
    """Provider's id."""
    region: str
    """Region."""
    sku: str
    """Machine."""
    gpu: str
    """Card."""
    gpus: int
    """GPUs in all."""
    option: str
    """How it would be bought."""


class RejectedExampleOut(Out):
    """One plan that was left out."""

    offer: RejectedOfferOut
    """Which."""
    reason: str
    """The first reason met."""
    detail: str
    """The reason with its figures."""
    smallest_change: str
    """The smallest change that would let it in."""


class RejectedOut(Out):
    """What was left out, and why."""

    counts: Mapping[str, int]
    """Candidates by the first reason met."""
    examples: list[RejectedExampleOut]
    """One or more of each reason."""


class TrialPlanOut(Out):
    """What to run before spending."""

    plan: int
    """Rank of the plan to try."""
    minutes: int
    """For how long."""
    cost: MoneyOut
    """What the trial costs."""
    record: list[str]
    """What to write down."""


class MixedStrategyOut(Out):
    """A trial on one plan and the long run on another."""

    trial_plan: int
    """Rank of the plan for the trial."""
    main_plan: int
    """Rank of the plan for the run."""
    cost: MoneyOut
    """Cost of both."""
    text: str
    """The same in words."""


class ReadingOut(Out):
    """How a family of cards in the request was understood."""

    pointer: str
    """JSON pointer into the request."""
    given: str
    """What stands there."""
    read_as: list[str]
    """The cards that it means."""


class RecommendationOut(Rests):
    """Ranked plans with every line of their bills. ``plans`` is empty when nothing fits; ``rejected`` then says why."""

    id: str
    """Key of the stored answer: ``GET /recommendations/{id}``."""
    prices_without_date: int
    """Prices used in this answer whose date is unknown."""
    currency: str
    """Currency of every projected amount."""
    exchange: list[ExchangeOut]
    """Rates used."""
    workload: WorkloadOut
    """The workload as understood."""
    read_as: list[ReadingOut]
    """Families of cards and what they were taken to mean."""
    candidates: int
    """Candidate plans that were looked at."""
    plans: list[PlanOut]
    """Ranked plans, best first."""
    pareto: list[int]
    """Ranks of the plans shown that no other beats in both time and cost."""
    front: list[CurvePointOut]
    """The whole front of time and cost, cheapest first, whether shown or not."""
    curve: list[CurvePointOut]
    """The cheapest plan at each number of GPUs, deadline and budget aside."""
    backup: int | None
    """Rank of the best plan on another provider than the first."""
    mixed_strategy: MixedStrategyOut | None
    """When two plans together beat any single one."""
    rejected: RejectedOut
    """What was left out, and why."""
    trial_plan: TrialPlanOut | None
    """What to run for half an hour before spending; null when no plan shown is bought by the hour."""
