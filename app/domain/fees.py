"""Which fee holds where: per place and kind the provider's own price list, or an assumed range where nobody could find one.

Region-specific beats "all"; another region of the same provider is an assumption; no figure at all is unknown, with a range over the known
providers. A stated zero is free, and nothing else is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from app.domain.answer import LineStatus
from app.domain.assumptions import Assumptions
from app.domain.billing import Tiers, tiers_of
from app.domain.fx import ExchangeError, exchange
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import Fee, FeeKind
from app.domain.market_columns import Market
from app.domain.units import HOURS_PER_DAY

FEE_KINDS: tuple[FeeKind, ...] = get_args(FeeKind)
STATUSES: tuple[LineStatus, ...] = get_args(LineStatus)
KNOWN, ASSUMED, UNKNOWN, INCLUDED, FREE = (STATUSES.index(name) for name in ("known", "assumed", "unknown", "included", "free"))

_EVERYWHERE = frozenset({"all", "global"})
_STORAGE = frozenset({"block_storage", "object_storage", "file_storage", "snapshot", "image_storage", "stopped_disk"})
_COLD = re.compile(r"archive|cold|infrequent|\bia\b|glacier|nearline|premium block blob", re.IGNORECASE)
_NOT_FROM_MACHINES = re.compile(r"object|\bcos\b|\bus3\b|\bcdn\b", re.IGNORECASE)
_NOT_BETWEEN_REGIONS = re.compile(r"\bAZs?\b|availability zone|same region|peering", re.IGNORECASE)
_ORDINARY = re.compile(r"standard|\bhot\b", re.IGNORECASE)
_REFERENCE_GB = 1000.0
_QUANTILES = (0.1, 0.5, 0.9)
_ENOUGH_PROVIDERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """One provider's marginal prices of one thing, in the target currency per unit; storage and addresses per month of storage.

    Beyond ``known_to`` units there is a charge whose figure nobody found; ``tiers`` goes on with the last known price there.
    """

    fee: Fee
    tiers: Tiers
    included: bool
    known_to: float = math.inf

    @property
    def free(self) -> bool:
        """Nothing is charged for any amount."""
        return not any(self.tiers.prices)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeAmounts:
    """What an amount of one kind costs per place: the expected figure and its range, equal to it where the tariff is known."""

    low: Floats
    mid: Floats
    high: Floats
    status: Ints

    @property
    def settled(self) -> Bools:
        """Places whose tariff is known (a stated zero is known)."""
        settled: Bools = (self.status != ASSUMED) & (self.status != UNKNOWN)
        return settled


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeRange:
    """What a unit costs where the price is unknown: from quantiles over the known providers, or as planned. ``mid`` is never 0."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True, slots=True)
class _Found:
    """What holds at a place. ``charged``: a charge is known to exist, with or without a figure."""

    price_list: PriceList | None
    status: int
    charged: bool
    platform: str


@dataclass(frozen=True, slots=True)
class _Resolved:
    """Distinct entries, and which of them holds at each place."""

    entries: tuple[_Found, ...]
    index: Ints

    @classmethod
    def of(cls, found: Sequence[_Found]) -> _Resolved:
        keys = [(id(entry.price_list), entry.status, entry.charged, entry.platform) for entry in found]
        position = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        entries = {position[key]: entry for key, entry in zip(keys, found, strict=True)}
        return cls(
            tuple(entries[number] for number in range(len(position))),
            np.array([position[key] for key in keys], dtype=np.int64),
        )


