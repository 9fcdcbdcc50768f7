"""``POST /recommend``: constraints and preferences of a request, as JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.api.wire import CURRENCY_PATTERN, In, MoneyIn, PositiveMoney
from app.api.wire_workload import Name, WorkloadIn
from app.domain.market import PURCHASE_OPTIONS, PurchaseOption
from app.domain.request import Language, Objective

Names = Annotated[list[Name], Field(max_length=200)]


class ChoiceIn(In):
    """What may be used and what may not. An empty ``include`` means "any"."""

    include: Names = []
    """Only these."""
    exclude: Names = []
    """None of these."""


class QuotaHeldIn(In):
    """GPUs of one kind that the caller may already rent at one provider."""

    provider: Name = Field(examples=["aws"])
    """A provider's id."""
    gpu: Name = Field(examples=["H100"])
    """A card or a family of cards."""
    gpus: int = Field(ge=0, le=1_000_000)
    """How many may be rented at once; 0 is "none yet"."""


class ConstraintsIn(In):
    """Hard limits. Every plan that is left out is counted in ``rejected`` by its reason."""

    deadline_hours: float | None = Field(default=None, gt=0, le=1e6)
    """Hours from now to the results."""
    budget: PositiveMoney | None = None
    """The most that the whole bill may cost."""
    providers: ChoiceIn = ChoiceIn()
    """Provider ids; ``GET /providers`` lists them."""
    countries: Annotated[list[str], Field(max_length=200)] = Field(default=[], examples=[["US", "DE"]])
    """ISO 3166 two-letter codes; empty: any. Offers whose country is unknown are then left out."""
    regions: Names = []
    """Names of regions as the providers write them; empty: any."""
    gpus: ChoiceIn = ChoiceIn()
    """Cards (``A100-SXM4-80GB``) or families (``A100``, ``A100-80GB``); ``GET /gpus`` lists them."""
    purchase_options: list[PurchaseOption] = Field(default=list(PURCHASE_OPTIONS), min_length=1, max_length=16)
    """Ways of buying that are allowed."""
    max_gpus: int = Field(default=64, ge=1, le=100_000)
    """The most GPUs of a plan."""
    min_gpus: int = Field(default=1, ge=1, le=100_000)
    """The fewest GPUs of a plan."""
    max_nodes: int = Field(default=64, ge=1, le=10_000)
    """The most machines of a plan."""
    min_vcpus_per_gpu: float = Field(default=0.0, ge=0, le=10_000)
    """Virtual processors a GPU, at least; a machine whose figure is unknown does not pass."""
    min_ram_gb_per_gpu: float = Field(default=0.0, ge=0, le=1_000_000)
    """Host memory a GPU, at least, GB; a machine whose figure is unknown does not pass."""
    in_stock_only: bool = False
    """Only offers whose provider says that they are available."""
    max_price_age_days: float | None = Field(default=None, gt=0, le=36_500)
    """Only prices read at most so many days before ``as_of``."""
    quotas_held: list[QuotaHeldIn] = Field(default=[], max_length=200)
    """Quotas that the caller's accounts already have."""
    interruptible: bool = True
    """May the run be interrupted? ``false`` leaves spot out."""
    include_history_prices: bool = False
    """Also rank offers of which only an old price is known."""


class PreferencesIn(In):
    """How to rank and to show."""

    objective: Objective = "expected_cost"
    """What to rank by."""
    currency: str = Field(default="USD", pattern=CURRENCY_PATTERN)
    """Currency of the answer; ``GET /fx`` lists them."""
    engineer_hourly_rate: MoneyIn | None = None
    """Cost of an engineer's hour; null: engineers' time is not billed."""
    value_of_a_day: MoneyIn | None = None
    """What a day of delay costs the caller; it counts only under the objective `cost_and_delay`, which needs it."""
    language: Language = "en"
    """Language of the sentences."""
    limit: int = Field(default=10, ge=1, le=100)
    """The most plans to return."""


class RecommendIn(In):
    """One question: what will this run cost, on each platform, and where should it go?"""

    workload: WorkloadIn
    """What is to be trained."""
    constraints: ConstraintsIn = ConstraintsIn()
    """Hard limits."""
    preferences: PreferencesIn = PreferencesIn()
    """How to rank and to show."""
