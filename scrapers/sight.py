"""The one place where a scraper puts what it sees.

It checks every figure, keeps records whole (all of a record or nothing), reports the fields that nobody read, and drops what contradicts
itself.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal, NoReturn, TypedDict

from app.domain.hardware import IntraLink
from app.domain.market import FeeKind, PriceKind, PurchaseOption
from app.domain.money import Money
from scrapers.names import CARD_MEMORY_GB
from scrapers.numbers import GIB_IN_GB, NumberError, plain
from scrapers.read import DamagedPageError, Record, RefusedError, refuse
from scrapers.seen import (
    BillingSeen,
    FeeSeen,
    Notice,
    Observation,
    OfferSeen,
    Per,
    QuotaSeen,
    Reading,
    Rejection,
    Stated,
    StockSeen,
    Term,
)

Where = Record | Stated
Figure = float | Decimal | None
ZoneKind = Literal["region", "local_zone", "wavelength_zone", "edge_zone"]

_QUIET = frozenset({"price_on_request", "zero_price", "not_offered"})
"""Reasons that a healthy source also gives cause for."""
_MOST_GPUS = 1024
_FEE_UNITS = frozenset({"GB", "GB_hour", "GB_day", "GB_month", "address_hour", "address_month", "machine_hour"})
_BINARY = {"GiB": "GB", "GiB_hour": "GB_hour", "GiB_day": "GB_day", "GiB_month": "GB_month"}


class Sight:
    """Collects the observations of one parse."""

    def __init__(self) -> None:
        self._seen: list[Observation] = []
        self._rejections: list[Rejection] = []
        self._unread: dict[tuple[str, str], tuple[int, str]] = {}

    @contextmanager
    def record(self, row: Record) -> Iterator[Record]:
        """Read one record: what is seen inside is kept as a whole, or refused as a whole with its reason and place."""
        before = len(self._seen)
        try:
            yield row
        except DamagedPageError:
            raise
        except RefusedError as error:
            del self._seen[before:]
            self._reject(row, error.reason, error.detail, error.pointer)
        except NumberError as error:
            del self._seen[before:]
            self._reject(row, error.reason, error.detail, row.pointer)
        else:
            for name in row.leftovers():
                times, first = self._unread.get((row.page, name), (0, row.pointer))
                self._unread[row.page, name] = (times + 1, min(first, row.pointer))

    def offer(
        self,
        where: Where,
        *,
        sku: str,
        region: str,
        gpu: str,
        gpus: int,
        price: Money,
        per: Per,
        option: PurchaseOption = "on_demand",
        term: Term | None = None,
        upfront: Literal["none", "all"] = "none",
        minimum_gpus: int | None = None,
        kind: PriceKind = "list",
        country: str | None = None,
        zone_kind: ZoneKind = "region",
        gpu_memory_gb: Figure = None,
        vcpus: Figure = None,
        ram_gb: Figure = None,
        local_nvme_gb: Figure = None,
        link: IntraLink | None = None,
        inter_node_gbit_s: Figure = None,
        maximum_nodes: int | None = None,
        upstream: str | None = None,
        component: bool = False,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        note: str = "",
    ) -> None:
        """An offer at a price.

        Args:
            where: the record, or the dated table, that states it.
            sku: the provider's own name of the thing.
            region: the provider's own name of the place; "all" when the price holds everywhere.
            gpu: canonical card, from ``Record.gpu``.
            gpus: GPUs in one machine.
            price: as stated, for what ``per`` says.
            per: GPU_HOUR, NODE_HOUR, …: per GPU or per whole machine is always explicit.
            option: never a stand-in for another one.
            term: commitment of a reservation.
            upfront: "all" when the term is paid at once.
            minimum_gpus: smallest purchase; by default one machine.
            kind: "list" for a price list, "observed" for a market's price, "floor" for a lowest bid, "quote" for one that needs a contract.
            country: ISO 3166 alpha-2 when the page says it.
            zone_kind: other than "region", it becomes part of the region's key, so that a zone never overwrites its parent.
            gpu_memory_gb: memory of one GPU; by default the card's.
            vcpus: of the whole machine, like ``ram_gb`` and ``local_nvme_gb``.
            ram_gb: GB = 10^9 bytes.
            local_nvme_gb: included in the price.
            link: between the cards; by default what their form usually has.
            inter_node_gbit_s: network of one machine.
            maximum_nodes: how many can be bought at once.
            upstream: the platform behind a broker.
            component: a GPU without its machine, which never ranks alone.
            valid_from: start of validity when stated; aware.
            valid_to: end of validity when stated; aware.
            note: what a buyer must know.

        Raises:
            RefusedError: a figure that cannot be.
        """
        if gpu not in CARD_MEMORY_GB:
            self._refuse(where, "unknown_gpu", f"{gpu[:80]!r} is no card that is known")
        if not 1 <= gpus <= _MOST_GPUS:
            self._refuse(where, "out_of_range", f"{gpus} GPUs in one machine")
        if price.nano <= 0:
            self._refuse(where, "zero_price", f"{price} is not a price")
        if (option == "reserved" or per.unit == "node_term") and term is None:
            self._refuse(where, "missing_field", "a reservation without its term")
        if (valid_from and valid_from.tzinfo is None) or (valid_to and valid_to.tzinfo is None):
            self._refuse(where, "wrong_type", "a time without its zone")
        if valid_from and valid_to and valid_to <= valid_from:
            self._refuse(where, "out_of_range", "validity ends before it starts")
        place = self._name(where, region, "region")
        seen = OfferSeen(
            **_place(where),
            region=place if zone_kind == "region" else f"{place} ({zone_kind})",
            country=country,
            sku=self._name(where, sku, "sku"),
            gpu=gpu,
            gpus=gpus,
            gpu_memory_gb=self._size(where, gpu_memory_gb, "gpu_memory_gb") or float(CARD_MEMORY_GB[gpu]),
            vcpus=self._size(where, vcpus, "vcpus"),
            ram_gb=self._size(where, ram_gb, "ram_gb"),
            local_nvme_gb=self._size(where, local_nvme_gb, "local_nvme_gb"),
            link=link or usual_link_of(gpu, gpus),
            inter_node_gbit_s=self._size(where, inter_node_gbit_s, "inter_node_gbit_s"),
            maximum_nodes=maximum_nodes,
            upstream=upstream,
            component=component,
            option=option,
            term=term,
            upfront=upfront,
            amount=price,
            per=per,
            minimum_gpus=gpus if minimum_gpus is None else minimum_gpus,
            kind=kind,
            valid_from=valid_from,
            valid_to=valid_to,
            note=note,
        )
        try:
            _ = seen.node_amount
        except ValueError as error:
            self._refuse(where, "out_of_range", str(error))
        self._seen.append(seen)

    def fee(
        self,
        where: Where,
        *,
        kind: FeeKind,
        sku: str,
        unit: str,
        price: Money | None,
        region: str = "all",
        tier_from_gb: Figure = 0,
        tier_to_gb: Figure = None,
        free_gb: Figure = 0,
        note: str = "",
    ) -> None:
        """A fee. ``unit`` GB… or GiB… (brought to GB, rounded at 10^-9), address_…, machine_hour. ``price`` None: charged, figure unknown.

        Raises:
            RefusedError: a unit that the record cannot hold, or tiers that make no sense.
        """
        if unit in _BINARY:
            unit = _BINARY[unit]
            if price is not None:
                price = Money(int((price.nano / GIB_IN_GB).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)), price.currency)
                note = "; ".join(part for part in (note, "stated per GiB") if part)
        if unit not in _FEE_UNITS:
            self._refuse(where, "unknown_unit", f"a fee per {unit} has no place in the record")
        start = float(tier_from_gb or 0)
        end = None if tier_to_gb is None else float(tier_to_gb)
        if start < 0 or (end is not None and end <= start):
            self._refuse(where, "out_of_range", f"a tier from {start} to {end} GB")
        if price is not None and price.nano < 0:
            self._refuse(where, "negative", f"{price} is negative")
        self._seen.append(
            FeeSeen(
                **_place(where),
                region=self._name(where, region, "region"),
                kind=kind,
                sku=self._name(where, sku, "sku"),
                unit=unit,
                amount=price,
                tier_from_gb=start,
                tier_to_gb=end,
                free_gb=float(free_gb or 0),
                note=note,
            )
        )

    def quota(
        self,
        where: Where,
        *,
        name: str,
        unit: Literal["vcpu", "gpu", "instance", "usd"],
        default: Decimal | int | None,
        scope: str = "account",
        code: str = "",
        gpu_family: str = "all",
        approval: str = "unknown",
        note: str = "",
    ) -> None:
        """What a new account may rent; ``default`` None when it is not published."""
        figure = None if default is None else Decimal(default)
        if figure is not None and figure < 0:
            self._refuse(where, "negative", f"a quota of {figure}")
        self._seen.append(
            QuotaSeen(
                **_place(where),
                scope=scope,
                code=code,
                name=self._name(where, name, "name"),
                gpu_family=gpu_family,
                unit=unit,
                default=figure,
                approval=approval,
                note=note,
            )
        )

    def stock(self, where: Where, *, sku: str, region: str, gpus: int, available: bool) -> None:
        """Whether this offer could be had. Say nothing where the source says nothing: absent is unknown."""
        status: Literal["available", "unavailable"] = "available" if available else "unavailable"
        self._seen.append(StockSeen(**_place(where), region=region, sku=sku, gpus=gpus, status=status))

    def billing(
        self, where: Where, *, step_seconds: int, minimum_seconds: int, option: PurchaseOption | None = None, note: str = ""
    ) -> None:
        """How time is metered."""
        if step_seconds < 1 or minimum_seconds < 0:
            self._refuse(where, "out_of_range", f"a billing step of {step_seconds} s, a minimum of {minimum_seconds} s")
        self._seen.append(
            BillingSeen(**_place(where), option=option, step_seconds=step_seconds, minimum_seconds=minimum_seconds, note=note)
        )

    def reject(self, where: Where, reason: str, detail: str) -> None:
        """Report something that is not taken, outside a record's own reading."""
        self._reject(where, reason, detail, where.pointer)

    def unchanged(self, where: Where, text: str, digest: str) -> None:
        """The change detector of a dated table: the smallest part of the page that states it must be what a person last read.

        Args:
            where: the part's place.
            text: the part's text; runs of blanks do not matter.
            digest: the first 16 hexadecimal digits of its SHA-256 (``scrapers.base.digest_of``).

        Raises:
            RefusedError: prose_changed. Outside a record that refuses the whole answer, so the last good figures stay, with their age.
        """
        if (now := digest_of(text)) != digest:
            self._refuse(where, "prose_changed", f"the text is now {now}, the table was read from {digest}: {plain(text)[:120]}")

    def reading(self) -> Reading:
        """Everything seen, sorted; contradictions within the answer are refused on both sides."""
        kept, contradictions = _without_contradictions(self._seen)
        notices = [
            Notice(page, pointer, "unread_field", f"{name}, in {times} records") for (page, name), (times, pointer) in self._unread.items()
        ]
        return Reading(
            observations=tuple(sorted(kept, key=_order)),
            rejections=tuple(sorted({*self._rejections, *contradictions})),
            notices=tuple(sorted(notices)),
        )

    def _reject(self, where: Where, reason: str, detail: str, pointer: str) -> None:
        self._rejections.append(Rejection(_place(where)["page"], pointer, reason, detail, alarm=reason not in _QUIET))

    def _refuse(self, where: Where, reason: str, detail: str) -> NoReturn:
        refuse(reason, detail, where.pointer, _place(where)["page"])

    def _name(self, where: Where, text: str, what: str) -> str:
        if not (name := plain(text)):
            self._refuse(where, "missing_field", f"{what} is empty")
        return name

    def _size(self, where: Where, figure: Figure, what: str) -> float | None:
        if figure is None:
            return None
        size = float(figure)
        if not 0 < size < 1e9:  # noqa: PLR2004 - a billion GB or cores is no machine
            self._refuse(where, "out_of_range", f"{what} of {figure}")
        return size


