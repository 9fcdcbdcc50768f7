"""Which candidates the caller's limits and the market's own rules admit: one reason code a candidate, the first that holds.

Reasons are judged in the order of REASONS, cheap facts first; ``deadline`` and ``budget`` come last, since they need the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import PRICE_KINDS, Market
from app.domain.plans import Candidates
from app.domain.quota import held_gpus
from app.domain.request import Constraints

Reason = Literal[
    "admitted", "component", "price_unknown", "stale", "provider", "region", "gpu", "software", "purchase_option", "size",
    "minimum_purchase", "cluster", "host", "stock", "interruptible", "precision", "memory", "batch", "quota", "deadline", "budget",
]  # fmt: skip
REASONS: tuple[Reason, ...] = (
    "admitted", "component", "price_unknown", "stale", "provider", "region", "gpu", "software", "purchase_option", "size",
    "minimum_purchase", "cluster", "host", "stock", "interruptible", "precision", "memory", "batch", "quota", "deadline", "budget",
)  # fmt: skip
CODE = {reason: code for code, reason in enumerate(REASONS)}

SINGLE_MACHINE_KINDS = frozenset({"marketplace"})
"""Platforms of private machines: two of them stand in different cellars, so a run must fit on one."""


READY_VENDORS = frozenset({"NVIDIA", "AMD"})
"""Makers whose cards run ordinary PyTorch code. A job must be ported to the others, so they rank only when the caller names them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One row a tariff or a candidate: the code of the first reason that holds (0: admitted), and how many reasons hold."""

    reason: Ints
    held: Ints

    @classmethod
    def blank(cls, rows: int) -> Judgement:
        """Nothing judged yet."""
        return cls(np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64))

    def take(self, index: Ints) -> Judgement:
        """The rows at ``index``, repeats allowed."""
        return Judgement(self.reason[index], self.held[index])


def mark(judged: Judgement, refused: Bools, reason: Reason) -> None:
    """Count the refused rows, and give ``reason`` to those that have none yet (in place)."""
    judged.reason[(judged.reason == 0) & refused] = CODE[reason]
    judged.held[refused] += 1


def admit_offers(market: Market, candidates: Candidates, constraints: Constraints) -> Judgement:
    """Judge by facts and limits alone, without an estimate."""
    offers, tariffs = market.offers, market.tariffs
    by_tariff = Judgement.blank(len(tariffs))
    offer = tariffs.offer
    mark(by_tariff, offers.component[offer], "component")
    mark(by_tariff, _price_unknown(market), "price_unknown")
    mark(by_tariff, _stale(market, constraints), "stale")
    mark(
        by_tariff,
        _refused_names(market.providers, constraints.providers_include, constraints.providers_exclude)[offers.provider[offer]],
        "provider",
    )
    mark(by_tariff, _refused_places(market, constraints)[offer], "region")
    names = tuple(gpu.name for gpu in market.gpus)
    mark(by_tariff, _refused_names(names, constraints.gpus_include, constraints.gpus_exclude)[offers.gpu[offer]], "gpu")
    foreign = np.array([gpu.vendor not in READY_VENDORS and gpu.name not in constraints.gpus_include for gpu in market.gpus])
    mark(by_tariff, foreign[offers.gpu[offer]], "software")
    allowed = np.array([option in constraints.purchase_options for option in PURCHASE_OPTIONS])
    mark(by_tariff, ~allowed[tariffs.option], "purchase_option")
    spot = tariffs.option == PURCHASE_OPTIONS.index("spot")
    if not constraints.interruptible:
        mark(by_tariff, spot, "interruptible")
    mark(by_tariff, _refused_hosts(market, constraints)[offer], "host")
    in_stock = offers.in_stock[offer]
    mark(by_tariff, in_stock != 1 if constraints.in_stock_only else in_stock == 0, "stock")

    reasons = by_tariff.take(candidates.tariff)
    gpus = candidates.nodes * offers.gpus_per_node[candidates.offer]
    mark(reasons, (gpus > constraints.max_gpus) | (gpus < constraints.min_gpus) | (candidates.nodes > constraints.max_nodes), "size")
    mark(reasons, gpus < tariffs.minimum_gpus[candidates.tariff], "minimum_purchase")
    mark(reasons, candidates.nodes > _largest_cluster(market)[candidates.offer], "cluster")
    return reasons


def _price_unknown(market: Market) -> Bools:
    """Prices one cannot buy at: auction floors, quotes, terms of unknown length."""
    kind = market.tariffs.kind
    unbuyable = (kind == PRICE_KINDS.index("floor")) | (kind == PRICE_KINDS.index("quote"))
    return np.asarray(unbuyable | np.isnan(market.tariffs.term_hours))


def _stale(market: Market, constraints: Constraints) -> Bools:
    tariffs = market.tariffs
    refused = np.zeros(len(tariffs), dtype=np.bool_)
    if not constraints.include_history_prices:
        refused |= tariffs.kind == PRICE_KINDS.index("history")
    if constraints.max_price_age_days is not None:
        age_hours = market.as_of.timestamp() / 3600.0 - tariffs.observed_hours
        refused |= ~(age_hours <= constraints.max_price_age_days * 24.0)
    return refused


def _refused_names(names: tuple[str, ...], include: tuple[str, ...], exclude: tuple[str, ...]) -> Bools:
    wanted, unwanted = set(include), set(exclude)
    return np.array([(bool(wanted) and name not in wanted) or name in unwanted for name in names], dtype=np.bool_)


def _refused_places(market: Market, constraints: Constraints) -> Bools:
    """Per offer. With a limit on countries, an offer of unknown country is refused: it cannot be shown to lie inside."""
    refused = np.zeros(len(market.offers), dtype=np.bool_)
    if constraints.countries:
        allowed = np.array([country in constraints.countries for country in market.countries] + [False])
        refused |= ~allowed[market.offers.country]
    if constraints.regions:
        inside = np.array([region in constraints.regions for _, region in market.places])
        refused |= ~inside[market.offers.place]
    return refused


def _refused_hosts(market: Market, constraints: Constraints) -> Bools:
    """Per offer. A stated minimum refuses unknown figures too."""
    offers = market.offers
    refused = np.zeros(len(offers), dtype=np.bool_)
    if constraints.min_vcpus_per_gpu > 0:
        refused |= ~(offers.vcpus >= constraints.min_vcpus_per_gpu * offers.gpus_per_node)
    if constraints.min_ram_gb_per_gpu > 0:
        refused |= ~(offers.ram_gb >= constraints.min_ram_gb_per_gpu * offers.gpus_per_node)
    return refused


def _largest_cluster(market: Market) -> Ints:
    single = np.array([market.provider_kinds.get(provider, "other") in SINGLE_MACHINE_KINDS for provider in market.providers])
    known = np.where(market.offers.maximum_nodes > 0, market.offers.maximum_nodes, np.iinfo(np.int64).max)
    return np.where(single[market.offers.provider], 1, known)


def quota_refused(market: Market, candidates: Candidates, constraints: Constraints) -> Bools:
    """Candidates above a quota that the caller itself has stated. What nobody stated is a wait, not a refusal."""
    offers = market.offers
    held = held_gpus(market, constraints)[offers.provider, offers.gpu].take(candidates.offer)
    gpus = candidates.nodes * offers.gpus_per_node[candidates.offer]
    return np.asarray(gpus > np.where(np.isnan(held), np.inf, held))


def late(total_hours: Floats, deadline_hours: float | None) -> Bools:
    """Rows whose expected (P50) duration exceeds the deadline."""
    return np.asarray(total_hours > (math.inf if deadline_hours is None else deadline_hours))
