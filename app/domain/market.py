"""The market as records: offers, tariffs, fees, quotas, stock, rates. These are facts; every one keeps its source and its date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from app.domain.hardware import IntraLink
from app.domain.money import Money

PurchaseOption = Literal["on_demand", "spot", "reserved", "capacity_block"]
PURCHASE_OPTIONS: tuple[PurchaseOption, ...] = ("on_demand", "spot", "reserved", "capacity_block")

PriceKind = Literal["list", "observed", "floor", "quote", "history"]
"""``list``: the provider's dated list. ``observed``: read at a known or unknown time. ``floor``: an auction's lowest bid.
``quote``: needs a contract. ``history``: only an old figure is known. Only ``list`` and ``observed`` rank by default."""

TariffUnit = Literal["node_hour", "node_day", "node_week", "node_month", "node_term"]
"""What one payment of ``amount`` buys for one node; ``node_term`` is the sum for the whole term."""

FeeKind = Literal[
    "block_storage",
    "object_storage",
    "file_storage",
    "egress_internet",
    "egress_interregion",
    "ingress_internet",
    "snapshot",
    "image_storage",
    "public_ipv4",
    "stopped_disk",
]

DatePrecision = Literal["day", "month", "year", "unknown"]
"""How exact an observation's date is. ``unknown`` is a state that is shown, never replaced by a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a figure was read. ``observed_at`` is None when the source states no date."""

    name: str
    url: str
    observed_at: datetime | None
    date_precision: DatePrecision
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A thing for rent. (provider, region, sku, gpus_per_node) is its key. Unknown figures are None.

    ``component`` offers (a GPU without its machine) never rank alone. ``upstream`` names the platform behind a broker.
    ``country`` is ISO 3166 alpha-2, None when the region names none. ``minimum_nodes``/``maximum_nodes`` bound what can be bought at once.
    """

    provider: str
    region: str
    country: str | None
    sku: str
    gpu: str
    gpus_per_node: int
    gpu_memory_gb: float
    vcpus: float | None
    ram_gb: float | None
    local_nvme_gb: float | None
    intra_node_link: IntraLink
    inter_node_gbit_s: float | None
    maximum_nodes: int | None
    upstream: str | None
    component: bool
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Identity of the offer."""
        return (self.provider, self.region, self.sku, self.gpus_per_node)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of an offer under one purchase option, valid over an interval.

    ``amount`` is for one **node** (whole machine) and one ``unit``. ``term_unit``/``term_count`` is the commitment (None for hourly); a
    term whose length is unknown has ``term_count`` None and never ranks. ``upfront`` is the share paid at once: "all" or "none".
    ``minimum_gpus`` is the smallest purchase. ``valid_from`` None means "always as far as known".
    """

    offer: tuple[str, str, str, int]
    option: PurchaseOption
    amount: Money
    unit: TariffUnit
    term_unit: str | None
    term_count: int | None
    upfront: Literal["none", "all"]
    minimum_gpus: int
    kind: PriceKind
    valid_from: datetime | None
    valid_to: datetime | None
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """A hidden fee. ``region`` is "all" or the provider's region. ``amount`` None is a documented "there is a charge, figure unknown".

    ``unit`` is one of GB_month, GB_hour, GB_day, GB, address_month, address_hour, Mbps_month, …, normalised to GB = 10^9 bytes.
    Tiers are marginal: the price holds for the part between ``tier_from_gb`` and ``tier_to_gb`` (None = open). ``free_gb`` is the free
    allowance per month and account.
    """

    provider: str
    region: str
    kind: FeeKind
    sku: str
    unit: str
    amount: Money | None
    tier_from_gb: float
    tier_to_gb: float | None
    free_gb: float
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What a new account may rent. ``default`` None means unknown. ``unit`` is vcpu, gpu, instance or usd."""

    provider: str
    scope: str
    code: str
    name: str
    gpu_family: str
    unit: str
    default: Decimal | None
    approval: str
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What a provider publishes about availability of an offer; absent rows mean unknown."""

    offer: tuple[str, str, str, int]
    status: Literal["available", "unavailable"]
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One unit of ``base`` is worth ``rate`` units of ``quote``, as the source publishes it (ECB: base EUR)."""

    base: str
    quote: str
    rate: Decimal
    day: date
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingRule:
    """How a provider meters time. ``option`` None means every purchase option. Times in seconds; a minimum of 0 is a stated "none"."""

    provider: str
    option: PurchaseOption | None
    step_seconds: int
    minimum_seconds: int
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoricPrice:
    """One dated reading of a price per GPU-hour, for plots and drift; it never ranks. ``sku`` is empty when the source names none."""

    day: date
    provider: str
    region: str
    sku: str
    gpu: str
    gpus_per_node: int
    option: PurchaseOption
    price_per_gpu_hour: Money
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderInfo:
    """A platform. ``kind`` decides which assumptions apply where no figure of its own is known."""

    id: str
    name: str
    kind: Literal["hyperscaler", "gpu_cloud", "marketplace", "broker", "china", "other"]
    homepage: str
    name_zh: str = ""
