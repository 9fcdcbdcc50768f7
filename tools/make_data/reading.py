"""One price as read from a facts file, before equal offers are joined."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from app.domain.market import DatePrecision, PriceKind, PurchaseOption, TariffUnit
from app.domain.money import Money
from tools.make_data.origins import Origin

EVERYWHERE = "all"
"""Region of a list price that holds in every region of its provider."""
BOARD_NOTE = "board of 8 at the rate per GPU"
"""Remark of an offer that a list rate per GPU implies."""
UNSTATED = "unstated"
"""Region of an offer whose source names no place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A price of one node under one purchase option, with what its row says of the machine.

    ``per_gpu`` marks a list rate per GPU that names no machine size: it holds for every size of that GPU at the provider, unless the
    provider
    lists sizes apart. ``for_all_sizes`` is False for the price of a lowest preset, which says nothing of other machines. ``announced``
    is the
    day a stated rate takes effect. ``variant`` separates products that share provider, GPU and count (NVLink bridges, community hosts, …).
    """

    file: str
    provider: str
    region: str
    sku: str
    gpu: str
    gpus: int
    memory_gb: float
    vcpus: float | None
    ram_gb: float | None
    inter_node_gbit_s: float | None
    option: PurchaseOption
    amount: Money
    unit: TariffUnit
    term_unit: str | None
    term_count: int | None
    upfront: Literal["none", "all"]
    minimum_gpus: int
    kind: PriceKind
    announced: datetime | None
    origin: Origin
    observed_at: datetime | None
    date_precision: DatePrecision
    per_gpu: bool = False
    for_all_sizes: bool = True
    variant: frozenset[str] = frozenset()
    upstream: str | None = None
    component: bool = False
    offer_note: str = ""
    note: str = ""


def whole_node(price: str, gpus: int, currency: str, *, per_gpu: bool) -> Money:
    """The exact price of one node from a price per GPU or per machine.

    Raises:
        MoneyError: the price is finer than a nano-unit or out of range.
        ValueError: the price is not above zero; a zero is never a price.
    """
    each = Decimal(price)
    if each <= 0:
        msg = f"a price must be above zero, got {price!r}"
        raise ValueError(msg)
    return Money.of(f"{each * gpus if per_gpu else each:f}", currency)
