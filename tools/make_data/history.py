"""Price history, thinned: what shows how prices moved, without the readings that change nothing.

Kept of each series (provider, region, card, machine size, option, term, source): the first and the last reading and every reading whose
price differs
from the one kept before it by at least ``SMALLEST_CHANGE``. Series that hold one reading are kept whole. Sources that may not be
shipped are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import cast

from app.domain.gpus import Gpu
from app.domain.market import HistoricPrice, PurchaseOption
from app.domain.money import Money
from tools.make_data.origins import Origin, barred_by, of_repository_text
from tools.make_data.providers import provider_id
from tools.make_data.tally import Tally

FILE = "price-history.csv"
SMALLEST_CHANGE = Decimal("0.02")
"""A step of 2 %: below the ordinary size of a change (Google spot 5 %, list prices 10 to 30 %)."""

_SKU = re.compile(r"(?:observation of )?((?:a2|a3|a4|g2|g4|p\d\w*|g\d\w*|trn\d\w*|u-p6e)[\w.-]*|Standard_\w+)")
_TERM = re.compile(r"([135])y committed use")


def history(rows: list[dict[str, str]], gpus: Mapping[str, Gpu], tally: Tally) -> tuple[list[HistoricPrice], dict[str, Origin]]:
    """The thinned readings, sorted, with the id of their source; and the sources by id."""
    series: dict[tuple[str, ...], list[HistoricPrice]] = defaultdict(list)
    origins: dict[str, Origin] = {}
    for row in rows:
        tally.read[FILE] += 1
        reason = barred_by(row["source"], row["note"]) or (None if row["gpu_model"] in gpus else "card not in gpus.csv")
        if reason:
            tally.leave_out(FILE, reason)
            continue
        origin = of_repository_text(row["source"])
        origins[origin.id] = origin
        reading = _reading(row, origin.id)
        where = (reading.provider, reading.region, reading.gpu, reading.sku, str(reading.gpus_per_node))
        series[*where, reading.option, reading.note, row["source"].split("@")[0]].append(reading)
    kept: list[HistoricPrice] = []
    for key in sorted(series):
        readings = sorted(series[key], key=lambda reading: reading.day)
        chosen = _thinned(readings)
        tally.leave_out(FILE, "thinned: change below 2 %", len(readings) - len(chosen))
        kept.extend(chosen)
    return sorted(kept, key=_order), origins


def _order(reading: HistoricPrice) -> tuple[object, ...]:
    where = (reading.provider, reading.gpu, reading.region, reading.option, reading.sku, reading.gpus_per_node)
    return (*where, reading.note, reading.day, reading.source, reading.price_per_gpu_hour.nano)


def _thinned(readings: list[HistoricPrice]) -> list[HistoricPrice]:
    chosen = [readings[0]]
    for reading in readings[1:-1]:
        before = chosen[-1].price_per_gpu_hour.nano
        if abs(reading.price_per_gpu_hour.nano - before) >= SMALLEST_CHANGE * before:
            chosen.append(reading)
    return chosen if len(readings) == 1 else [*chosen, readings[-1]]


def _reading(row: dict[str, str], origin_id: str) -> HistoricPrice:
    match = _SKU.search(row["note"])
    term = _TERM.search(row["note"])
    return HistoricPrice(
        day=date.fromisoformat(row["date"]),
        provider=provider_id(row["provider"]),
        region=row["region"] or "all",
        sku=match[1] if match else "",
        gpu=row["gpu_model"],
        gpus_per_node=int(row["gpu_count"]),
        option=cast("PurchaseOption", row["purchase_option"]),
        price_per_gpu_hour=Money.of(row["price_per_gpu_hour"], row["currency"]),
        source=origin_id,
        note=f"{term[1]} years committed" if term else "second-hand" if "second-hand" in row["note"] else "",
    )
