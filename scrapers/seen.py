"""What a scraper saw: offers with a price, fees, quotas, stock, billing rules; and what it refused or noticed.

Facts of one page, without a date: the runner knows when the page was read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from app.domain.hardware import IntraLink
from app.domain.market import FeeKind, PriceKind, PurchaseOption, TariffUnit
from app.domain.money import Money
from app.domain.units import HOURS_PER_MONTH, TERM_HOURS


@dataclass(frozen=True, slots=True)
class Per:
    """What one payment buys: for one GPU or for the whole machine (``node``), and for how long.

    ``times`` brings the price to the tariff's unit.
    """

    name: str
    whole_node: bool
    unit: TariffUnit
    times: int = 1


GPU_HOUR = Per("gpu_hour", False, "node_hour")
NODE_HOUR = Per("node_hour", True, "node_hour")
GPU_MINUTE = Per("gpu_minute", False, "node_hour", 60)
NODE_MINUTE = Per("node_minute", True, "node_hour", 60)
GPU_SECOND = Per("gpu_second", False, "node_hour", 3600)
NODE_SECOND = Per("node_second", True, "node_hour", 3600)
GPU_DAY = Per("gpu_day", False, "node_day")
NODE_DAY = Per("node_day", True, "node_day")
GPU_WEEK = Per("gpu_week", False, "node_week")
NODE_WEEK = Per("node_week", True, "node_week")
GPU_MONTH = Per("gpu_month", False, "node_month")
NODE_MONTH = Per("node_month", True, "node_month")
GPU_TERM = Per("gpu_term", False, "node_term")
NODE_TERM = Per("node_term", True, "node_term")
"""The sum for the whole term, such as a year paid at once."""


@dataclass(frozen=True, slots=True)
class Term:
    """A commitment: ``Term("month", 3)``. ``count`` None: a term of unknown length, which never ranks."""

    unit: Literal["hour", "day", "week", "month", "year"]
    count: int | None

    def __str__(self) -> str:
        return f"{self.unit}s of unknown number" if self.count is None else f"{self.count} {self.unit}{'s' if self.count > 1 else ''}"

    @property
    def hours(self) -> float | None:
        """Length in hours, None when unknown."""
        return None if self.count is None else self.count * TERM_HOURS[self.unit]


@dataclass(frozen=True, slots=True)
class Stated:
    """A dated table in a scraper's module: where a person read it, and when. Stands where a record stands for figures of a page."""

    url: str
    day: date
    pointer: str = "table"

    def at(self, pointer: str) -> Stated:
        """The same table at another row."""
        return replace(self, pointer=pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Where an observation was seen: the page's id and a JSON pointer or CSS path, or a dated table."""

    page: str
    pointer: str
    stated: Stated | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferSeen(Seen):
    """A thing for rent at a price. ``amount`` is as the source states it, for what ``per`` says; unknown figures are None."""

    region: str
    country: str | None
    sku: str
    gpu: str
    gpus: int
    gpu_memory_gb: float
    vcpus: float | None
    ram_gb: float | None
    local_nvme_gb: float | None
    link: IntraLink
    inter_node_gbit_s: float | None
    maximum_nodes: int | None
    upstream: str | None
    component: bool
    option: PurchaseOption
    term: Term | None
    upfront: Literal["none", "all"]
    amount: Money
    per: Per
    minimum_gpus: int
    kind: PriceKind
    valid_from: datetime | None
    valid_to: datetime | None
    note: str

    @property
    def node_amount(self) -> Money:
        """The exact price of one machine for one ``per.unit``."""
        return Money(self.amount.nano * self.per.times * (1 if self.per.whole_node else self.gpus), self.amount.currency)

    def node_hour(self, month_hours: float = HOURS_PER_MONTH) -> Decimal | None:
        """The price of one machine and one hour; None for a term of unknown length."""
        if self.per.unit == "node_term":
            hours = None if self.term is None else self.term.hours
        else:
            hours = month_hours if self.per.unit == "node_month" else TERM_HOURS[self.per.unit.removeprefix("node_")]
        return None if hours is None else self.node_amount.decimal / Decimal(hours)

    @property
    def offer_key(self) -> tuple[str, str, int]:
        """Identity of the thing within its provider."""
        return (self.region, self.sku, self.gpus)

    @property
    def shape(self) -> tuple[object, ...]:
        """What must be the same in all observations of one offer."""
        return (self.gpu, self.gpu_memory_gb, self.vcpus, self.ram_gb, self.local_nvme_gb, self.link, self.component, self.upstream)

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the price within its provider."""
        term = None if self.term is None else (self.term.unit, self.term.count)
        series = "price" if self.kind in {"list", "observed"} else self.kind
        return ("offer", *self.offer_key, self.option, self.per.unit, term, self.upfront, self.minimum_gpus, series, self.valid_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeSeen(Seen):
    """A fee; see ``app.domain.market.Fee``. ``amount`` None: there is a charge, the figure is not published."""

    region: str
    kind: FeeKind
    sku: str
    unit: str
    amount: Money | None
    tier_from_gb: float
    tier_to_gb: float | None
    free_gb: float
    note: str

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the fee within its provider."""
        return ("fee", self.region, self.kind, self.sku, self.unit, self.tier_from_gb)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaSeen(Seen):
    """What a new account may rent; see ``app.domain.market.Quota``. ``default`` None: unknown."""

    scope: str
    code: str
    name: str
    gpu_family: str
    unit: str
    default: Decimal | None
    approval: str
    note: str

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the quota within its provider."""
        return ("quota", self.scope, self.code, self.name, self.gpu_family, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class StockSeen(Seen):
    """Whether an offer could be had when the page was made. No observation means unknown."""

    region: str
    sku: str
    gpus: int
    status: Literal["available", "unavailable"]

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the reading within its provider."""
        return ("stock", self.region, self.sku, self.gpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingSeen(Seen):
    """How time is metered; ``option`` None: every purchase option. A minimum of 0 is a stated "none"."""

    option: PurchaseOption | None
    step_seconds: int
    minimum_seconds: int
    note: str

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the rule within its provider."""
        return ("billing", self.option)


Observation = OfferSeen | FeeSeen | QuotaSeen | StockSeen | BillingSeen


@dataclass(frozen=True, slots=True, order=True)
class Rejection:
    """A record, or with ``whole`` the whole answer, that is not taken.

    ``alarm`` is off for what healthy sources also say: a price on request, a product that is not offered now.
    """

    page: str
    pointer: str
    reason: str
    detail: str
    alarm: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Notice:
    """Something that a person should look at, while the figures are good: a field that nobody reads, a fee that was not stated."""

    page: str
    pointer: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that one collection of a provider's pages gave, in an order that depends on nothing but its content."""

    observations: tuple[Observation, ...]
    rejections: tuple[Rejection, ...]
    notices: tuple[Notice, ...]

    @property
    def refused(self) -> bool:
        """Whether the whole answer is refused, so that nothing of it may be published."""
        return any(rejection.whole for rejection in self.rejections)

    @property
    def offers(self) -> tuple[OfferSeen, ...]:
        """Offers with a price."""
        return tuple(each for each in self.observations if isinstance(each, OfferSeen))

    @property
    def fees(self) -> tuple[FeeSeen, ...]:
        """Fees."""
        return tuple(each for each in self.observations if isinstance(each, FeeSeen))

    @property
    def quotas(self) -> tuple[QuotaSeen, ...]:
        """Quotas."""
        return tuple(each for each in self.observations if isinstance(each, QuotaSeen))

    @property
    def stock(self) -> tuple[StockSeen, ...]:
        """Stock readings."""
        return tuple(each for each in self.observations if isinstance(each, StockSeen))

    @property
    def billing(self) -> tuple[BillingSeen, ...]:
        """Billing rules."""
        return tuple(each for each in self.observations if isinstance(each, BillingSeen))
