"""Whether a whole batch of prices may be believed: rules over what was read now and what was last good. Pure; the collector acts on them.

A finding about a record keeps that record out and the last good one in force; a finding about the batch keeps all of it out; a warning
keeps nothing out. Every finding has a reason code, so that it can be counted, shown and resolved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from app.domain.market import PURCHASE_OPTIONS, PurchaseOption
from app.domain.money import Money

Key = tuple[object, ...]
Severity = Literal["refuse_batch", "refuse_record", "warn"]

SCREENS: tuple[tuple[str, int], ...] = (("ratio_100", 100), ("ratio_1000", 1000), ("ratio_1024", 1024))
"""Cents for dollars, thousandths of a currency, binary for decimal multiples."""
SCREEN_SLACK = Decimal("0.01")
"""A ratio within 1 % of a screen is one; 1000 and 1024 stay apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricePoint:
    """One price, per GPU and hour, with what tells it apart.

    ``key`` is the identity of the price; ``thing`` the same without the purchase option, so that spot meets its on-demand price;
    ``family`` groups prices that differ only in the number of GPUs, None when there is no such family.
    """

    key: Key
    thing: Key
    family: Key | None
    gpu: str
    gpus: int
    option: PurchaseOption
    per_gpu_hour: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a healthy batch looks like.

    ``minimum`` and ``maximum`` count prices; ``gpus`` are cards that are always there. ``band`` holds for the whole batch, ``bands`` for
    single cards, both per GPU-hour in ``currency``. ``jump`` is the largest believable factor against the last good price.
    ``vanished_refuse`` and ``vanished_warn`` are shares of the last good prices that are gone. ``screened_share`` is the share of common
    prices with one and the same suspicious ratio that makes it a change of unit of the whole source.
    """

    minimum: int
    maximum: int
    currency: str
    band: tuple[Decimal, Decimal]
    bands: Mapping[str, tuple[Decimal, Decimal]]
    gpus: frozenset[str] = frozenset()
    jump: Decimal = Decimal(2)
    vanished_refuse: Decimal = Decimal("0.5")
    vanished_warn: Decimal = Decimal("0.2")
    screened_share: Decimal = Decimal("0.5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong. ``key`` is None for the batch."""

    severity: Severity
    reason: str
    detail: str
    key: Key | None = None


_FEWEST_TIMES = 4
"""Between one and two GPUs a factor of two also happens honestly, on marketplaces."""


def judge(now: Sequence[PricePoint], last_good: Mapping[Key, PricePoint], rules: Rules) -> tuple[Finding, ...]:
    """All findings, those about the batch first, in an order that depends on nothing but the content."""
    findings = [
        *_counts(now, rules),
        *_vanished(now, last_good, rules),
        *_unit_changed(now, last_good, rules),
        *_bands(now, rules),
        *_jumps(now, last_good, rules),
        *_node_for_gpu(now),
        *_spot(now),
    ]
    ranks: dict[Severity, int] = {"refuse_batch": 0, "refuse_record": 1, "warn": 2}
    return tuple(sorted(findings, key=lambda each: (ranks[each.severity], each.reason, str(each.key), each.detail)))


def refused_keys(findings: Iterable[Finding]) -> frozenset[Key]:
    """Records that must stay out."""
    return frozenset(each.key for each in findings if each.severity == "refuse_record" and each.key is not None)


def refuses_batch(findings: Iterable[Finding]) -> bool:
    """Whether nothing of the batch may be published."""
    return any(each.severity == "refuse_batch" for each in findings)


def bands_of(prices: Iterable[tuple[str, Decimal]], slack: Decimal = Decimal(4)) -> dict[str, tuple[Decimal, Decimal]]:
    """A price band for each card from prices per GPU-hour in one currency: from the lowest / ``slack`` to the highest × ``slack``."""
    by_card: dict[str, list[Decimal]] = defaultdict(list)
    for card, price in prices:
        by_card[card].append(price)
    return {card: (min(found) / slack, max(found) * slack) for card, found in sorted(by_card.items())}


def screen(ratio: Decimal, gpus: int = 1) -> str | None:
    """The mistake that a ratio of two readings of one price looks like: "ratio_100", …, "ratio_gpu_count"; None for none."""
    if ratio <= 0:
        return None
    for turned in (ratio, 1 / ratio):
        for name, factor in (*SCREENS, ("ratio_gpu_count", gpus)):
            if factor > 1 and abs(turned / factor - 1) <= SCREEN_SLACK:
                return name
    return None


def _counts(now: Sequence[PricePoint], rules: Rules) -> list[Finding]:
    findings = []
    if len(now) < rules.minimum:
        findings.append(_batch("too_few", f"{len(now)} prices, at least {rules.minimum} are expected"))
    if len(now) > rules.maximum:
        findings.append(Finding(severity="warn", reason="too_many", detail=f"{len(now)} prices, at most {rules.maximum} are expected"))
    findings += [
        Finding(severity="warn", reason="card_missing", detail=f"no price of {card}")
        for card in sorted(rules.gpus - {each.gpu for each in now})
    ]
    return findings


