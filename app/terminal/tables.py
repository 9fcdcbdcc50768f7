"""Answers as text for a terminal of 100 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 100


def console() -> Console:
    """Standard output, 100 columns wide, also into a pipe or a file."""
    return Console(file=sys.stdout, width=WIDTH, highlight=False, soft_wrap=False)


def table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; a column is its title and whether it is right-aligned."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for title, right in columns:
        made.add_column(Text(title), justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def number(value: float | None, digits: int = 3) -> str:
    """A figure with ``digits`` significant digits, grouped; ``?`` when it is unknown."""
    if value is None:
        return "?"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - _magnitude(value))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _magnitude(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def age(hours: float | None) -> str:
    """An age in the unit that suits it; ``no date`` when it is unknown."""
    if hours is None:
        return "no date"
    if hours < 48:  # noqa: PLR2004 - below two days hours read better
        return f"{hours:.0f} h"
    return f"{hours / 24:.0f} d"
