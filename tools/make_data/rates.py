"""Exchange rates of the European Central Bank: units of each currency per euro, as published, with their day.

Thinned: every currency on the newest day and on the last published day of each week; the dollar, yuan and pound on every day.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from app.domain.market import Rate
from tools.make_data.facts_files import rows_of

SOURCE = "ECB"
_DAILY = frozenset({"USD", "CNY", "GBP"})


def rates(history: Path) -> list[Rate]:
    """Rates from the bank's history file (ISO date first, then one column a currency, ``N/A`` for dead ones)."""
    rows = rows_of(history)
    days = [date.fromisoformat(row["Date"]) for row in rows]
    last_of_week: dict[tuple[int, int], date] = {}
    for day in sorted(days):
        last_of_week[day.isocalendar()[:2]] = day
    whole = {max(days), *last_of_week.values()}
    found: list[Rate] = []
    for row, day in zip(rows, days, strict=True):
        for currency, text in row.items():
            if currency in {"Date", ""} or text in {"", "N/A"} or (currency not in _DAILY and day not in whole):
                continue
            found.append(Rate(base="EUR", quote=currency, rate=_positive(text, currency, day), day=day, source=SOURCE))
    return sorted(found, key=lambda rate: (rate.day, rate.quote))


def _positive(text: str, currency: str, day: date) -> Decimal:
    try:
        rate = Decimal(text)
    except InvalidOperation as error:
        msg = f"{currency} on {day}: {text!r} is no number"
        raise ValueError(msg) from error
    if rate <= 0:
        msg = f"{currency} on {day}: a rate must be above zero"
        raise ValueError(msg)
    return rate
