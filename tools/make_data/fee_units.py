"""Units of fees brought to the record's vocabulary: GB = 10^9 bytes, tiers and free allowances in GB, money exact to a nano-unit.

A price per GiB becomes a price per GB by division through 1.073741824, rounded half to even at 10^-9 (error below 1e-9 of the currency
a GB). What a
source calls GB is taken as GB, also where the provider is known to count binary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

GIB_IN_GB = Decimal("1.073741824")
_NANO = Decimal("0.000000001")
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>GiB|GB|TiB|TB)?")
_IN_GB = {"GB": Decimal(1), None: Decimal(1), "GiB": GIB_IN_GB, "TB": Decimal(1000), "TiB": GIB_IN_GB * 1024}
_PLAIN = frozenset({"GB", "GB_hour", "GB_day", "GB_month", "address_hour", "address_month"})
_DISK_SIZE = re.compile(r"(\d+) (GiB|TiB|GB)\b")


class UnitError(ValueError):
    """A unit that the record cannot hold; the text is the reason shown in SOURCES.md."""


@dataclass(frozen=True, slots=True)
class Normal:
    """A unit of the record and the exact factor on the price; ``converted`` says that a rounding to nano-units may follow."""

    unit: str
    divisor: Decimal
    remark: str = ""


def normal_unit(unit: str, kind: str, sku: str, *, zero: bool) -> Normal:
    """The record's unit for a published one.

    Raises:
        UnitError: the charge is not per stored or moved GB nor per address.
    """
    if unit in _PLAIN:
        return Normal(unit, Decimal(1))
    if unit.startswith("GiB"):
        return Normal("GB" + unit.removeprefix("GiB"), GIB_IN_GB)
    if unit.startswith("TB"):
        return Normal("GB" + unit.removeprefix("TB"), Decimal(1000))
    if kind == "public_ipv4" and unit in {"hour", "month"}:
        return Normal(f"address_{unit}", Decimal(1))
    if unit in {"disk_month", "month"} and (size := _DISK_SIZE.search(sku)):
        gb = Decimal(size[1]) * _IN_GB[size[2]]
        return Normal("GB_month", gb, f"sold by the disk; the rate per GB holds at {size[1]} {size[2]}")
    if zero and unit in {"", "hour", "instance_hour"}:
        return Normal("GB_month", Decimal(1))
    reasons = {
        "IOPS_month": "a charge per operation rate, not per GB",
        "MBps_month": "a charge per throughput, not per GB",
        "VPU_GB_month": "a charge for performance units, not per GB",
        "Mbps_month": "a charge for bandwidth; tiers in Mbit/s have no place in the record",
        "Mbps_hour": "a charge for bandwidth; tiers in Mbit/s have no place in the record",
        "instance_hour": "already inside the machine's price",
        "month": "a flat charge for a bandwidth, not per GB",
    }
    raise UnitError(reasons.get(unit, f"unit {unit or 'not stated'} has no place in the record"))


def per_unit_price(price: str, normal: Normal) -> str:
    """The price per normal unit as plain decimal text with at most nine decimals."""
    amount = Decimal(price)
    if normal.divisor != 1:
        amount = (amount / normal.divisor).quantize(_NANO, rounding=ROUND_HALF_EVEN)
    return f"{amount:f}"


def in_gb(text: str, *, binary: bool = False) -> Decimal | None:
    """A bound such as ``10240``, ``51200 GiB`` or ``10 TB`` in GB, None when the text is empty.

    ``binary`` tells that a bare number counts GiB (as the row's price does).

    Raises:
        UnitError: the bound is no amount of data.
    """
    if not text:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        msg = f"bound {text!r} is no amount of data"
        raise UnitError(msg)
    number = Decimal(match["number"])
    if match["unit"] is None and binary:
        return number * GIB_IN_GB
    return number * _IN_GB[match["unit"]]


def free_gb(text: str) -> Decimal:
    """The free allowance at the start of a text such as ``100 GB a month over all services``, in GB; 0 when it states no amount of data."""
    match = re.match(r"(?:up to )?(\d+(?:\.\d+)?)\s*(GiB|GB|TiB|TB)\b", text)
    return Decimal(match[1]) * _IN_GB[match[2]] if match else Decimal(0)
