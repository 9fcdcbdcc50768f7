"""``trainfare parse``: run one scraper on stored pages and print what it saw, one JSON line each. No network, no database."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from app.domain.near import did_you_mean
from app.terminal.failure import CommandError
from scrapers.base import Page, Provider, Reading, Rejection
from scrapers.providers import providers
from scrapers.seen import BillingSeen, FeeSeen, Observation, OfferSeen, QuotaSeen, StockSeen

Line = dict[str, object]


def parse(options: argparse.Namespace) -> None:
    """Print the observations and rejections of ``options.provider`` for ``options.files``.

    Raises:
        CommandError: no such provider, no such kind of page, or a file that cannot be read.
    """
    provider = provider_of(options.provider)
    kinds = [kind.name for kind in provider.pages]
    if options.page is not None and options.page not in kinds:
        msg = f"{provider.id} has no page {options.page!r}, only {', '.join(kinds)}"
        raise CommandError(msg)
    pages, strangers = [], []
    for name in options.files:
        path = Path(name)
        try:
            body = path.read_bytes()
        except OSError as error:
            raise CommandError.at(name, error.strerror or "cannot be read") from error
        kind = options.page or provider.kind_of(body)
        if kind is None:
            detail = f"neither of {', '.join(kinds)}; --page names one"
            strangers.append(Rejection(name, "", "unknown_page", detail))
        else:
            pages.append(Page.of(kind, name, body))
    reading = provider.read(pages) if pages else Reading(observations=(), rejections=(), notices=())
    for line in (*lines(provider, reading), *map(rejection_line, strangers)):
        sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")


def provider_of(name: str) -> Provider:
    """A provider by id.

    Raises:
        CommandError: there is none of that id.
    """
    known = providers()
    if name not in known:
        msg = f"no scraper is called {name!r}.{did_you_mean(name, known)}"
        raise CommandError(msg)
    return known[name]


def lines(provider: Provider, reading: Reading) -> Iterator[Line]:
    """Observations, rejections and notices as they are printed."""
    for seen in reading.observations:
        yield {**observation_line(provider, seen), "page": seen.page, "pointer": seen.pointer}
    yield from map(rejection_line, reading.rejections)
    for notice in reading.notices:
        yield {"type": "notice", "reason": notice.reason, "page": notice.page, "pointer": notice.pointer, "detail": notice.detail}


def rejection_line(rejection: Rejection) -> Line:
    """A rejection; ``whole`` says that nothing of the answer is taken, ``alarm`` that a person should look."""
    return {
        "type": "rejection",
        "reason": rejection.reason,
        "page": rejection.page,
        "pointer": rejection.pointer,
        "detail": rejection.detail,
        "alarm": rejection.alarm,
        "whole": rejection.whole,
    }


def observation_line(provider: Provider, seen: Observation) -> Line:
    """One observation without its place."""
    match seen:
        case OfferSeen():
            return _offer_line(provider, seen)
        case FeeSeen():
            return {
                "type": "fee",
                "provider": provider.id,
                "region": seen.region,
                "kind": seen.kind,
                "sku": seen.sku,
                "unit": seen.unit,
                "amount": None if seen.amount is None else str(seen.amount),
                "currency": None if seen.amount is None else seen.amount.currency,
                "tier_from_gb": seen.tier_from_gb,
                "tier_to_gb": seen.tier_to_gb,
                "free_gb": seen.free_gb,
                "note": seen.note,
            }
        case QuotaSeen():
            return {
                "type": "quota",
                "provider": provider.id,
                "scope": seen.scope,
                "code": seen.code,
                "name": seen.name,
                "gpu_family": seen.gpu_family,
                "unit": seen.unit,
                "default": None if seen.default is None else f"{seen.default:f}",
                "approval": seen.approval,
                "note": seen.note,
            }
        case StockSeen():
            return {
                "type": "stock",
                "provider": provider.id,
                "region": seen.region,
                "sku": seen.sku,
                "gpus": seen.gpus,
                "status": seen.status,
            }
        case BillingSeen():
            return {
                "type": "billing",
                "provider": provider.id,
                "purchase_option": seen.option,
                "step_seconds": seen.step_seconds,
                "minimum_seconds": seen.minimum_seconds,
                "note": seen.note,
            }


def _offer_line(provider: Provider, seen: OfferSeen) -> Line:
    return {
        "type": "offer",
        "provider": provider.id,
        "region": seen.region,
        "country": seen.country,
        "sku": seen.sku,
        "gpu": seen.gpu,
        "gpus": seen.gpus,
        "gpu_memory_gb": seen.gpu_memory_gb,
        "vcpus": seen.vcpus,
        "ram_gb": seen.ram_gb,
        "local_nvme_gb": seen.local_nvme_gb,
        "intra_node_link": seen.link,
        "inter_node_gbit_s": seen.inter_node_gbit_s,
        "upstream": seen.upstream,
        "component": seen.component,
        "purchase_option": seen.option,
        "term": None if seen.term is None else str(seen.term),
        "upfront": seen.upfront,
        "minimum_gpus": seen.minimum_gpus,
        "kind": seen.kind,
        "amount": str(seen.amount),
        "currency": seen.amount.currency,
        "per": seen.per.name,
        "price_per_node_hour": _plain(seen.node_hour(provider.month_hours)),
        "valid_from": None if seen.valid_from is None else seen.valid_from.isoformat(),
        "valid_to": None if seen.valid_to is None else seen.valid_to.isoformat(),
        "note": seen.note,
    }


def _plain(price: Decimal | None) -> str | None:
    """A plain decimal with two places at least and nine at most."""
    if price is None:
        return None
    whole, _, fraction = f"{price:.9f}".rstrip("0").partition(".")
    return f"{whole}.{fraction.ljust(2, '0')}"
