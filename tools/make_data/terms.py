"""Readings from prices-terms.csv: reserved, capacity blocks, spot and newer list prices, with effective dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal, cast

from app.domain.gpus import Gpu
from app.domain.market import PriceKind, PurchaseOption, TariffUnit
from tools.make_data.age import is_history
from tools.make_data.dates import observed
from tools.make_data.origins import barred_by, of_repository_text
from tools.make_data.phrases import OFFER_PHRASES, TARIFF_PHRASES, remark
from tools.make_data.reading import BOARD_NOTE, EVERYWHERE, Reading, whole_node
from tools.make_data.tally import Tally
from tools.make_data.variants import variant_of

FILE = "prices-terms.csv"

_UNITS: dict[str, TariffUnit] = {
    "gpu_hour": "node_hour",
    "instance_hour": "node_hour",
    "instance_month": "node_month",
    "whole_term": "node_term",
}
_METER_START = frozenset({"azure"})
"""Providers whose effective date is the start of the meter, not of the price: it opens no interval."""
_BOARD_GPUS = 8
"""GPUs of an HGX board."""


def is_component(instance_type: str, note: str) -> bool:
    """Whether a row prices a GPU without its machine (Google's ``SKU:`` rows), which must never rank alone."""
    return instance_type.startswith("SKU: ") and "complete machine share" not in note


def readings(rows: list[dict[str, str]], gpus: Mapping[str, Gpu], tally: Tally) -> Iterator[Reading]:
    """One reading a row; a list rate per GPU for an HGX board is read for one GPU and for the board of eight."""
    for row in rows:
        tally.read[FILE] += 1
        reason = barred_by(row["source"], row["note"]) or _unfit(row, gpus)
        if reason:
            tally.leave_out(FILE, reason)
            continue
        reading = _reading(row, tally)
        yield reading
        if reading.per_gpu and re.search(r"\bHGX\b", reading.sku):
            tally.treat(FILE, "HGX rate per GPU: also the board of 8")
            yield _times(reading, _BOARD_GPUS)


def _unfit(row: dict[str, str], gpus: Mapping[str, Gpu]) -> str | None:
    if row["gpu_model"] not in gpus:
        return "card not in gpus.csv"
    if "looks like a placeholder" in row["note"]:
        return "placeholder, not a price"
    if "monthly cap" in row["note"] and row["price_per"] == "instance_month":
        return "a cap on the monthly bill, not a tariff"
    return None


def _times(reading: Reading, count: int) -> Reading:
    """The same rate for a machine of ``count`` such GPUs."""
    return replace(
        reading,
        gpus=count,
        per_gpu=False,
        amount=replace(reading.amount, nano=reading.amount.nano * count),
        vcpus=None if reading.vcpus is None else reading.vcpus * count,
        ram_gb=None if reading.ram_gb is None else reading.ram_gb * count,
        minimum_gpus=count,
        offer_note="; ".join(filter(None, (reading.offer_note, BOARD_NOTE))),
    )


def _kind(row: dict[str, str], origin_id: str, observed_at: datetime | None, precision: str, tally: Tally) -> PriceKind:
    note = row["note"]
    if is_history(origin_id, observed_at, cast("Literal['day', 'month', 'year', 'unknown']", precision)):
        tally.treat(FILE, "only old: kind history")
        return "history"
    if "deploy_ondemand=false" in note or "not sold as plain on-demand" in note:
        tally.treat(FILE, "listed but not sold on demand: kind quote")
        return "quote"
    return "observed" if "second-hand" in note else "list"


def _reading(row: dict[str, str], tally: Tally) -> Reading:
    origin = of_repository_text(row["source"])
    observed_at, precision = observed(row["as_of"])
    gpus = int(row["gpu_count"])
    per_gpu = row["price_per"] == "gpu_hour"
    option = cast("PurchaseOption", row["purchase_option"])
    committed = option in {"reserved", "capacity_block"}
    kind = _kind(row, origin.id, observed_at, precision, tally)
    announced = None
    if row["effective_from"] and row["provider"] not in _METER_START:
        announced, _ = observed(row["effective_from"])
        tally.treat(FILE, "effective date: valid from that day")
    if per_gpu:
        tally.treat(FILE, "rate per GPU: times the GPUs of the machine")
    if row["price_per"] == "whole_term":
        tally.treat(FILE, "sum of a whole term: unit node_term")
    if committed and not row["term_count"]:
        tally.treat(FILE, "commitment without a length: term_count empty")
    return Reading(
        file=FILE,
        provider=row["provider"],
        region=EVERYWHERE if row["region"] in {"", "global"} else row["region"],
        sku=row["instance_type"],
        gpu=row["gpu_model"],
        gpus=gpus,
        memory_gb=0.0,
        vcpus=float(row["vcpus"]) if row["vcpus"] else None,
        ram_gb=float(row["ram_gb"]) if row["ram_gb"] else None,
        inter_node_gbit_s=float(row["inter_node_gbit_s"]) if row["inter_node_gbit_s"] else None,
        option=option,
        amount=whole_node(row["price"], gpus, row["currency"], per_gpu=per_gpu),
        unit=_UNITS[row["price_per"]],
        term_unit=row["term_unit"] if committed else None,
        term_count=int(row["term_count"]) if committed and row["term_count"] else None,
        upfront="all" if row["upfront"] == "all" else "none",
        minimum_gpus=int(row["min_gpus"]),
        kind=kind,
        announced=announced,
        origin=origin,
        observed_at=observed_at,
        date_precision=precision,
        per_gpu=per_gpu and gpus == 1 and '"from" price' not in row["note"],
        for_all_sizes='"from" price' not in row["note"],
        variant=variant_of(row["instance_type"]),
        component=is_component(row["instance_type"], row["note"]),
        offer_note=remark(row["note"], OFFER_PHRASES),
        note=remark(row["note"], TARIFF_PHRASES),
    )