def _vanished(now: Sequence[PricePoint], last_good: Mapping[Key, PricePoint], rules: Rules) -> list[Finding]:
    if not last_good:
        return []
    gone = len(last_good.keys() - {each.key for each in now})
    share = Decimal(gone) / len(last_good)
    detail = f"{gone} of {len(last_good)} prices that were there are gone"
    if share > rules.vanished_refuse:
        return [_batch("vanished", detail)]
    return [Finding(severity="warn", reason="vanished", detail=detail)] if share > rules.vanished_warn else []


def _ratio(point: PricePoint, last_good: Mapping[Key, PricePoint]) -> Decimal | None:
    """New price over old; None when there is no old one in the same currency."""
    old = last_good.get(point.key)
    if old is None or old.per_gpu_hour.currency != point.per_gpu_hour.currency or old.per_gpu_hour.nano <= 0:
        return None
    return Decimal(point.per_gpu_hour.nano) / Decimal(old.per_gpu_hour.nano)


def _unit_changed(now: Sequence[PricePoint], last_good: Mapping[Key, PricePoint], rules: Rules) -> list[Finding]:
    common = [(point, ratio) for point in now if (ratio := _ratio(point, last_good)) is not None]
    counts: dict[str, int] = defaultdict(int)
    for point, ratio in common:
        if (name := screen(ratio, point.gpus)) is not None:
            counts[name] += 1
    several = 3
    return [
        _batch("unit_changed", f"{count} of {len(common)} prices moved by {name}")
        for name, count in sorted(counts.items())
        if count >= several and Decimal(count) / len(common) > rules.screened_share
    ]


def _bands(now: Sequence[PricePoint], rules: Rules) -> list[Finding]:
    findings = []
    for point in now:
        price = point.per_gpu_hour
        if price.currency != rules.currency:
            findings.append(_record("wrong_currency", f"{price} {price.currency} where {rules.currency} is declared", point))
            continue
        for reason, band in (("price_band", rules.band), ("card_price_band", rules.bands.get(point.gpu))):
            if band is not None and not band[0] <= price.decimal <= band[1]:
                findings.append(_record(reason, f"{price} per GPU-hour is outside {band[0]:.4f} to {band[1]:.4f}", point))
                break
    return findings


def _jumps(now: Sequence[PricePoint], last_good: Mapping[Key, PricePoint], rules: Rules) -> list[Finding]:
    findings = []
    for point in now:
        old = last_good.get(point.key)
        if old is None:
            continue
        moved = f"from {old.per_gpu_hour} {old.per_gpu_hour.currency} to {point.per_gpu_hour} {point.per_gpu_hour.currency}"
        ratio = _ratio(point, last_good)
        if ratio is None:
            findings.append(_record("currency_changed", moved, point))
        elif (name := screen(ratio, point.gpus)) is not None:
            findings.append(_record(name, moved, point))
        elif ratio > rules.jump or ratio < 1 / rules.jump:
            findings.append(_record("jump", moved, point))
    return findings


def _node_for_gpu(now: Sequence[PricePoint]) -> list[Finding]:
    """Prices of one family whose price per GPU goes exactly with the number of GPUs: a machine's taken for a GPU's, or the reverse."""
    families: dict[Key, list[PricePoint]] = defaultdict(list)
    for point in now:
        if point.family is not None:
            families[point.family].append(point)
    findings = []
    for points in families.values():
        fewest = min(each.gpus for each in points)
        prices = sorted(each.per_gpu_hour.nano for each in points if each.gpus == fewest)
        usual = Decimal(prices[len(prices) // 2])
        for point in points:
            times = Decimal(point.gpus) / fewest
            if times < _FEWEST_TIMES or point.per_gpu_hour.nano <= 0:
                continue
            ratio = usual / Decimal(point.per_gpu_hour.nano)
            if any(abs(turned / times - 1) <= SCREEN_SLACK for turned in (ratio, 1 / ratio)):
                detail = f"{point.gpus} GPUs at {point.per_gpu_hour} each, {fewest} at {usual.scaleb(-9).normalize():f}"
                findings.append(_record("node_for_gpu", detail, point))
    return findings


def _spot(now: Sequence[PricePoint]) -> list[Finding]:
    """Spot that is no cheaper than on-demand: often a field that repeats the other; worth a look, not a refusal."""
    prices: dict[tuple[Key, PurchaseOption], PricePoint] = {(each.thing, each.option): each for each in now}
    findings = []
    for point in now:
        listed = prices.get((point.thing, PURCHASE_OPTIONS[0]))
        if point.option == "spot" and listed is not None and point.per_gpu_hour.nano >= listed.per_gpu_hour.nano:
            detail = f"spot {point.per_gpu_hour}, on demand {listed.per_gpu_hour}"
            findings.append(Finding(severity="warn", reason="spot_not_below_on_demand", detail=detail, key=point.key))
    return findings


def _batch(reason: str, detail: str) -> Finding:
    return Finding(severity="refuse_batch", reason=reason, detail=detail)


def _record(reason: str, detail: str, point: PricePoint) -> Finding:
    return Finding(severity="refuse_record", reason=reason, detail=detail, key=point.key)