class FeeBook:
    """All fees of a market in one currency, resolved per place."""

    def __init__(self, market: Market, currency: str, assumptions: Assumptions) -> None:
        """Resolve every kind at every place of ``market``.

        Raises:
            ExchangeError: a range has to be assumed in USD and no rate leads to ``currency``.
        """
        self._market = market
        self._currency = currency
        self._assumptions = assumptions
        self._factors = _factors(market, currency)
        self._groups = self._collect()
        self._ranges: dict[tuple[FeeKind, str, bool], FeeRange] = {}
        self._at_places: dict[FeeKind, _Resolved] = {}
        self._usual: dict[tuple[str, FeeKind], tuple[PriceList | None, PriceList | None]] = {}

    def amounts(self, kind: FeeKind, quantity: float) -> FeeAmounts:
        """What ``quantity`` (GB, or addresses) costs at every place: once, or a month for storage and addresses."""
        return self._amounts(kind, quantity, self._found(kind))

    def amounts_at(self, kind: FeeKind, quantity: float, provider: str, region: str | None) -> FeeAmounts:
        """The same at one place, which need not be in the market."""
        return self._amounts(kind, quantity, _Resolved.of([self._resolve(kind, provider, region or "")]))

    def price_list(self, kind: FeeKind, place: int) -> PriceList | None:
        """The list behind ``amounts`` at one place, None when unknown."""
        resolved = self._found(kind)
        return resolved.entries[int(resolved.index[place])].price_list

    def price_list_at(self, kind: FeeKind, provider: str, region: str | None) -> PriceList | None:
        """The list behind ``amounts_at``."""
        return self._resolve(kind, provider, region or "").price_list

    def _found(self, kind: FeeKind) -> _Resolved:
        if kind not in self._at_places:
            self._at_places[kind] = _Resolved.of([self._resolve(kind, provider, region) for provider, region in self._market.places])
        return self._at_places[kind]

    def _amounts(self, kind: FeeKind, quantity: float, resolved: _Resolved) -> FeeAmounts:
        """Each distinct entry is worked out once, then spread over the places."""
        table = np.array([self._span(kind, quantity, entry) for entry in resolved.entries], dtype=np.float64).reshape(-1, 3)[resolved.index]
        status = np.array([_status(entry, quantity) for entry in resolved.entries], dtype=np.int64)[resolved.index]
        return FeeAmounts(low=table[:, 0], mid=table[:, 1], high=table[:, 2], status=status)

    def _span(self, kind: FeeKind, quantity: float, entry: _Found) -> tuple[float, float, float]:
        if entry.price_list is None:
            span = self._range(kind, entry.platform, charged=entry.charged)
            return span.low * quantity, span.mid * quantity, span.high * quantity
        cost = entry.price_list.tiers.cost(quantity)
        beyond = quantity - entry.price_list.known_to
        if beyond > 0.0:
            span, known = self._range(kind, entry.platform, charged=True), entry.price_list.tiers.cost(entry.price_list.known_to)
            return min(known + span.low * beyond, cost), cost, max(known + span.high * beyond, cost)
        if entry.status != ASSUMED:
            return cost, cost, cost
        return cost * self._assumptions.other_region_low_factor.value, cost, cost * self._assumptions.other_region_high_factor.value

    def _resolve(self, kind: FeeKind, provider: str, region: str) -> _Found:
        groups = self._groups.get((provider, kind), [])
        exact = [group for tokens, group in groups if region in tokens]
        platform = self._market.provider_kinds.get(provider, "other")
        everywhere, elsewhere = self._usual_lists(kind, provider)
        chosen = _choose(kind, exact) or everywhere
        if chosen is not None:
            status = INCLUDED if chosen.included else FREE if chosen.free else KNOWN
            return _Found(chosen, status, charged=True, platform=platform)
        if elsewhere is not None:
            return _Found(elsewhere, ASSUMED, charged=True, platform=platform)
        return _Found(None, UNKNOWN, charged=bool(groups), platform=platform)

    def _usual_lists(self, kind: FeeKind, provider: str) -> tuple[PriceList | None, PriceList | None]:
        """The provider's list for all regions, and what it asks elsewhere: the middle one of its regions' lists of its usual product."""
        key = (provider, kind)
        if key not in self._usual:
            groups = self._groups.get(key, [])
            general = _choose(kind, [group for tokens, group in groups if tokens & _EVERYWHERE])
            self._usual[key] = (general, _choose(kind, [group for _, group in groups], elsewhere=True))
        return self._usual[key]

    def _range(self, kind: FeeKind, platform: str, *, charged: bool) -> FeeRange:
        """The range over providers of the same kind of platform, else over all, else the stated planning range.

        Where every known provider charges nothing, an unknown one may still charge: then the planning range holds, too.
        """
        key = (kind, platform, charged)
        if key not in self._ranges:
            own = self._known_prices(kind, charged=charged, platform=platform)
            everyone = self._known_prices(kind, charged=charged, platform=None)
            prices = next((values for values in (own, everyone) if len(values) >= _ENOUGH_PROVIDERS and any(values)), None)
            self._ranges[key] = self._planning_range(kind) if prices is None else _quantiles(prices)
        return self._ranges[key]

    def _known_prices(self, kind: FeeKind, *, charged: bool, platform: str | None) -> list[float]:
        """One price a unit per provider at a reference amount; zero ones left out where a charge is known to exist."""
        prices: list[float] = []
        quantity = 1.0 if kind == "public_ipv4" else _REFERENCE_GB
        for provider, fee_kind in sorted(self._groups):
            if fee_kind != kind or (platform is not None and self._market.provider_kinds.get(provider, "other") != platform):
                continue
            _, chosen = self._usual_lists(kind, provider)
            if chosen is not None and not (charged and chosen.free):
                prices.append(chosen.tiers.cost(quantity) / quantity)
        return prices

    def _planning_range(self, kind: FeeKind) -> FeeRange:
        span = self._assumptions.fee_ranges_usd[kind]
        rate = float(exchange(self._market.rates, "USD", self._currency).rate)
        return FeeRange(low=span.low * rate, mid=span.mid * rate, high=span.high * rate)

    def _collect(self) -> Mapping[tuple[str, str], list[tuple[frozenset[str], PriceList | None]]]:
        """Price lists by (provider, kind), each with the regions it names; None for a charge without a figure."""
        rows: dict[tuple[str, FeeKind, str, str, str], list[Fee]] = {}
        for fee in self._market.fees:
            rows.setdefault((fee.provider, fee.kind, fee.region, fee.sku, fee.unit), []).append(fee)
        groups: dict[tuple[str, str], list[tuple[frozenset[str], PriceList | None]]] = {}
        for (provider, kind, region, _, _), fees in sorted(rows.items(), key=lambda item: item[0]):
            tokens = frozenset(token.strip() for token in region.split(","))
            groups.setdefault((provider, kind), []).append((tokens, self._price_list(kind, fees)))
        return groups

    def _price_list(self, kind: FeeKind, fees: Sequence[Fee]) -> PriceList | None:
        if all(fee.amount is not None and fee.amount.nano == 0 for fee in fees):
            bundled = "includ" in f"{fees[0].sku} {fees[0].note}".lower()
            return PriceList(fee=fees[0], tiers=Tiers((0.0,), (0.0,)), included=bundled)
        per_unit = self._unit_factor(kind, fees[0].unit)
        parts: list[tuple[float, float | None, float]] = []
        without_figure: list[float] = []
        for fee in fees:
            factor = None if fee.amount is None else self._factors.get(fee.amount.currency)
            if fee.amount is not None and factor is not None and per_unit is not None:
                parts.append((fee.tier_from_gb, fee.tier_to_gb, float(fee.amount.decimal) * factor * per_unit))
            else:
                without_figure.append(fee.tier_from_gb)
        if not parts:
            return None
        known_to = min((start for start in without_figure if not _covered(parts, start)), default=math.inf)
        free = max(fee.free_gb for fee in fees)
        shown = max((fee for fee in fees if fee.amount is not None), key=lambda fee: (fee.amount.nano if fee.amount else 0, fee.sku))
        return PriceList(fee=shown, tiers=tiers_of(parts, free), included=False, known_to=known_to)

    def _unit_factor(self, kind: FeeKind, unit: str) -> float | None:
        """From the published unit to a price per GB (once), per GB and month, or per address and month; None for other units."""
        month = self._assumptions.storage_month_hours.value
        spans = {"month": 1.0, "day": month / HOURS_PER_DAY, "hour": month}
        thing, _, span = unit.partition("_")
        if kind in _STORAGE:
            return spans.get(span) if thing == "GB" else None
        if kind == "public_ipv4":
            return spans.get(span) if thing == "address" else None
        return 1.0 if unit == "GB" else None


