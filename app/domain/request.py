"""What a caller asks of a recommendation besides the workload: constraints and preferences, already checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.domain.market import PurchaseOption
from app.domain.money import Money
from app.domain.workload import WorkloadSpec


class RequestError(ValueError):
    """A request that contradicts itself. ``pointer`` is the JSON pointer inside the request, ``detail`` says what to change."""

    def __init__(self, pointer: str, code: str, detail: str) -> None:
        super().__init__(detail)
        self.pointer = pointer
        self.code = code
        self.detail = detail


Objective = Literal["expected_cost", "worst_case_cost", "time", "cost_and_delay"]
Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaHeld:
    """GPUs of one model that the caller may already rent at one provider."""

    provider: str
    gpu: str
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Hard limits. An empty tuple of includes means "any"; GPU names are canonical (families are expanded before)."""

    deadline_hours: float | None = None
    budget: Money | None = None
    providers_include: tuple[str, ...] = ()
    providers_exclude: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    gpus_include: tuple[str, ...] = ()
    gpus_exclude: tuple[str, ...] = ()
    purchase_options: tuple[PurchaseOption, ...] = ("on_demand", "spot", "reserved", "capacity_block")
    max_gpus: int = 64
    min_gpus: int = 1
    max_nodes: int = 64
    min_vcpus_per_gpu: float = 0.0
    min_ram_gb_per_gpu: float = 0.0
    in_stock_only: bool = False
    max_price_age_days: float | None = None
    quotas_held: tuple[QuotaHeld, ...] = ()
    interruptible: bool = True
    include_history_prices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """How to rank and show."""

    objective: Objective = "expected_cost"
    currency: str = "USD"
    engineer_hourly_rate: Money | None = None
    value_of_a_day: Money | None = None
    language: Language = "en"
    limit: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendRequest:
    """One question."""

    workload: WorkloadSpec
    constraints: Constraints = field(default_factory=Constraints)
    preferences: Preferences = field(default_factory=Preferences)
