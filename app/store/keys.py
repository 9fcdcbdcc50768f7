"""Natural keys of records as text: two records with the same key speak of the same thing, and at most one of them is in force at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from app.domain.market import BillingRule, Fee, HistoricPrice, PriceKind, Quota, Rate, Tariff

_SERIES: dict[PriceKind, str] = {"list": "price", "observed": "price", "floor": "floor", "quote": "quote", "history": "history"}


def text_key(parts: Iterable[object]) -> str:
    """Join ``parts`` so that different parts never give the same text; None and the empty text differ."""
    return "|".join("~" if part is None else str(part).replace("~", "~0").replace("|", "~1") for part in parts)


def offer_key(offer: tuple[str, str, str, int]) -> str:
    """Provider, region, sku, GPUs a node."""
    return text_key(offer)


def tariff_key(tariff: Tariff) -> str:
    """The offer and what is bought of it.

    A listed and an observed price are readings of one series, so that a newer one replaces the other; floors, quotes and history are series
    of their own.
    """
    terms = (tariff.option, tariff.unit, tariff.term_unit, tariff.term_count, tariff.upfront, tariff.minimum_gpus)
    return text_key((*tariff.offer, *terms, _SERIES[tariff.kind]))


def fee_key(fee: Fee) -> str:
    """Provider, region, kind, sku, unit and the tier's lower bound in GB."""
    return text_key((fee.provider, fee.region, fee.kind, fee.sku, fee.unit, f"{fee.tier_from_gb:.12g}"))


def quota_key(quota: Quota) -> str:
    """Provider, scope, code, name, GPU family and unit."""
    return text_key((quota.provider, quota.scope, quota.code, quota.name, quota.gpu_family, quota.unit))


def billing_key(rule: BillingRule) -> str:
    """Provider and purchase option."""
    return text_key((rule.provider, rule.option))


def rate_key(rate: Rate) -> str:
    """Base, quote, day and source."""
    return text_key((rate.base, rate.quote, rate.day.isoformat(), rate.source))


def reading_digest(reading: HistoricPrice) -> str:
    """SHA-256 of the whole reading: an archive states no key of its own."""
    money = reading.price_per_gpu_hour
    where = (reading.day.isoformat(), reading.provider, reading.region, reading.sku, reading.gpu, reading.gpus_per_node)
    what = (reading.option, money.nano, money.currency, reading.source, reading.note)
    return hashlib.sha256(text_key((*where, *what)).encode()).hexdigest()
