"""``POST /recommend``: the answer, as JSON: field for field the domain's ``Recommendation``, with money and figures in writing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import Field

from app.api.wire import Cents, Exact, Figure, Instant, MoneyOut, Out, Quantity, Rests
from app.domain.configuration import AttentionKernel, LossKernel, Offload, Recompute, Sharding
from app.domain.gpus import Precision
from app.domain.physics import Verdict
from app.domain.workload import Optimizer


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


class WorkloadOut(Out):
    """The workload as understood."""

    name: str
    """The caller's name for it."""
    model: str | None
    """The model's name; null when only a measurement is known."""
    method: str
    """How it is trained."""
    parameters_b: Figure | None
    """Parameters in billions."""
    active_parameters_b: Figure | None
    """Parameters that touch one token, in billions."""
    trainable_parameters_b: Figure | None
    """Parameters that the optimizer updates, in billions."""
    tokens_b: Figure | None
    """Tokens to train on, in billions; null for networks that do not count tokens."""
    steps: Figure
    """Optimizer steps."""
    model_flops: Figure | None
    """FLOPs that the model needs in all; recomputation is not counted."""
    sequence_length: int
    """Tokens a sequence."""
    global_batch_sequences: int
    """Sequences of one optimizer step."""
    assumptions: list[str]
    """Everything that was inferred."""
    warnings: list[str]
    """What the caller should know about the target."""


class OfferOut(Out):
    """The machine."""

    provider: str
    """Provider's id."""
    region: str
    """Region as the provider writes it."""
    country: str | None
    """ISO 3166 code; null when the region names no country."""
    sku: str
    """The provider's name of the machine."""
    gpu: str
    """Card."""
    gpus_per_node: int
    """Cards in one machine."""
    gpu_memory_gb: Figure
    """Memory of one card, GB."""
    vcpus: Figure | None
    """Virtual processors of one machine; null: unknown."""
    ram_gb: Figure | None
    """Memory of one machine, GB; null: unknown."""
    intra_node_link: str
    """How its cards are joined."""
    inter_node_gbit_s: Figure | None
    """Network of one machine, Gbit/s; null: unknown."""
    upstream: str | None
    """The platform behind a broker."""


class PurchaseOut(Out):
    """How it is bought."""

    option: str
    """on_demand, spot, reserved or capacity_block."""
    term: str | None
    """Length of the commitment, such as ``1 year``."""
    upfront: str
    """``all`` when the term is paid at once, else ``none``."""
    price: MoneyOut
    """The exact price of one machine and one ``price_unit``."""
    price_unit: str
    """node_hour, node_day, node_week, node_month or node_term."""
    price_per_node_hour: MoneyOut
    """Price of one machine-hour: exact when the tariff is hourly, else derived."""
    billing_step_seconds: int
    """Time is rounded up to this step."""
    minimum_seconds: int
    """Shortest time that is billed."""
    billing_rule_known: bool
    """False when step and minimum are an assumption for the provider's kind."""


class PriceSourceOut(Out):
    """Where the price was read, and how old it is."""

    name: str
    """Name of the source."""
    url: str
    """Its address."""
    observed_at: Instant | None
    """When the price was read; null: the source states no date."""
    date_precision: str
    """day, month, year or unknown."""
    age_hours: Figure | None
    """Age at ``as_of``; null: unknown."""
    stale: bool
    """Is it older than prices of its kind stay true?"""
    kind: str
    """list, observed or history."""
    evidence: str | None
    """Key of the stored evidence."""


class ConfigurationOut(Out):
    """How the job is laid out on the GPUs."""

    precision: Precision
    """Arithmetic of the matrix products."""
    micro_batch: int
    """Sequences a GPU works on at once."""
    gradient_accumulation: int
    """Micro-steps of one optimizer step."""
    activation_checkpointing: Recompute
    """What is recomputed in the backward pass."""
    sharding: Sharding
    """What is spread over data-parallel ranks."""
    tensor_parallel: int
    """GPUs that share each layer."""
    pipeline_parallel: int
    """Stages that the layers are split into."""
    offload: Offload
    """What is kept in host memory."""
    optimizer: Optimizer
    """The optimizer."""
    attention: AttentionKernel
    """Attention kernel."""
    loss: LossKernel
    """Loss kernel."""


class MemoryOut(Out):
    """Memory of one GPU at the peak, GB = 10^9 bytes."""

    verdict: Verdict
    """``tight`` means: likely to fit, not sure to."""
    needed_gb_per_gpu: Figure
    """The likely need."""
    available_gb_per_gpu: Figure
    """What a process can allocate."""
    peak_phase: str
    """When the peak comes."""
    breakdown_gb: Mapping[str, Figure]
    """weights, gradients, optimizer, activations, logits, overhead; they sum to the need."""
    host_ram_gb_per_node: Figure
    """Host memory of one machine, GB."""
    notes: list[str]
    """What decided the verdict."""


class SpeedOut(Out):
    """Speed over all GPUs of the plan."""

    units_per_second: Figure
    """Units of work a second."""
    unit: str
    """token, sample or step."""
    tokens_per_second: Figure | None
    """Tokens a second; null for networks that do not count tokens."""
    tokens_per_second_p10: Figure | None
    """Nine of ten real runs are faster than this."""
    tokens_per_second_p90: Figure | None
    """One of ten real runs is faster than this."""
    seconds_per_step: Figure
    """Seconds of one optimizer step."""
    mfu: Figure | None
    """FLOPs that the model needs ÷ dense peak."""
    hfu: Figure | None
    """The same with recomputation counted."""
    efficiency: Figure | None
    """Share of the dense peak that is put to use."""
    scaling_efficiency: Figure
    """Speed ÷ (number of GPUs × speed of one)."""
    bottleneck: str
    """What limits the speed."""
    factors: Mapping[str, Figure]
    """Named factors, each at most 1."""
    basis: Literal["model", "measured", "stated"]
    """``measured``: the caller's own measurement calibrates it; ``stated``: the caller's ``assumed_mfu``."""
    sigma: Figure
    """Standard deviation of the logarithm of real speed ÷ this estimate."""


