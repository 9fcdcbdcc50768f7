"""The market as of one instant, in columns: what ranking works on. Built by app.catalog.snapshot, never from clock or disk here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.domain.gpus import Gpu
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import BillingRule, Fee, Offer, Quota, Rate, Tariff


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferColumns:
    """One row an offer. Codes point into the market's tuples; NaN means unknown; ``country`` is -1 and ``maximum_nodes`` 0 when unknown.

    ``place`` is the code of the pair (provider, region) in ``Market.places``. ``component`` rows never rank. ``link`` indexes INTRA_LINKS.
    ``in_stock``: 1 available, 0 unavailable, -1 unknown.
    """

    provider: Ints
    place: Ints
    country: Ints
    gpu: Ints
    gpus_per_node: Ints
    link: Ints
    inter_node_gbit_s: Floats
    vcpus: Floats
    ram_gb: Floats
    local_nvme_gb: Floats
    maximum_nodes: Ints
    component: Bools
    in_stock: Ints

    def __len__(self) -> int:
        return len(self.provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class TariffColumns:
    """One row a tariff in force at ``Market.as_of``.

    ``amount`` is for one node and ``unit_hours`` hours, in the currency ``Market.currencies[currency]`` (float64 of the exact nano figure).
    ``term_hours`` is 0 for hourly tariffs and NaN when a term of unknown length is asked (never ranks). ``option`` indexes
    PURCHASE_OPTIONS, ``kind`` indexes PRICE_KINDS. ``observed_hours`` is the time of observation in hours since the epoch, NaN: unknown.
    """

    offer: Ints
    option: Ints
    amount: Floats
    currency: Ints
    unit_hours: Floats
    term_hours: Floats
    upfront: Bools
    minimum_gpus: Ints
    kind: Ints
    observed_hours: Floats

    def __len__(self) -> int:
        return len(self.offer)


PRICE_KINDS = ("list", "observed", "floor", "quote", "history")


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """All tariffs and fees as of an instant.

    ``offer_at``/``tariff_at`` give the full record (with source) behind one row of the columns.
    """

    as_of: datetime
    catalog_version: int
    providers: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    countries: tuple[str, ...]
    currencies: tuple[str, ...]
    gpus: tuple[Gpu, ...]
    offers: OfferColumns
    tariffs: TariffColumns
    fees: tuple[Fee, ...]
    quotas: tuple[Quota, ...]
    billing_rules: tuple[BillingRule, ...]
    rates: tuple[Rate, ...]
    offer_at: Callable[[int], Offer]
    tariff_at: Callable[[int], Tariff]
    provider_kinds: Mapping[str, Literal["hyperscaler", "gpu_cloud", "marketplace", "broker", "china", "other"]]
