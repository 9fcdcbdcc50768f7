"""A recommendation, in the words of the public contract. Field names equal the JSON's; the API only renders them.

Money of a projection is ``Amount`` (rounded once to 0.01); a price is the exact ``Money``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from app.domain.configuration import Configuration
from app.domain.money import Money
from app.domain.physics import MemoryEstimate, SpeedEstimate


@dataclass(frozen=True, slots=True)
class Amount:
    """Projected money: ``value`` is already rounded to 0.01."""

    value: float
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """P10, P50 and P90 of a figure (hours)."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferView:
    """The machine, as shown."""

    provider: str
    region: str
    country: str | None
    sku: str
    gpu: str
    gpus_per_node: int
    gpu_memory_gb: float
    vcpus: float | None
    ram_gb: float | None
    intra_node_link: str
    inter_node_gbit_s: float | None
    upstream: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """How it is bought. ``term`` such as "1 year" or None; ``price_per_node_hour`` is exact when the tariff is hourly, else derived."""

    option: str
    term: str | None
    upfront: str
    price: Money
    price_unit: str
    price_per_node_hour: Money
    billing_step_seconds: int
    minimum_seconds: int
    billing_rule_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSource:
    """Where the price was read. ``observed_at``/``age_hours`` None: the date is unknown."""

    name: str
    url: str
    observed_at: datetime | None
    date_precision: str
    age_hours: float | None
    stale: bool
    kind: str
    evidence: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Hours of each phase; ``total`` sums the parts at P50."""

    quota_wait: float
    provisioning: float
    setup: float
    upload: float
    compute: float
    checkpoint_stalls: float
    lost_to_interruptions: float
    download: float
    total: Spread


LineStatus = Literal["known", "assumed", "unknown", "included", "free"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    """One line. ``unknown`` lines carry the middle of an assumed range (``low``/``high``), taken from known providers of the kind."""

    kind: str
    label: str
    quantity: float
    unit: str
    unit_price: Money | None
    amount: Amount
    status: LineStatus
    low: Amount | None = None
    high: Amount | None = None
    source_url: str | None = None
    observed_at: datetime | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillTotal:
    """Quantiles of the whole bill; ``p50`` equals the sum of the lines to the cent."""

    p10: float
    p50: float
    p90: float
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Lines and total. ``fee_coverage`` is the share of relevant fee kinds whose tariff is known."""

    lines: tuple[BillLine, ...]
    total: BillTotal
    fee_coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probability:
    """Chance of missing the caller's limits; None when no limit was given."""

    over_budget: float | None
    late: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """as_expected, slower_30_percent, one_interruption, worst_case."""

    name: str
    hours: float
    cost: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaView:
    """Quota of the plan; ``default`` None: not published."""

    needed: str
    default: str | None
    held: str | None
    wait_days: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Stock is three-valued."""

    stock: Literal["available", "unavailable", "unknown"]
    quota: QuotaView


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWarning:
    """A trap, named, with its amount in this plan where it has one."""

    code: str
    severity: Literal["info", "warn", "risk"]
    text: str
    amount: Amount | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The value of ``input`` at which this plan and plan ``against`` cost the same."""

    against: int
    input: str
    value: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One ranked plan. ``checkpoint_interval_minutes`` is the advised interval (Young/Daly) or the caller's own."""

    rank: int
    offer: OfferView
    nodes: int
    gpus: int
    purchase: Purchase
    price_source: PriceSource
    configuration: Configuration
    memory: MemoryEstimate
    speed: SpeedEstimate
    timeline_hours: Timeline
    gpu_hours: float
    checkpoint_interval_minutes: float
    bill: Bill
    probability: Probability
    scenarios: tuple[Scenario, ...]
    availability: Availability
    warnings: tuple[PlanWarning, ...]
    why: tuple[str, ...]
    break_even: tuple[BreakEven, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The cheapest plan at one GPU count."""

    gpu: str
    gpus: int
    hours: float
    cost: Amount
    provider: str
    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedOffer:
    """The place of a rejected example."""

    provider: str
    region: str
    sku: str
    gpu: str
    gpus: int
    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedExample:
    """One plan that was left out, and the smallest change that would let it in."""

    offer: RejectedOffer
    reason: str
    detail: str
    smallest_change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Counts over all candidates by first reason met, and examples."""

    counts: Mapping[str, int]
    examples: tuple[RejectedExample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeUsed:
    """A rate that the answer rests on."""

    from_currency: str
    to_currency: str
    rate: str
    date: date
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadView:
    """The workload as understood. Billions for parameters and tokens; None where the notion does not exist."""

    name: str
    model: str | None
    method: str
    parameters_b: float | None
    active_parameters_b: float | None
    trainable_parameters_b: float | None
    tokens_b: float | None
    steps: float
    model_flops: float | None
    sequence_length: int
    global_batch_sequences: int
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """What to run for half an hour before spending."""

    plan: int
    minutes: int
    cost: Amount
    record: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedStrategy:
    """Trial on an hourly plan before committing to the best one: it costs the trial on top, and a mistake then costs no term."""

    trial_plan: int
    main_plan: int
    cost: Amount
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The whole answer.

    ``pareto`` holds the ranks of shown plans that no admitted plan beats in both cost and time; ``front`` is the whole front, cheapest
    first, shown or not. ``curve`` is the cheapest plan at each number of GPUs, deadline and budget aside.
    """

    as_of: datetime
    catalog_version: int
    oldest_price_age_hours: float | None
    prices_without_date: int
    currency: str
    exchange: tuple[ExchangeUsed, ...]
    workload: WorkloadView
    candidates: int
    plans: tuple[Plan, ...]
    pareto: tuple[int, ...]
    front: tuple[CurvePoint, ...]
    curve: tuple[CurvePoint, ...]
    backup: int | None
    mixed_strategy: MixedStrategy | None
    rejected: Rejected
    trial_plan: TrialPlan | None
