"""``trainfare evaluate``: predict each row of a file of measurements, compare, write one JSON line a row."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from app.catalog.loader import load_knowledge
from app.domain.knowledge import Knowledge
from app.evaluate.finetune import evaluate_finetune
from app.evaluate.memory import MemoryErrors, MemoryScore, MemorySummary, evaluate_memory, summarize_memory
from app.evaluate.report import json_line, report, text
from app.evaluate.runs import evaluate_runs
from app.evaluate.scaling import evaluate_scaling
from app.evaluate.score import Row, Score
from app.terminal.failure import CommandError

_Evaluated = tuple[Mapping[str, object], str, list[dict[str, object]]]
"""The figures, the same in words, and one line a row."""


def evaluate(options: argparse.Namespace) -> None:
    """Evaluate one file.

    Raises:
        CommandError: the file is no CSV of this kind.
    """
    rows = _rows(options.file)
    try:
        figures, words, lines = _evaluated(options.kind, rows, load_knowledge())
    except KeyError as error:
        raise CommandError.at(options.file, f"no column {error}, which a file of this kind has") from error
    if options.out is not None:
        Path(options.out).write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
    if options.json:
        words = json.dumps(figures, ensure_ascii=False, indent=2)
    sys.stdout.write(f"{words}\n")


def _rows(name: str) -> list[Row]:
    try:
        with Path(name).open(encoding="utf-8-sig", newline="") as file:
            return [{key: value or "" for key, value in row.items() if key} for row in csv.DictReader(file, restval="")]
    except (UnicodeDecodeError, csv.Error) as error:
        raise CommandError.at(name, f"not CSV in UTF-8: {error}") from error


def _evaluated(kind: str, rows: Sequence[Row], knowledge: Knowledge) -> _Evaluated:
    if kind == "memory":
        scores = evaluate_memory(rows, gpus=knowledge.gpus, presets=knowledge.presets)
        summary = summarize_memory(scores)
        return asdict(summary), memory_text(summary), [memory_line(score) for score in scores]
    speeds = _SPEEDS[kind](rows, gpus=knowledge.gpus, presets=knowledge.presets, calibration=knowledge.calibration)
    found = report(speeds)
    return asdict(found), text(found), [json_line(score) for score in speeds]


_SPEEDS: Mapping[str, Callable[..., list[Score]]] = {
    "runs": evaluate_runs,
    "finetune": evaluate_finetune,
    "scaling": evaluate_scaling,
}


def memory_line(score: MemoryScore) -> dict[str, object]:
    """One row of ``--out``: the prediction, or the reason why there is none."""
    if score.skipped is not None:
        return {"id": score.row_id, "skipped": score.skipped}
    return {"id": score.row_id, "verdict": score.verdict, "needed_gb_per_gpu": score.needed_gb_per_gpu}


def memory_text(summary: MemorySummary) -> str:
    """The figures in words and one table."""
    lines = [f"{summary.used} rows used, {sum(summary.skipped.values())} skipped."]
    lines += [f"skipped {count}: {reason}" for reason, count in summary.skipped.items()]
    lines += ["", "| meter | n | median error | 90th percentile | bias |", "|---|---|---|---|---|"]
    overall: Iterable[tuple[str, MemoryErrors | None]] = [("all", summary.overall), *summary.by_meter.items()]
    lines += [
        f"| {name} | {errors.rows} | {errors.median_percent:.1f}% | {errors.p90_percent:.1f}% | {errors.bias_percent:+.1f}% |"
        for name, errors in overall
        if errors is not None
    ]
    lines += ["", f"False fits: {summary.false_fits} of {summary.ran_out} rows that ran out of memory."]
    lines += [f"False OOMs: {summary.false_ooms} of {summary.ran} rows that ran."]
    return "\n".join(lines)
