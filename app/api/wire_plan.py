"""One ranked plan of a recommendation, as JSON."""

from __future__ import annotations

from typing import Literal

from app.api.wire import Cents, Figure, Instant, MoneyOut, Out, Quantity
from app.api.wire_physics import ConfigurationOut, MemoryOut, SpeedOut


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
