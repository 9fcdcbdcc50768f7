"""Units and the few exact factors between them. A month of a tariff is 730 hours unless its provider states another."""

from __future__ import annotations

GB = 1e9
GIB = 2.0**30
GIB_PER_GB = GB / GIB
HOURS_PER_DAY = 24.0
HOURS_PER_WEEK = 168.0
HOURS_PER_MONTH = 730.0
HOURS_PER_YEAR = 8760.0
SECONDS_PER_HOUR = 3600.0

TERM_HOURS = {
    "hour": 1.0,
    "day": HOURS_PER_DAY,
    "week": HOURS_PER_WEEK,
    "month": HOURS_PER_MONTH,
    "year": HOURS_PER_YEAR,
}