def digest_of(text: str) -> str:
    """What ``Sight.unchanged`` compares: 16 hexadecimal digits of the SHA-256 of the text with single blanks."""
    return hashlib.sha256(plain(text).encode()).hexdigest()[:16]


def usual_link_of(card: str, gpus: int) -> IntraLink:
    """How the cards of one machine are joined when the page does not say; equal to ``app.domain.hardware.usual_link`` (a test compares)."""
    if gpus == 1:
        return "none"
    if "-SXM" in card or card.startswith(("GB", "GH", "H20-", "V100")):
        return "nvlink"
    if card.startswith(("MI250", "MI3")):
        return "xgmi"
    if card.startswith(("Gaudi", "Ascend")):
        return "other"
    return "ici" if card.startswith("TPU") else "pcie"


class _Place(TypedDict):
    page: str
    pointer: str
    stated: Stated | None


def _place(where: Where) -> _Place:
    if isinstance(where, Stated):
        return {"page": where.url, "pointer": where.pointer, "stated": where}
    return {"page": where.page, "pointer": where.pointer, "stated": None}


def _order(each: Observation) -> tuple[str, ...]:
    return tuple(str(part) for part in each.key)


def _without_contradictions(seen: list[Observation]) -> tuple[list[Observation], list[Rejection]]:
    """The observations that do not contradict another one; equal ones are kept once, at the first pointer."""
    by_key: dict[tuple[object, ...], list[Observation]] = defaultdict(list)
    shapes: dict[tuple[object, ...], set[tuple[object, ...]]] = defaultdict(set)
    for each in seen:
        by_key[each.key].append(each)
        if isinstance(each, OfferSeen):
            shapes[each.offer_key].add(each.shape)
    kept: list[Observation] = []
    refused: list[Rejection] = []
    for group in by_key.values():
        group.sort(key=lambda each: (each.page, each.pointer))
        first = group[0]
        torn = isinstance(first, OfferSeen) and len(shapes[first.offer_key]) > 1
        if torn or len({_said(each) for each in group}) > 1:
            text = " / ".join(str(part) for part in first.key)
            refused += [Rejection(each.page, each.pointer, "contradiction", f"the answer says two things of {text}") for each in group]
        else:
            kept.append(first)
    offered = {each.offer_key for each in kept if isinstance(each, OfferSeen)}
    orphans = [each for each in kept if isinstance(each, StockSeen) and (each.region, each.sku, each.gpus) not in offered]
    refused += [Rejection(each.page, each.pointer, "stock_without_offer", f"no price of {each.sku} in {each.region}") for each in orphans]
    return [each for each in kept if each not in orphans], refused


def _said(each: Observation) -> tuple[object, ...]:
    match each:
        case OfferSeen():
            return (each.node_amount, each.valid_to)
        case FeeSeen():
            return (each.amount, each.tier_to_gb, each.free_gb)
        case QuotaSeen():
            return (each.default,)
        case StockSeen():
            return (each.status,)
        case BillingSeen():
            return (each.step_seconds, each.minimum_seconds)