def _quantiles(prices: Sequence[float]) -> FeeRange:
    """Low over all providers, 0 where enough of them charge nothing; middle and high over those that charge: unknown is never zero."""
    low, middle, high = _QUANTILES
    charging = [price for price in prices if price > 0.0]
    return FeeRange(low=float(np.quantile(prices, low)), mid=float(np.quantile(charging, middle)), high=float(np.quantile(charging, high)))


def _covered(parts: Sequence[tuple[float, float | None, float]], quantity: float) -> bool:
    return any(low <= quantity and (high is None or quantity < high) for low, high, _ in parts)


def _status(entry: _Found, quantity: float) -> int:
    """Unknown, too, where the amount reaches into a tier without a figure."""
    beyond = entry.price_list is not None and quantity > entry.price_list.known_to
    return UNKNOWN if beyond else entry.status


def _choose(kind: FeeKind, groups: Sequence[PriceList | None], *, elsewhere: bool = False) -> PriceList | None:
    """Of several lists of one kind the ordinary one: not object storage's own traffic, then the middle price.

    Archives and premium tiers are never what a run keeps its data on: where only they have a figure, the ordinary price is unknown. A free
    list counts only when no other has a price, since a free system disk does not make data disks free. ``elsewhere``: the lists are
    of several regions, so only the product that the most regions list counts.
    """
    lists = [group for group in groups if group is not None]
    if kind in _STORAGE:
        lists = [entry for entry in lists if not _COLD.search(entry.fee.sku)]
        lists = [entry for entry in lists if not entry.free] or lists
    else:
        avoid = _NOT_BETWEEN_REGIONS if kind == "egress_interregion" else _NOT_FROM_MACHINES
        lists = [entry for entry in lists if not avoid.search(entry.fee.sku)] or lists
    if kind == "object_storage":
        lists = [entry for entry in lists if _ORDINARY.search(entry.fee.sku)] or lists
    if not lists:
        return None
    if elsewhere:
        lists = _most_listed(lists)
    ordered = sorted(lists, key=lambda entry: (entry.tiers.cost(_REFERENCE_GB), entry.fee.sku, entry.fee.region))
    return ordered[len(ordered) // 2 if kind == "egress_interregion" else (len(ordered) - 1) // 2]


def _most_listed(lists: Sequence[PriceList]) -> list[PriceList]:
    """The lists of the product that the most regions have; of several where they tie."""
    regions: dict[str, int] = {}
    for entry in lists:
        regions[entry.fee.sku] = regions.get(entry.fee.sku, 0) + 1 + entry.fee.region.count(",")
    most = max(regions.values())
    return [entry for entry in lists if regions[entry.fee.sku] == most]


def _factors(market: Market, currency: str) -> Mapping[str, float]:
    """Worth of every currency that fees use; currencies without a rate are left out, so their fees count as unknown."""
    factors: dict[str, float] = {}
    for name in sorted({fee.amount.currency for fee in market.fees if fee.amount is not None}):
        try:
            factors[name] = float(exchange(market.rates, name, currency).rate)
        except ExchangeError:
            continue
    return factors
