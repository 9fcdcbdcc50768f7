"""Compares the estimates with every file of measured facts and writes docs/accuracy.md: ``python -m tools.evaluate FACTS``."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path

from app.catalog.calibration import load_calibration
from app.catalog.gpus import load_gpus
from app.catalog.models import load_presets
from app.evaluate.finetune import evaluate_finetune
from app.evaluate.report import Report, report, table
from app.evaluate.runs import evaluate_runs
from app.evaluate.scaling import evaluate_scaling

ROOT = Path(__file__).resolve().parents[1]
_HEAD = """# How far the speed estimates lie from measured runs

Written by `make evaluate`. Every row was predicted from its configuration alone; rows that cannot be expressed are skipped by name.
The last line of each table is what a constant MFU of 0.4 of the dense 16-bit peak would say of the same rows. The constants were
fitted on the first two files, so these figures flatter; [accuracy-left-out.md](accuracy-left-out.md) has every source predicted by
constants fitted without it.
"""


def main() -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    facts: Path = parser.parse_args().facts
    known = {"gpus": load_gpus(), "presets": load_presets(), "calibration": load_calibration()}
    parts = [_HEAD]
    for title, name, evaluate in (
        ("Training runs", "runs-calibration.csv", evaluate_runs),
        ("Fine-tuning", "finetune-speed.csv", evaluate_finetune),
        ("Scaling", "scaling-measured.csv", evaluate_scaling),
    ):
        with (facts / name).open(encoding="utf-8", newline="") as file:
            found = report(evaluate(list(csv.DictReader(file)), **known))  # type: ignore[arg-type]
        parts.append("\n".join(section(f"{title} ({name})", found)) + "\n")
    page = "\n".join(parts)
    print(page)
    (ROOT / "docs" / "accuracy.md").write_text(page, encoding="utf-8")


def section(title: str, found: Report) -> Iterable[str]:
    """One file's figures as Markdown."""
    used = 0 if found.total is None else found.total.rows
    yield f"## {title}"
    yield ""
    yield f"{found.rows} rows: {used} compared, {found.unscored} predicted but without a measurement that can be compared."
    if found.skipped:
        yield "Skipped: " + ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in found.skipped.items()) + "."
    yield ""
    yield from table([("all", found.total), *found.groups.items(), ("constant MFU of 0.4", found.constant_mfu)])


if __name__ == "__main__":
    main()
