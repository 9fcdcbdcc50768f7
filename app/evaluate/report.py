"""From scores to figures and tables: what the evaluation commands print and write."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.evaluate.score import Score

_NEAR = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Errors of a set of rows, as shares: ``bias`` is the median of predicted / measured - 1, ``within_25`` the share within ±25 %."""

    rows: int
    median_error: float
    p90_error: float
    within_25: float
    bias: float
    inside_p10_p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One evaluated file.

    ``skipped`` counts rows without a prediction by reason; ``unscored`` rows were predicted but report nothing to compare.
    """

    rows: int
    skipped: Mapping[str, int]
    unscored: int
    total: Summary | None
    constant_mfu: Summary | None
    groups: Mapping[str, Summary]


def compared(scores: Sequence[Score]) -> list[Score]:
    """The rows that have both a prediction and a measurement."""
    return [score for score in scores if score.predicted is not None and score.measured is not None]


def summarise(scores: Sequence[Score], predicted: Callable[[Score], float | None] = lambda score: score.predicted) -> Summary | None:
    """The errors of ``scores``; None when none can be compared. ``predicted`` picks the prediction, the model's by default."""
    pairs = [(value, score.measured, score) for score in compared(scores) if (value := predicted(score)) is not None]
    ratios = [value / measured for value, measured, _ in pairs if measured]
    if not ratios:
        return None
    errors = sorted(abs(ratio - 1.0) for ratio in ratios)
    inside = [score for _, measured, score in pairs if measured and (score.p10 or 0.0) <= measured <= (score.p90 or math.inf)]
    return Summary(
        rows=len(ratios),
        median_error=statistics.median(errors),
        p90_error=errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)],
        within_25=sum(error <= _NEAR for error in errors) / len(errors),
        bias=statistics.median(ratios) - 1.0,
        inside_p10_p90=len(inside) / len(ratios),
    )


def report(scores: Sequence[Score]) -> Report:
    """All figures of one file."""
    groups = sorted({score.group for score in scores if score.group})
    found = {group: summarise([score for score in scores if score.group == group]) for group in groups}
    return Report(
        rows=len(scores),
        skipped=dict(sorted(Counter(score.skipped for score in scores if score.skipped is not None).items())),
        unscored=sum(score.skipped is None and score.measured is None for score in scores),
        total=summarise(scores),
        constant_mfu=summarise(scores, lambda score: score.constant_mfu),
        groups={group: summary for group, summary in found.items() if summary is not None},
    )


def json_line(score: Score) -> dict[str, object]:
    """One row of ``--out``: the prediction, or the reason why there is none."""
    if score.skipped is not None:
        return {"id": score.row_id, "skipped": score.skipped}
    return {"id": score.row_id, "tokens_per_second_per_gpu": score.predicted, "p10": score.p10, "p90": score.p90}


def table(rows: Sequence[tuple[str, Summary | None]]) -> list[str]:
    """A Markdown table of summaries by name."""
    lines = [
        "| rows | n | median error | 90th percentile | within ±25 % | bias | inside P10-P90 |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, summary in rows:
        if summary is not None:
            lines.append(
                f"| {name} | {summary.rows} | {summary.median_error:.1%} | {summary.p90_error:.1%} | {summary.within_25:.0%} "
                f"| {summary.bias:+.1%} | {summary.inside_p10_p90:.0%} |"
            )
    return lines


def text(found: Report) -> str:
    """The report in words and one table."""
    used = 0 if found.total is None else found.total.rows
    lines = [f"{found.rows} rows: {used} compared, {found.unscored} predicted without a measurement to compare."]
    lines += [f"skipped {count}: {reason}" for reason, count in found.skipped.items()]
    rows: list[tuple[str, Summary | None]] = [("all", found.total), *found.groups.items(), ("constant MFU of 0.4, all", found.constant_mfu)]
    return "\n".join([*lines, "", *table(rows)])
