"""Quota: what a new account may rent of a GPU, what the caller holds, and how long asking takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import PURCHASE_OPTIONS, Offer, PurchaseOption, Quota
from app.domain.market_columns import Market
from app.domain.request import Constraints

QuotaState = Literal["enough", "must_ask", "unknown_enough", "unknown_must_ask"]
"""``unknown_…``: no default is published, the assumption of the provider's kind decides."""
QUOTA_STATES: tuple[QuotaState, ...] = ("enough", "must_ask", "unknown_enough", "unknown_must_ask")
ENOUGH, MUST_ASK, UNKNOWN_ENOUGH, UNKNOWN_MUST_ASK = range(4)

_OPTION_WORDS: tuple[tuple[PurchaseOption, re.Pattern[str]], ...] = (
    ("spot", re.compile(r"spot|preemptible|low-?priority", re.IGNORECASE)),
    ("capacity_block", re.compile(r"capacity block", re.IGNORECASE)),
    ("reserved", re.compile(r"committed|commitment|reservation|subscription", re.IGNORECASE)),
    ("on_demand", re.compile(r"on-?demand|pay-as-you-go", re.IGNORECASE)),
)
"""Words by which a quota names the one purchase option that it is about; without any it bounds every option."""
_OTHER_THINGS = re.compile(
    r"serverless|minimum|multi-node|cluster (size|nodes)|per (block|cluster|instance|container group)|at once|storage|disk", re.IGNORECASE
)
"""Quotas of something else than machines held at a time: they govern no plan."""
_OTHER_SCOPES = frozenset({"cluster", "instance"})
"""What bounds one cluster or one machine says nothing of how many a new account may hold."""
_AT_ONCE = re.compile(r"^at once\b", re.IGNORECASE)
_SEPARATORS = re.compile(r"[^\w.]+")
_MEMORY = re.compile(r"\b(\d+) ?GB\b", re.IGNORECASE)
_UNITS = {"gpu": "gpu", "gpus": "gpu", "instance": "instance", "instances": "instance", "vcpu": "vcpu"}
_GENERAL, _FAMILY, _SKU = range(1, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaTable:
    """What a new account may rent, by offer row (first axis) and purchase option (second axis).

    ``default_gpus``: in GPUs, NaN where none is published. ``at_once``: more is granted as soon as it is asked for.
    """

    default_gpus: Floats
    at_once: Bools


@dataclass(frozen=True, slots=True)
class _Rule:
    """A quota, read once: the option it is about (None: every one), and what it names."""

    quota: Quota
    option: PurchaseOption | None
    families: tuple[str, ...]
    memory_gb: str | None

    @classmethod
    def of(cls, quota: Quota) -> _Rule | None:
        """None for a quota that bounds no number of machines held."""
        if quota.unit.lower() not in _UNITS or quota.scope in _OTHER_SCOPES or _OTHER_THINGS.search(quota.name):
            return None
        text = f"{quota.name} {quota.code} {quota.gpu_family}"
        option = next((option for option, words in _OPTION_WORDS if words.search(text)), None)
        memory = _MEMORY.search(quota.gpu_family)
        families = tuple(name.lower() for name in _SEPARATORS.split(quota.gpu_family) if name)
        return cls(quota, option, families, memory[1] if memory else None)

    def specificity(self, gpu: str, sku: str) -> int:
        """How closely the quota names the machine: by its SKU, by its family or card, only in general, or (0) not at all."""
        if self.quota.name.lower() == sku.lower():
            return _SKU
        parts = gpu.lower().split("-")
        fits = self.memory_gb is None or f"{self.memory_gb}gb" in parts
        if fits and any(name == parts[0] or _of_family(sku.lower(), name) for name in self.families):
            return _FAMILY
        return _GENERAL if "all" in self.families else 0

    def gpus(self, offer: Offer) -> float:
        """The default in GPUs of ``offer``, NaN where it is not published or the machine's vCPUs are not."""
        if self.quota.default is None:
            return np.nan
        default, unit = float(self.quota.default), _UNITS[self.quota.unit.lower()]
        if unit == "gpu":
            return default
        if unit == "instance":
            return default * offer.gpus_per_node
        return np.nan if offer.vcpus is None else default // offer.vcpus * offer.gpus_per_node


def _of_family(sku: str, family: str) -> bool:
    """Whether a name of machines begins with a family: "p5" begins "p5en.48xlarge", "g" begins "g6e.xlarge", "l4" does not begin "l40s"."""
    if not sku.startswith(family):
        return False
    following = sku[len(family) : len(family) + 1]
    return not following.isdigit() if family[-1].isdigit() else not following.isalpha()


def quota_table(market: Market) -> QuotaTable:
    """What a new account may rent of each offer under each option."""
    offers = market.offers
    default = np.full((len(offers), len(PURCHASE_OPTIONS)), np.nan)
    at_once = np.zeros(default.shape, dtype=np.bool_)
    by_provider: dict[str, list[_Rule]] = {}
    for quota in market.quotas:
        if (rule := _Rule.of(quota)) is not None:
            by_provider.setdefault(quota.provider, []).append(rule)
    bounded = np.array([provider in by_provider for provider in market.providers], dtype=np.bool_)
    known: dict[tuple[str, str, str, int, float | None], list[tuple[float, bool]]] = {}
    for row in np.flatnonzero(bounded[offers.provider]):
        offer = market.offer_at(int(row))
        key = (offer.provider, offer.gpu, offer.sku, offer.gpus_per_node, offer.vcpus)
        if key not in known:
            known[key] = [_governing(by_provider[offer.provider], offer, option) for option in PURCHASE_OPTIONS]
        default[row] = [gpus for gpus, _ in known[key]]
        at_once[row] = [soon for _, soon in known[key]]
    return QuotaTable(default_gpus=default, at_once=at_once)


def _governing(rules: Sequence[_Rule], offer: Offer, option: PurchaseOption) -> tuple[float, bool]:
    """GPUs that the governing quota grants (NaN: unknown), and whether more comes at once.

    The closest to the machine governs, then the one that names the option, then the strictest. A quota whose default nobody publishes
    governs too, unless one as close has a figure: a general figure is no answer to a question about a family.
    """
    ranked: list[tuple[int, bool, bool, float, bool]] = []
    for rule in rules:
        if rule.option not in {None, option} and not (option == "reserved" and rule.option == "on_demand"):
            continue
        closeness = rule.specificity(offer.gpu, offer.sku)
        if closeness:
            gpus = rule.gpus(offer)
            soon = _AT_ONCE.search(rule.quota.approval) is not None
            ranked.append((-closeness, rule.option != option, bool(np.isnan(gpus)), gpus, soon))
    if not ranked:
        return np.nan, False
    _, _, _, gpus, soon = min(ranked, key=lambda entry: (*entry[:3], 0.0 if entry[2] else entry[3], not entry[4]))
    return gpus, soon


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
    default = table.default_gpus.take(offer * len(PURCHASE_OPTIONS) + option)
    if constraints.quotas_held:
        held = held_gpus(market, constraints)[provider, offers.gpu.take(offer)]
        default = np.where(np.isnan(held), default, held)
    kinds = [market.provider_kinds.get(provider, "other") for provider in market.providers]
    free = np.array([assumptions.quota_free_gpus[kind].value for kind in kinds]).take(provider)
    unknown = np.isnan(default)
    enough = gpus <= np.where(unknown, free, default)
    return np.where(unknown, np.where(enough, UNKNOWN_ENOUGH, UNKNOWN_MUST_ASK), np.where(enough, ENOUGH, MUST_ASK))


def quota_wait_hours(market: Market, table: QuotaTable, state: Ints, offer: Ints, option: Ints, assumptions: Assumptions) -> Floats:
    """Hours until a quota is granted: counted only where it must be asked for, and not where it is granted at once."""
    kinds = [market.provider_kinds.get(name, "other") for name in market.providers]
    wait = np.array([assumptions.quota_wait_hours[kind].value for kind in kinds]).take(market.offers.provider.take(offer))
    at_once = table.at_once.take(offer * len(PURCHASE_OPTIONS) + option)
    return np.where(((state == MUST_ASK) | (state == UNKNOWN_MUST_ASK)) & ~at_once, wait, 0.0)
