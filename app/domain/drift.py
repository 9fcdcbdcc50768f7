"""How far a price may have moved since it was read: by purchase option, GPU class and platform, growing with the root of its age."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.gpus import Gpu
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import Market
from app.domain.units import HOURS_PER_DAY

Z90 = 1.2815515655446004
"""The standard normal's 90th percentile."""

_NEWEST_ARCHITECTURES = frozenset({"Hopper", "Blackwell", "Blackwell Ultra", "CDNA 3", "CDNA 4"})
_GROUPS = {"hyperscaler": "hyperscaler", "marketplace": "marketplace", "broker": "gpu_cloud"}
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftTable:
    """Per tariff row: standard deviations of ln(price now / price read), upward and downward, and the age they stand for."""

    up: Floats
    down: Floats
    age_hours: Floats
    dated: Bools


def gpu_class(gpu: Gpu) -> str:
    """The class a card drifts with: "consumer", "current" (H100 and newer in data centres) or "older" (workstation cards included)."""
    if gpu.form_factor == "consumer":
        return "consumer"
    return "current" if gpu.architecture in _NEWEST_ARCHITECTURES and not gpu.name.startswith("RTX") else "older"


def drift_table(market: Market, assumptions: Assumptions) -> DriftTable:
    """Drift of every tariff at ``market.as_of``. A price without a date is taken for as old as the oldest class."""
    tariffs, offers = market.tariffs, market.offers
    kinds = [market.provider_kinds.get(provider, "other") for provider in market.providers]
    groups = sorted({_GROUPS.get(kind, "gpu_cloud") for kind in kinds})
    classes = [gpu_class(gpu) for gpu in market.gpus]
    per_day = np.array(
        [[[_root_day_sigmas(group, option, name, assumptions) for name in classes] for option in PURCHASE_OPTIONS] for group in groups],
        dtype=np.float64,
    ).reshape(len(groups), len(PURCHASE_OPTIONS), len(classes), 2)
    group_of: Ints = np.array([groups.index(_GROUPS.get(kind, "gpu_cloud")) for kind in kinds], dtype=np.int64)
    sigmas = per_day[group_of[offers.provider[tariffs.offer]], tariffs.option, offers.gpu[tariffs.offer]]
    age = market.as_of.timestamp() / _SECONDS_PER_HOUR - tariffs.observed_hours
    dated = ~np.isnan(age)
    oldest = assumptions.unknown_price_age_days.value * HOURS_PER_DAY
    counted = np.clip(np.where(dated, age, oldest), 0.0, oldest) / HOURS_PER_DAY
    floor = assumptions.drift_minimum_sigma.value
    widths = np.maximum(sigmas * np.sqrt(counted)[:, None], floor)
    up = np.maximum(np.minimum(widths[:, 1], _spot_ceiling(market, widths[:, 1])), floor)
    return DriftTable(up=up, down=widths[:, 0], age_hours=age, dated=dated)


def _spot_ceiling(market: Market, up: Floats) -> Floats:
    """Per tariff the largest upward width: a spot price rises to the on-demand price of the same machine (and its own drift), not beyond.

    Nobody pays more for a machine that can be taken away. A spot price without an on-demand one beside it gets the market's usual distance.
    Infinite for every other option.
    """
    tariffs = market.tariffs
    ceiling = np.full(len(tariffs), np.inf)
    spot = np.flatnonzero(tariffs.option == PURCHASE_OPTIONS.index("spot"))
    hourly = np.flatnonzero((tariffs.option == PURCHASE_OPTIONS.index("on_demand")) & (tariffs.unit_hours == 1.0))
    if len(spot) == 0 or len(hourly) == 0:
        return ceiling
    price = np.full(len(market.offers), np.nan)
    drift = np.full(len(market.offers), np.nan)
    currency = np.full(len(market.offers), -1, dtype=np.int64)
    dearest_last = hourly[np.argsort(tariffs.amount[hourly], kind="stable")]
    offer = tariffs.offer[dearest_last]
    price[offer], drift[offer], currency[offer] = tariffs.amount[dearest_last], up[dearest_last], tariffs.currency[dearest_last]
    own = tariffs.offer[spot]
    distance = np.where(currency[own] == tariffs.currency[spot], np.log(price[own] / tariffs.amount[spot]) / Z90, np.nan)
    known = ~np.isnan(distance)
    if not known.any():
        return ceiling
    usual = float(np.median(distance[known]))
    ceiling[spot] = np.where(known, np.maximum(distance, 0.0) + np.nan_to_num(drift[own]), usual)
    return ceiling


def _root_day_sigmas(group: str, option: str, name: str, assumptions: Assumptions) -> tuple[float, float]:
    """Downward and upward standard deviation of ln(price) after one day.

    A set that was not measured takes the nearest that was: the older class, the GPU clouds, then the hyperscalers.
    """
    wanted = [(group, option, name), (group, option, "older"), ("hyperscaler", option, name), ("hyperscaler", option, "older")]
    if option in {"on_demand", "spot"}:
        wanted.insert(2, ("gpu_cloud", option, name))
    rows = {(row.group, row.option, row.gpu_class): row for row in assumptions.drift}
    row = next(rows[key] for key in wanted if key in rows)
    scale = Z90 * np.sqrt(row.days)
    return float(-np.log1p(row.p10) / scale), float(np.log1p(row.p90) / scale)
