"""app/data/models.csv: the model presets, from the fact sheet of the same name."""

from __future__ import annotations

import csv
from pathlib import Path

SLIDING_SHARE = {
    "gemma-2-2b": "1/2",
    "gemma-2-9b": "1/2",
    "gemma-2-27b": "1/2",
    "gemma-3-270m": "5/6",
    "gemma-3-1b": "22/26",
    "gemma-3-4b": "29/34",
    "gemma-3-12b": "5/6",
    "gemma-3-27b": "52/62",
    "gpt-neo-125m": "1/2",
    "gpt-neo-1.3b": "1/2",
    "gpt-neo-2.7b": "1/2",
    "gpt-oss-20b": "1/2",
    "gpt-oss-120b": "1/2",
    "olmo-3-7b": "3/4",
    "olmo-3-32b": "3/4",
}
"""Share of layers that slide, where not all do.

Gemma 2 (arXiv:2408.00118): every second; Gemma 3 (arXiv:2503.19786): five of six, the last group cut short; GPT-Neo, gpt-oss, OLMo 3: their
published configuration files (``attention_types``, ``layer_types``).
"""


def write(facts: Path, out: Path) -> None:
    """Write ``out/models.csv``: the rows of ``facts/models.csv`` in order of name, with the column ``sliding_share``.

    Raises:
        ValueError: a preset is listed twice, or the table above names one that is not there.
    """
    with (facts / "models.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        rows = {row["preset"]: row for row in reader}
        if reader.line_num - 1 != len(rows):
            msg = "models.csv: a preset is listed twice, or a cell spans lines"
            raise ValueError(msg)
    unknown = sorted(set(SLIDING_SHARE) - set(rows))
    if unknown:
        msg = f"no such presets: {', '.join(unknown)}"
        raise ValueError(msg)
    columns.insert(columns.index("sliding_window") + 1, "sliding_share")
    with (out / "models.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for name in sorted(rows):
            share = SLIDING_SHARE.get(name, "1" if rows[name]["sliding_window"] else "")
            writer.writerow({**rows[name], "sliding_share": share})
