"""Readings from prices-catalog.csv: on-demand and spot prices per machine, 31 platforms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from app.domain.gpus import Gpu
from app.domain.market import PriceKind, PurchaseOption
from tools.make_data.age import is_history
from tools.make_data.dates import observed
from tools.make_data.origins import Origin, barred_by, of_repository_text
from tools.make_data.phrases import OFFER_PHRASES, TARIFF_PHRASES, remark
from tools.make_data.reading import UNSTATED, Reading, whole_node
from tools.make_data.tally import Tally
from tools.make_data.variants import variant_of

FILE = "prices-catalog.csv"

_STATED_DAY = re.compile(r"(?:file generated|pricing data refreshed|last changed) (\d{4}-\d{2}-\d{2})")
_DAY_OF_ORIGIN = {"gpuhunt-src-gpuhunt-providers-crusoe-py": "2026-08-19"}
"""Files whose rows state no day but whose day is known; keys are the start of the origin's id."""
_UPSTREAM = re.compile(r"upstream=([\w-]+)")
_UPSTREAM_IDS = {
    "crusoecloud": "crusoe",
    "datacrunch": "verda",
    "data-crunch": "verda",
    "lambdalabs": "lambda",
    "massed-compute": "massedcompute",
}
"""Brokers' names of platforms that have an id of their own here."""
_DATED_LISTS = ("karpenter-provider-", "gpuhunt-")
NOT_ON_DEMAND = frozenset(("gcp", f"a3-highgpu-{count}g") for count in (1, 2, 4))
"""Machines with a list price that Google sells only as spot, flex-start or by reservation: H100 machines of up to 4 GPUs."""
SPOT_BY_QUOTE = frozenset({"crusoe"})
"""Platforms whose own page of 2026-08-22 says "contact sales" where an older list has a spot price."""


def readings(rows: list[dict[str, str]], gpus: Mapping[str, Gpu], tally: Tally) -> Iterator[Reading]:
    """One reading for each price in a row: on demand, spot, or both."""
    for row in rows:
        tally.read[FILE] += 1
        if reason := barred_by(row["source"], row["note"]):
            tally.leave_out(FILE, reason)
        elif row["gpu_model"] not in gpus:
            tally.leave_out(FILE, "card not in gpus.csv")
        else:
            if row["price_on_demand_per_hour"]:
                yield _reading(row, "on_demand", row["price_on_demand_per_hour"], tally)
            if row["price_spot_per_hour"]:
                yield _reading(row, "spot", row["price_spot_per_hour"], tally)


def _day(origin: Origin, note: str) -> str:
    if match := _STATED_DAY.search(note):
        return match[1]
    return next((day for start, day in _DAY_OF_ORIGIN.items() if origin.id.startswith(start)), "")


def _kind(row: dict[str, str], option: PurchaseOption, origin: Origin, tally: Tally) -> tuple[PriceKind, str]:
    """How binding the price is, and the remark that says why."""
    note = row["note"]
    observed_at, precision = observed(_day(origin, note))
    if "AUCTION FLOOR" in note:
        tally.treat(FILE, "auction floor: kind floor")
        return "floor", remark(note, TARIFF_PHRASES)
    if is_history(origin.id, observed_at, precision):
        tally.treat(FILE, "only old: kind history")
        return "history", ""
    if option == "on_demand" and (row["provider"], row["instance_type"]) in NOT_ON_DEMAND:
        tally.treat(FILE, "listed but not sold on demand: kind quote")
        return "quote", "listed, but not to be ordered on demand"
    if option == "spot" and row["provider"] in SPOT_BY_QUOTE:
        tally.treat(FILE, "spot by quote: kind quote")
        return "quote", "the provider's page asks to contact sales"
    remarks = remark(note, TARIFF_PHRASES) if option == "spot" else ""
    return ("list" if origin.id.startswith(_DATED_LISTS) else "observed"), remarks


def _reading(row: dict[str, str], option: PurchaseOption, price: str, tally: Tally) -> Reading:
    origin = of_repository_text(row["source"])
    observed_at, precision = observed(_day(origin, row["note"]))
    kind, note = _kind(row, option, origin, tally)
    upstream = _UPSTREAM.search(row["note"])
    gpus = int(row["gpu_count"])
    return Reading(
        file=FILE,
        provider=row["provider"],
        region=row["region"] or UNSTATED,
        sku=row["instance_type"],
        gpu=row["gpu_model"],
        gpus=gpus,
        memory_gb=float(row["gpu_memory_gb_each"]),
        vcpus=float(row["vcpus"]) if row["vcpus"] else None,
        ram_gb=float(row["ram_gb"]) if row["ram_gb"] else None,
        inter_node_gbit_s=None,
        option=option,
        amount=whole_node(price, gpus, row["currency"], per_gpu=False),
        unit="node_hour",
        term_unit=None,
        term_count=None,
        upfront="none",
        minimum_gpus=gpus,
        kind=kind,
        announced=None,
        origin=origin,
        observed_at=observed_at,
        date_precision=precision,
        upstream=_UPSTREAM_IDS.get(upstream[1], upstream[1]) if upstream else None,
        variant=variant_of(row["instance_type"]),
        offer_note=remark(row["note"], OFFER_PHRASES),
        note=note,
    )
