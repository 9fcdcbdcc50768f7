"""Quota: what a new account may rent of a GPU, what the caller holds, and how long asking takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.hardware import Floats, Ints
from app.domain.market import PURCHASE_OPTIONS, Quota
from app.domain.market_columns import Market
from app.domain.request import Constraints

QuotaState = Literal["enough", "must_ask", "unknown_enough", "unknown_must_ask"]
"""``unknown_…``: no default is published, the assumption of the provider's kind decides."""
QUOTA_STATES: tuple[QuotaState, ...] = ("enough", "must_ask", "unknown_enough", "unknown_must_ask")
ENOUGH, MUST_ASK, UNKNOWN_ENOUGH, UNKNOWN_MUST_ASK = range(4)

_SPOT = re.compile(r"spot|preemptible", re.IGNORECASE)
_OTHER_THINGS = re.compile(r"capacity block|serverless|cluster|minimum|storage|disk", re.IGNORECASE)
"""Quotas of something else than machines rented by the hour; they govern no plan of that kind."""
_SEPARATORS = re.compile(r"[,/ ]+")
_UNITS = {"gpu": "gpu", "gpus": "gpu", "instance": "instance", "instances": "instance", "vcpu": "vcpu"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaTable:
    """Defaults by offer row (first axis) and whether the plan is spot (second axis): in GPUs, NaN where none is published."""

    default_gpus: Floats


def quota_table(market: Market) -> QuotaTable:
    """What a new account may rent of each offer, in GPUs of that offer."""
    offers = market.offers
    by_provider: dict[str, list[Quota]] = {}
    for quota in market.quotas:
        if quota.unit.lower() in _UNITS:
            by_provider.setdefault(quota.provider, []).append(quota)
    pairs, first, pair_of = np.unique(np.stack([offers.provider, offers.gpu], axis=1), axis=0, return_index=True, return_inverse=True)
    limits = np.full((len(pairs), 2, 3), np.nan)
    units = ("gpu", "instance", "vcpu")
    for number, row in enumerate(first):
        known = by_provider.get(market.providers[offers.provider[row]], [])
        if not known:
            continue
        gpu, sku = market.gpus[offers.gpu[row]].name, market.offer_at(int(row)).sku
        for spot in (0, 1):
            match = _matching(known, gpu, sku, spot=bool(spot))
            if match is not None and match.default is not None:
                limits[number, spot, units.index(_UNITS[match.unit.lower()])] = float(match.default)
    table = limits[pair_of.reshape(-1)]
    in_gpus, instances, vcpus = table[:, :, 0], table[:, :, 1], table[:, :, 2]
    per_node = offers.gpus_per_node[:, None]
    by_vcpu = np.floor(vcpus / offers.vcpus[:, None]) * per_node
    return QuotaTable(default_gpus=np.where(np.isnan(in_gpus), np.where(np.isnan(instances), by_vcpu, instances * per_node), in_gpus))


def _matching(quotas: Sequence[Quota], gpu: str, sku: str, *, spot: bool) -> Quota | None:
    """The quota that governs a GPU: one that names it or its machine family, figures first, the strictest of equals."""
    ranked: list[tuple[bool, bool, float, Quota]] = []
    for quota in quotas:
        if _OTHER_THINGS.search(quota.name):
            continue
        if bool(_SPOT.search(f"{quota.name} {quota.code}")) != spot and _SPOT.search(f"{quota.name} {quota.code}"):
            continue
        names = [name.lower() for name in _SEPARATORS.split(quota.gpu_family) if name]
        general = "all" in names
        specific = any(gpu.lower().startswith(name) or sku.lower().startswith(name) for name in names)
        if general or specific:
            default = float("inf") if quota.default is None else float(quota.default)
            ranked.append((not specific, quota.default is None, default, quota))
    return min(ranked, key=lambda entry: entry[:3])[3] if ranked else None


def held_gpus(market: Market, constraints: Constraints) -> Floats:
    """GPUs that the caller may already rent, by (provider, GPU model) codes; NaN where nothing is said."""
    held = np.full((len(market.providers), len(market.gpus)), np.nan)
    provider_row = {name: row for row, name in enumerate(market.providers)}
    gpu_row = {gpu.name: row for row, gpu in enumerate(market.gpus)}
    for entry in constraints.quotas_held:
        if entry.provider in provider_row and entry.gpu in gpu_row:
            place = (provider_row[entry.provider], gpu_row[entry.gpu])
            held[place] = np.nan_to_num(held[place]) + entry.gpus
    return held


def quota_state(
    market: Market, table: QuotaTable, constraints: Constraints, offer: Ints, option: Ints, gpus: Ints, assumptions: Assumptions
) -> Ints:
    """QUOTA_STATES per row. What the caller says it holds counts before what is published."""
    offers = market.offers
    provider = offers.provider.take(offer)
    spot = (option == PURCHASE_OPTIONS.index("spot")).astype(np.int64)
    default = table.default_gpus.take(offer * 2 + spot)
    if constraints.quotas_held:
        held = held_gpus(market, constraints)[provider, offers.gpu.take(offer)]
        default = np.where(np.isnan(held), default, held)
    kinds = [market.provider_kinds.get(provider, "other") for provider in market.providers]
    free = np.array([assumptions.quota_free_gpus[kind].value for kind in kinds]).take(provider)
    unknown = np.isnan(default)
    enough = gpus <= np.where(unknown, free, default)
    return np.where(unknown, np.where(enough, UNKNOWN_ENOUGH, UNKNOWN_MUST_ASK), np.where(enough, ENOUGH, MUST_ASK))


def quota_wait_hours(market: Market, state: Ints, provider: Ints, assumptions: Assumptions) -> Floats:
    """Hours until a quota is granted: counted only where it must be asked for."""
    kinds = [market.provider_kinds.get(name, "other") for name in market.providers]
    wait = np.array([assumptions.quota_wait_hours[kind].value for kind in kinds]).take(provider)
    return np.where((state == MUST_ASK) | (state == UNKNOWN_MUST_ASK), wait, 0.0)
