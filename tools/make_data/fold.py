"""From readings to offers and tariffs: equal machines become one offer, and of several figures for one tariff the newest wins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from app.domain.gpus import Gpu
from app.domain.market import Offer, Source, Tariff
from tools.make_data.links import inter_node_gbit_s, intra_node_link, maximum_nodes
from tools.make_data.places import country_of
from tools.make_data.reading import BOARD_NOTE, EVERYWHERE, Reading
from tools.make_data.tally import Tally

OfferKey = tuple[str, str, str, int]
TariffGroup = tuple[OfferKey, str, str | None, int | None, str, int]
_UNDATED = datetime(1, 1, 1, tzinfo=UTC)
_SUFFIXES = (".consumption", ".monthly.postpaid")
"""Billing words that OVHcloud hangs on the name of a flavour."""


def joined(base: list[Reading], lists: Iterable[Reading], tally: Tally) -> list[Reading]:
    """All readings, with every list price carried to the machines it is for.

    ``base`` names machines in regions. A reading of ``lists`` that holds in all regions, or per GPU, is given to each machine of its
    provider, card and
    product (``variant``) that ``base`` knows: of the same count, or of any count when the rate is per GPU and the provider lists no
    sizes apart.
    Without such a machine it stays an offer of its own.
    """
    by_card: dict[tuple[str, str, frozenset[str]], list[Reading]] = defaultdict(list)
    by_sku: dict[tuple[str, str], list[Reading]] = defaultdict(list)
    for reading in base:
        by_card[reading.provider, reading.gpu, reading.variant].append(reading)
        by_sku[reading.provider, reading.sku].append(reading)
    out = list(base)
    lists = list(lists)
    apart = {(r.provider, r.gpu, r.variant, r.option) for r in lists if r.gpus > 1 and BOARD_NOTE not in r.offer_note}
    for reading in lists:
        sku = _bare(reading.sku)
        sizes_apart = (reading.provider, reading.gpu, reading.variant, reading.option) in apart
        if sizes_apart and BOARD_NOTE in reading.offer_note:
            continue
        if not reading.for_all_sizes:
            out.append(replace(reading, sku=sku))
            continue
        if reading.per_gpu and sizes_apart:
            reading = replace(reading, per_gpu=False)  # noqa: PLW2901
        machines = {(m.region, m.sku, m.gpus): m for m in by_sku[reading.provider, sku] if reading.region in {EVERYWHERE, m.region}}
        if not machines and reading.region == EVERYWHERE:
            machines = {
                (m.region, m.sku, m.gpus): m for m in by_card[reading.provider, reading.gpu, reading.variant] if _same_machine(reading, m)
            }
        if not machines:
            out.append(replace(reading, sku=sku))
            continue
        tally.treat(reading.file, "list price carried to the machines it is for")
        out.extend(_carried(reading, machine) for machine in machines.values())
    return out


def _bare(sku: str) -> str:
    for suffix in _SUFFIXES:
        sku = sku.removesuffix(suffix)
    return sku


def _same_machine(reading: Reading, machine: Reading) -> bool:
    if reading.per_gpu:
        return True
    if reading.gpus != machine.gpus:
        return False
    return reading.vcpus is None or machine.vcpus is None or reading.vcpus == machine.vcpus


def _carried(reading: Reading, machine: Reading) -> Reading:
    """The list price as a price of this machine."""
    times = machine.gpus if reading.per_gpu else 1
    return replace(
        reading,
        region=machine.region,
        sku=machine.sku,
        gpu=machine.gpu,
        gpus=machine.gpus,
        vcpus=machine.vcpus,
        ram_gb=machine.ram_gb,
        inter_node_gbit_s=reading.inter_node_gbit_s if machine.inter_node_gbit_s is None else machine.inter_node_gbit_s,
        amount=replace(reading.amount, nano=reading.amount.nano * times),
        minimum_gpus=max(reading.minimum_gpus, machine.gpus),
        upstream=machine.upstream,
        offer_note=machine.offer_note,
    )


def offers_and_tariffs(readings: list[Reading], gpus: Mapping[str, Gpu], tally: Tally) -> tuple[list[Offer], list[Tariff]]:
    """Offers sorted by key; tariffs sorted by offer, option and interval."""
    machines: dict[OfferKey, list[Reading]] = defaultdict(list)
    groups: dict[TariffGroup, list[Reading]] = defaultdict(list)
    for reading in readings:
        key = (reading.provider, reading.region, reading.sku, reading.gpus)
        machines[key].append(reading)
        groups[key, reading.option, reading.term_unit, reading.term_count, reading.upfront, reading.minimum_gpus].append(reading)
    offers = [_offer(key, found, gpus) for key, found in sorted(machines.items())]
    tariffs: list[Tariff] = []
    for group in sorted(groups, key=repr):
        tariffs.extend(_intervals(group[0], groups[group], tally))
    tariffs.sort(key=_order)
    return offers, tariffs


def _order(tariff: Tariff) -> tuple[object, ...]:
    return (
        tariff.offer,
        tariff.option,
        tariff.term_unit or "",
        tariff.term_count or 0,
        tariff.upfront,
        tariff.minimum_gpus,
        tariff.valid_from or _UNDATED,
    )


def _offer(key: OfferKey, readings: list[Reading], gpus: Mapping[str, Gpu]) -> Offer:
    provider, region, sku, count = key
    first = readings[0]
    notes = list(dict.fromkeys(part for reading in readings for part in reading.offer_note.split("; ") if part))
    card = gpus[first.gpu]
    nvlink = "nvlink" in first.variant
    return Offer(
        provider=provider,
        region=region,
        country=country_of(provider, region),
        sku=sku,
        gpu=first.gpu,
        gpus_per_node=count,
        gpu_memory_gb=card.memory_gb,
        vcpus=next((r.vcpus for r in readings if r.vcpus is not None), None),
        ram_gb=next((r.ram_gb for r in readings if r.ram_gb is not None), None),
        local_nvme_gb=None,
        intra_node_link=intra_node_link(card, count, provider=provider, sku=sku, bridged=nvlink),
        inter_node_gbit_s=next(
            (r.inter_node_gbit_s for r in readings if r.inter_node_gbit_s is not None), inter_node_gbit_s(provider, sku)
        ),
        maximum_nodes=maximum_nodes(provider, sku),
        upstream=next((r.upstream for r in readings if r.upstream), None),
        component=any(r.component for r in readings),
        note="; ".join(notes),
    )


def _starts(reading: Reading) -> datetime | None:
    """When a figure begins to hold: its announced day, else the day it was seen."""
    return reading.announced or reading.observed_at


def _intervals(offer: OfferKey, readings: list[Reading], tally: Tally) -> list[Tariff]:
    """The figures of one tariff as intervals without overlap: each ends where the next begins, the newest stays open.

    A figure that a later reading of the same tariff replaces was true until then and keeps its kind: its interval ends.
    An equal figure read again renews the date from the day of the second reading on; what was read before stays known as of then. Only an
    undated or old reading is forgotten for it. Several figures of one day or without a date: the dearer one is kept.
    """
    ordered = sorted(readings, key=lambda r: (_starts(r) or _UNDATED, r.amount.currency, r.amount.nano, r.sku))
    kept: list[Reading] = []
    for reading in ordered:
        if kept and _starts(kept[-1]) == _starts(reading) and kept[-1].amount == reading.amount:
            kept[-1] = reading
        elif kept and _starts(kept[-1]) == _starts(reading):
            tally.leave_out(reading.file, "second figure of one tariff on one day: the dearer kept")
            kept[-1] = reading
        elif (
            kept
            and kept[-1].amount == reading.amount
            and kept[-1].unit == reading.unit
            and reading.kind != "history"
            and not _known_then(kept[-1])
        ):
            tally.treat(reading.file, "same figure read again: the newer reading kept")
            kept[-1] = reading
        else:
            kept.append(reading)
    tariffs = []
    for index, reading in enumerate(kept):
        following = kept[index + 1] if index + 1 < len(kept) else None
        opens = _starts(reading) if index or reading.announced else None
        if following is not None:
            same = following.amount == reading.amount and following.unit == reading.unit
            rule = (
                "same figure read again: dated anew from that day"
                if same
                else "newer figure of the same tariff: the older one's interval ends"
            )
            tally.treat(reading.file, rule)
        tariffs.append(_tariff(reading, offer, opens, _starts(following) if following else None))
    return tariffs


def _known_then(reading: Reading) -> bool:
    """Whether a figure could be ranked from its day until the next reading."""
    return reading.kind != "history" and reading.observed_at is not None


def _tariff(reading: Reading, offer: OfferKey, valid_from: datetime | None, valid_to: datetime | None) -> Tariff:
    return Tariff(
        offer=offer,
        option=reading.option,
        amount=reading.amount,
        unit=reading.unit,
        term_unit=reading.term_unit,
        term_count=reading.term_count,
        upfront=reading.upfront,
        minimum_gpus=reading.minimum_gpus,
        kind=reading.kind,
        valid_from=valid_from,
        valid_to=valid_to,
        source=Source(
            name=reading.origin.name, url=reading.origin.url, observed_at=reading.observed_at, date_precision=reading.date_precision
        ),
        note=reading.note,
    )