class SpreadOut(Out):
    """P10, P50 and P90, hours."""

    p10: Figure
    """One of ten real runs is shorter."""
    p50: Figure
    """As expected."""
    p90: Figure
    """One of ten real runs is longer."""


class TimelineOut(Out):
    """Hours of each phase."""

    quota_wait: Figure
    """Waiting for a quota."""
    provisioning: Figure
    """From order to machine."""
    setup: Figure
    """Setting up the software."""
    upload: Figure
    """Bringing the data."""
    compute: Figure
    """Training."""
    checkpoint_stalls: Figure
    """Standing still while a checkpoint is written."""
    lost_to_interruptions: Figure
    """Work done twice, and restarts."""
    download: Figure
    """Fetching the results."""
    total: SpreadOut
    """All of it; ``p50`` is the sum of the parts."""


class BillLineOut(Out):
    """One line of the bill."""

    kind: str
    """What is billed."""
    label: str
    """The same in the caller's language."""
    quantity: Quantity
    """How much."""
    unit: str
    """Of what."""
    unit_price: MoneyOut | None
    """Exact price of one unit; null when tiers, minimums or an unknown tariff leave no single one."""
    amount: MoneyOut
    """The line, rounded to 0.01."""
    status: Literal["known", "assumed", "unknown", "included", "free"]
    """``unknown``: nobody publishes this fee; the amount is the middle of an assumed range."""
    low: MoneyOut | None
    """Lower end of the assumed range."""
    high: MoneyOut | None
    """Upper end of the assumed range."""
    source_url: str | None
    """Where the price of the line was read."""
    observed_at: Instant | None
    """When it was read; null: unknown or no price."""
    evidence: str | None
    """Key of the stored evidence."""


class BillTotalOut(Out):
    """Quantiles of the whole bill."""

    p10: Cents
    """One of ten real bills is lower."""
    p50: Cents
    """The sum of the lines, to the cent."""
    p90: Cents
    """One of ten real bills is higher."""
    currency: str
    """ISO 4217 code."""


class BillOut(Out):
    """The whole bill."""

    lines: list[BillLineOut]
    """Every line."""
    total: BillTotalOut
    """What they come to."""
    fee_coverage: Figure
    """Share of the relevant kinds of fees whose tariff is known."""


class ProbabilityOut(Out):
    """Chance of missing the caller's limits; null where no limit was given."""

    over_budget: Figure | None
    """Chance that the bill exceeds the budget."""
    late: Figure | None
    """Chance that the run misses the deadline."""


class ScenarioOut(Out):
    """What would happen if."""

    name: str
    """as_expected, slower_30_percent, one_interruption or worst_case."""
    hours: Figure
    """Time to the target."""
    cost: MoneyOut
    """Cost to the target."""


class QuotaNeedOut(Out):
    """Quota of the plan."""

    needed: str
    """What the plan needs."""
    default: str | None
    """What a new account has; null: not published."""
    held: str | None
    """What the caller says it has."""
    wait_days: Figure | None
    """Usual days to an approval."""


class AvailabilityOut(Out):
    """Can it be had?"""

    stock: Literal["available", "unavailable", "unknown"]
    """What the provider publishes."""
    quota: QuotaNeedOut
    """What an account must be allowed."""


class WarningOut(Out):
    """A trap, named, with its amount in this plan."""

    code: str
    """For programs."""
    severity: Literal["info", "warn", "risk"]
    """How much it matters."""
    text: str
    """For people."""
    amount: MoneyOut | None
    """What it costs in this plan, where it has an amount."""


class BreakEvenOut(Out):
    """The value of ``input`` at which this plan and plan ``against`` cost the same."""

    against: int
    """Rank of the other plan."""
    input: str
    """The figure that is varied."""
    value: Figure
    """Where both cost the same."""
    text: str
    """The same in words."""


class PlanOut(Out):
    """One ranked plan."""

    rank: int
    """1 is the best."""
    offer: OfferOut
    """The machine."""
    nodes: int
    """How many machines."""
    gpus: int
    """GPUs in all."""
    purchase: PurchaseOut
    """How it is bought."""
    price_source: PriceSourceOut
    """Where the price was read."""
    configuration: ConfigurationOut
    """How the job is laid out."""
    memory: MemoryOut
    """Does it fit?"""
    speed: SpeedOut
    """How fast is it?"""
    timeline_hours: TimelineOut
    """How long does it take?"""
    gpu_hours: Figure
    """GPU-hours of training."""
    checkpoint_interval_minutes: Figure
    """The advised interval, or the caller's own."""
    bill: BillOut
    """What does it cost?"""
    probability: ProbabilityOut
    """Chance of missing the limits."""
    scenarios: list[ScenarioOut]
    """What if."""
    availability: AvailabilityOut
    """Stock and quota."""
    warnings: list[WarningOut]
    """Traps."""
    why: list[str]
    """Why it stands where it stands."""
    break_even: list[BreakEvenOut]
    """Against the runner-up."""


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
    """What to run for half an hour before spending."""
