"""Fees of the three fees-*.csv: storage, traffic, addresses, and what a stopped machine still costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast

from app.domain.market import Fee, FeeKind, Source
from app.domain.money import Money
from tools.make_data import places
from tools.make_data.dates import observed
from tools.make_data.fee_units import UnitError, free_gb, in_gb, normal_unit, per_unit_price
from tools.make_data.origins import Origin, barred_by, of_page
from tools.make_data.providers import provider_id
from tools.make_data.tally import Tally

FILES = ("fees-cn-and-html.csv", "fees-gpuclouds.csv", "fees-hyperscalers.csv")

_WHOLE_PROVIDER = frozenset(
    {"all", "global", "per region", "per zone", "per country", "per host", "some hosts", "example region", "international site"}
)
_AREAS: dict[str, frozenset[str]] = {
    "North America, Europe, UK": places.NORTH_AMERICA | places.EUROPE,
    "APAC, Japan, South America": places.ASIA_PACIFIC | places.SOUTH_AMERICA,
    "Middle East, Africa": places.MIDDLE_EAST_AFRICA,
    "zone 1": places.NORTH_AMERICA | places.EUROPE,
    "EU": places.EUROPE,
    "EU, North America": places.EUROPE | places.NORTH_AMERICA,
    "all but SGP, SYD, MUM": places.EUROPE | places.NORTH_AMERICA,
}
"""Areas that price lists name: the fee is written for each of the provider's regions here that lies in one of the countries."""
_UNFIT: tuple[tuple[str, str], ...] = (
    ("no figure found", "no figure and no statement of a charge"),
    ("not stated on the price page", "no figure and no statement of a charge"),
    ("not confirmed as free", "no figure and no statement of a charge"),
    ("no public-ip sku", "no figure and no statement of a charge"),
    ("page says free in-region", "free only inside the region; other traffic not stated"),
    ("treat as a discount", "price for members only"),
    ("example data", "example value of a documentation"),
    ("as low as", "advertised lowest rate"),
)
_SCRATCH = frozenset({("gcp", "local SSD on demand"), ("nebius", "local SSD disk")})
"""Disks that end with their machine, by provider and sku: no price of a place where data stay."""
_FREE_ALONE = frozenset({"GCS Always Free", "B91445 free block volume"})
_FULL_RATE = ("full instance rate", "full droplet rate", "full vm rate", "billed in full", "full compute price", "stays fully billed")
_REPEATED: frozenset[tuple[str, str, str, str]] = frozenset(
    {
        ("aws", "egress_internet", "DataTransfer-Out-Bytes", "2024-09-25"),
        ("aws", "egress_internet", "DataTransfer-Out-Bytes", "2026-05-05"),
        ("aws", "block_storage", "gp3", "2024-07-01"),
        ("aws", "snapshot", "EBS snapshot standard tier", "2024-07-01"),
        ("azure", "block_storage", "Standard SSD E30 LRS 1 TiB", "2024-07-01"),
        ("azure", "snapshot", "managed disk snapshot LRS (Standard HDD)", "2024-07-01"),
        ("crusoe", "object_storage", "", "2026-08-22"),
        ("vultr", "snapshot", "", "2025-09-15"),
        ("vultr", "stopped_disk", "whole instance", "2025-09-15"),
        ("lambda", "egress_internet", "", "2026-08-22"),
        ("nebius", "public_ipv4", "", "2026-08-22"),
        ("paperspace", "block_storage", "50 GB disk", ""),
    }
)
"""Rows that another row states again with a newer date, a clearer name or the whole schedule: provider, kind, sku, date."""
_NEBIUS_AUGUST = "2026-08-22"
_NOTES: tuple[tuple[str, str], ...] = (
    ("same price as block_storage", "the disks' ordinary price goes on"),
    ("price = that of the disk type", "the disks' ordinary price goes on"),
    ("probably the same 0.10", "probably the storage rate; not confirmed"),
    ("third-party", "third-party figure"),
    ("through a public price package", "third-party figure"),
    ("worked example", "worked example of the documentation"),
    ("local nvme", "included in the machine"),
    ("no separate storage line", "included in the machine"),
    ("shared bandwidth included", "included in the machine"),
    ("only while running", "only while running"),
    ("billed only while the pod runs", "only while running"),
    ("prepaid", "prepaid"),
    ("depends on the hour", "price depends on the hour of the day"),
    ("first address included", "first address included"),
    ("the first address of a server is included", "first address included"),
    ("ex vat", "tax extra"),
    ("not captured", "figure not found"),
    ("price above the free part not stored", "figure above the free part not found"),
    ("unit price not stored", "figure not found"),
    ("date unknown", "date unknown"),
    ("host-set", "set by each host"),
    ("older product", "older product"),
    ("old help text", "old help text"),
    ("also while the workspace is stopped", "goes on while stopped"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    file: str
    fee: Fee
    origin: Origin


def fees(
    files: Mapping[str, list[dict[str, str]]], regions: Mapping[str, Iterable[str]], tally: Tally
) -> tuple[list[Fee], dict[str, Origin]]:
    """All fees sorted, and their origins by name and address.

    Args:
        files: rows by facts file.
        regions: regions known of each provider, for areas.
        tally: counts what is left out.
    """
    found: dict[tuple[str, str, str, str, str, float], Fee] = {}
    origins: dict[str, Origin] = {}
    for name in FILES:
        for row in files[name]:
            tally.read[name] += 1
            try:
                fee, origin = _fee(row)
            except UnitError as error:
                tally.leave_out(name, str(error))
                continue
            origins[origin.id] = origin
            for region in _regions(fee.provider, fee.region, regions):
                placed = replace(fee, region=region)
                key = (placed.provider, region, placed.kind, placed.sku, placed.unit, placed.tier_from_gb)
                if key in found and not _newer(placed, found[key]):
                    tally.leave_out(name, "stated again with a newer date")
                    continue
                found[key] = placed
    shipped = list(_schedules(found.values(), tally))
    return sorted(shipped, key=_order), origins


def _order(fee: Fee) -> tuple[object, ...]:
    return (fee.provider, fee.region, fee.kind, fee.sku, fee.unit, fee.tier_from_gb)


def _newer(one: Fee, other: Fee) -> bool:
    if one.source.observed_at is None or other.source.observed_at is None:
        return one.source.observed_at is not None
    return one.source.observed_at > other.source.observed_at


def _fee(row: dict[str, str]) -> tuple[Fee, Origin]:
    """One row as a record.

    Raises:
        UnitError: with the reason why the row is not shipped.
    """
    provider, kind, note = provider_id(row["provider"]), cast("FeeKind", row["fee_kind"]), row["note"].casefold()
    _refuse(row, provider, note)
    origin = of_page(row["source_url"])
    observed_at, precision = observed(row["as_of"])
    source = Source(name=origin.name, url=origin.url, observed_at=observed_at, date_precision=precision)
    if kind == "stopped_disk" and not row["price"] and any(words in note for words in _FULL_RATE):
        fee = Fee(
            provider=provider,
            region=row["region"] or "all",
            kind=kind,
            sku=row["sku"],
            unit="machine_hour",
            amount=None,
            tier_from_gb=0.0,
            tier_to_gb=None,
            free_gb=0.0,
            source=source,
            note="a stopped machine is billed at its full rate until it is destroyed",
        )
        return fee, origin
    if "no stop" in row["sku"]:
        msg = "no stop state: nothing to price"
        raise UnitError(msg)
    zero = row["price"] != "" and Decimal(row["price"]) == 0
    if not row["price"] and row["unit"] == "":
        msg = "no figure and no unit"
        raise UnitError(msg)
    normal = normal_unit(row["unit"], kind, row["sku"], zero=zero)
    binary = row["unit"].startswith("GiB")
    lower, upper = in_gb(row["tier_from"], binary=binary), in_gb(row["tier_to"], binary=binary)
    amount = Money.of(per_unit_price(row["price"], normal), row["currency"] or "USD") if row["price"] else None
    notes = dict.fromkeys(words for needle, words in _NOTES if needle in note or needle in row["sku"].casefold())
    fee = Fee(
        provider=provider,
        region=row["region"] or "all",
        kind=kind,
        sku=row["sku"] or kind.replace("_", " "),
        unit=normal.unit,
        amount=amount,
        tier_from_gb=float(lower or 0),
        tier_to_gb=None if upper is None else float(upper),
        free_gb=0.0 if zero and row["tier_to"] else float(free_gb(row["free_allowance"])),
        source=source,
        note="; ".join(filter(None, (normal.remark, *notes))),
    )
    return fee, origin


def _refuse(row: dict[str, str], provider: str, note: str) -> None:
    if reason := barred_by(row["source_url"], row["note"]):
        raise UnitError(reason)
    if not row["source_url"]:
        msg = "no source named"
        raise UnitError(msg)
    if (provider, row["sku"]) in _SCRATCH:
        msg = "a scratch disk that ends with its machine: no place to keep data"
        raise UnitError(msg)
    if row["sku"] in _FREE_ALONE:
        msg = "an always-free part without a price of its own"
        raise UnitError(msg)
    repeated = (provider, row["fee_kind"], row["sku"], row["as_of"]) in _REPEATED
    nebius = (
        provider == "nebius"
        and row["as_of"] == _NEBIUS_AUGUST
        and row["sku"] not in {"Object storage Intelligent", "Object storage Enhanced"}
    )
    if repeated or nebius:
        msg = "stated again with a newer date"
        raise UnitError(msg)
    for words, reason in _UNFIT:
        if words in note:
            raise UnitError(reason)


def _regions(provider: str, region: str, known: Mapping[str, Iterable[str]]) -> list[str]:
    """The regions a fee is written for: all, those named, those in the named area, or the name itself where nothing here matches it."""
    if region in _WHOLE_PROVIDER:
        return ["all"]
    if region in _AREAS:
        inside = [name for name in sorted(known.get(provider, ())) if places.country_of(provider, name) in _AREAS[region]]
        return inside or [region]
    return [part.strip() for part in region.split(",")] if "(" not in region else [region]


def _schedules(found: Iterable[Fee], tally: Tally) -> Iterator[Fee]:
    """Tiers of one price list put in order: the free part becomes ``free_gb``, the first tier starts at 0, the last one is open.

    Tiers count from the first GB, free part included. A list whose last tier is bounded goes on with an unknown figure: there is a
    charge beyond.
    """
    lists: dict[tuple[str, str, str, str, str], list[Fee]] = defaultdict(list)
    for fee in found:
        lists[fee.provider, fee.region, fee.kind, fee.sku, fee.unit].append(fee)
    for key in sorted(lists):
        tiers = sorted(lists[key], key=lambda fee: fee.tier_from_gb)
        free = max(fee.free_gb for fee in tiers)
        zero = tiers[0] if tiers[0].amount is not None and tiers[0].amount.nano == 0 and tiers[0].tier_to_gb is not None else None
        if zero is not None and len(tiers) > 1 and zero.tier_to_gb is not None:
            free = max(free, zero.tier_to_gb)
            tiers = tiers[1:]
            tally.treat("fees-*.csv", "free first tier: free_gb of the list")
        if tiers[0].tier_from_gb > 0:
            free = max(free, tiers[0].tier_from_gb)
            tiers[0] = replace(tiers[0], tier_from_gb=0.0)
        yield from (replace(fee, free_gb=free) for fee in tiers)
        last = tiers[-1]
        if last.tier_to_gb is not None:
            tally.treat("fees-*.csv", "bounded last tier: goes on as unknown")
            yield replace(
                last, amount=None, tier_from_gb=last.tier_to_gb, tier_to_gb=None, free_gb=free, note="charge beyond this bound not found"
            )
