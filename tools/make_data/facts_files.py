"""Reading of facts files: CSV rows as plain text, nothing interpreted."""

from __future__ import annotations

import csv
from pathlib import Path


def rows_of(path: Path) -> list[dict[str, str]]:
    """All rows of a CSV file as dictionaries of stripped text.

    Raises:
        ValueError: a row has more or fewer fields than the header.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        rows: list[dict[str, str]] = []
        for row in reader:
            if None in row or any(value is None for value in row.values()):
                msg = f"{path.name}:{reader.line_num}: wrong number of fields"
                raise ValueError(msg)
            rows.append({name: value.strip() for name, value in row.items()})
        return rows
