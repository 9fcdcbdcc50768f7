"""Readings from prices-cn.csv: Chinese rental platforms and clouds, in yuan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from app.domain.gpus import Gpu
from app.domain.market import PriceKind, PurchaseOption, TariffUnit
from scrapers.names import gpu_name
from tools.make_data.age import is_history
from tools.make_data.dates import observed
from tools.make_data.origins import barred_by, of_page
from tools.make_data.phrases import OFFER_PHRASES, TARIFF_PHRASES, remark
from tools.make_data.reading import EVERYWHERE, Reading, whole_node
from tools.make_data.tally import Tally
from tools.make_data.variants import variant_of

FILE = "prices-cn.csv"

_MODES: dict[str, tuple[PurchaseOption, str | None]] = {
    "on_demand": ("on_demand", None),
    "spot": ("spot", None),
    "daily": ("reserved", "day"),
    "monthly": ("reserved", "month"),
}
_UNITS: dict[str, TariffUnit] = {"hour": "node_hour", "day": "node_day", "month": "node_month"}
_INSTANCE = re.compile(r"(ecs\.[\w.-]+|G[A-Z]+\d+[\w.]*\.[\w.]+|PNV4\.[\w.]+)")
_REGION = re.compile(r"region ([a-z]+-[\w-]+)")
_ERDMA = re.compile(r"eRDMA (\d+) Gbit/s")
_UNFIT = (
    ("fraction of a card", "a fraction of a card"),
    ("member price", "price for members only"),
    ("example value", "example value of a documentation"),
    ("development card", "card not named"),
)
SIZES = {"autodl": (1, 4), "compshare": (1, 2, 4, 8)}
"""Machine sizes at a rate per GPU: AutoDL is on record with four cards at four times the rate, Compshare states up to eight a host."""


def readings(rows: list[dict[str, str]], gpus: Mapping[str, Gpu], tally: Tally) -> Iterator[Reading]:
    """One reading a row, and one for each further documented size where the rate is per GPU."""
    for row in rows:
        tally.read[FILE] += 1
        reason = _unfit(row)
        card = gpu_name(row["gpu_model"], float(row["gpu_memory_gb"]) if row["gpu_memory_gb"] else None)
        if reason is None and (card is None or card not in gpus):
            reason = f"card unknown or not told apart: {row['gpu_model']}"
        if reason or card is None:
            tally.leave_out(FILE, reason or "card unknown")
            continue
        reading = _reading(row, card, tally)
        sizes = SIZES.get(row["provider"], (1,)) if reading.per_gpu else (reading.gpus,)
        for count in sizes:
            yield _of_size(reading, count)


def _unfit(row: dict[str, str]) -> str | None:
    if reason := barred_by(row["source_url"], row["note"]):
        return reason
    if not row["source_url"]:
        return "no source named"
    if "whether list or member price" in row["note"]:
        return None
    return next((reason for words, reason in _UNFIT if words in row["note"]), None)


def _of_size(reading: Reading, count: int) -> Reading:
    if count == reading.gpus:
        return reading
    return replace(
        reading,
        gpus=count,
        amount=replace(reading.amount, nano=reading.amount.nano * count),
        vcpus=None if reading.vcpus is None else reading.vcpus * count,
        ram_gb=None if reading.ram_gb is None else reading.ram_gb * count,
        minimum_gpus=count,
    )


def _reading(row: dict[str, str], card: str, tally: Tally) -> Reading:
    origin = of_page(row["source_url"])
    observed_at, precision = observed(row["as_of"])
    scope, _, period = row["price_unit"].removeprefix("per_").partition("_")
    per_gpu = scope == "gpu"
    gpus = int(row["gpu_count"])
    option, term_unit = _MODES[row["billing_mode"]]
    instance = _INSTANCE.search(row["note"])
    region = _REGION.search(row["note"])
    history = is_history(origin.id, observed_at, precision)
    if history:
        tally.treat(FILE, "only old: kind history")
    upfront: Literal["none", "all"] = "all" if option == "reserved" else "none"
    kind: PriceKind = "history" if history else _fresh_kind(row["note"])
    link = _ERDMA.search(row["interconnect"])
    return Reading(
        file=FILE,
        provider=row["provider"],
        region=region[1] if region else EVERYWHERE,
        sku=instance[1] if instance else row["gpu_model"],
        gpu=card,
        gpus=gpus,
        memory_gb=float(row["gpu_memory_gb"]),
        vcpus=float(row["vcpus"]) if row["vcpus"] else None,
        ram_gb=float(row["ram_gb"]) if row["ram_gb"] else None,
        inter_node_gbit_s=float(link[1]) if link else None,
        option=option,
        amount=whole_node(row["price"], gpus, row["currency"], per_gpu=per_gpu),
        unit=_UNITS[period],
        term_unit=term_unit,
        term_count=1 if term_unit else None,
        upfront=upfront,
        minimum_gpus=gpus,
        kind=kind,
        announced=None,
        origin=origin,
        observed_at=observed_at,
        date_precision=precision,
        per_gpu=per_gpu and gpus == 1,
        variant=variant_of(row["gpu_model"]) | (frozenset({"nvlink"}) if row["interconnect"] == "NVLink" else frozenset()),
        offer_note=remark(row["note"], OFFER_PHRASES),
        note=remark(row["note"], TARIFF_PHRASES),
    )


def _fresh_kind(note: str) -> PriceKind:
    return "observed" if "second-hand" in note or "quoted" in note or "transcri" in note else "list"
