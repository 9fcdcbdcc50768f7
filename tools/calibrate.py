"""Fits the constants of the speed model on measured runs: ``python -m tools.calibrate FACTS [--check]``.

Only constants that app/data/calibration.toml gives ``bounds`` are fitted. Its ``prior`` pulls at each, in the scale of its
bounds, so that what no row decides stays where physics put it; its weight is the one with the least error on sources left out. Better
software is never slower: see calibration_order.py. Every source
weighs by the square root of its rows. Prints the errors of the fit on all rows and, refitted without each source in turn, on that source.
Writes the file unless ``--check`` is given.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from app.catalog.calibration import CALIBRATION_FILE, calibration_of
from app.domain.drift import Z90
from app.domain.hardware import Floats
from tools.calibration_file import Constant, read_constants, write_constants
from tools.calibration_order import Space
from tools.calibration_rows import Observations, observations

_PRIOR_WIDTHS = 6.0
"""The range of a constant's bounds, in standard deviations of its prior."""
_PRIOR_WEIGHT = 0.4
LEFT_OUT_FILE = Path(__file__).resolve().parents[1] / "docs" / "accuracy-left-out.md"
_NEAR = 0.25
_FEWEST_ROWS = 10
_OUTLIER = 0.25
"""ln-error beyond which a row's pull grows only linearly."""


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--check", action="store_true", help="print only")
    parser.add_argument("--quick", action="store_true", help="no leave-one-source-out")
    options = parser.parse_args()
    rows = observations(options.facts)
    constants = read_constants(CALIBRATION_FILE)
    fitted = fit(constants, rows, evaluations=100)
    left_out = None if options.quick else leave_one_source_out(fitted, rows)
    residuals = log_ratios(fitted, rows)
    print(_line("all rows, fitted", residuals))
    if left_out is not None:
        print(_line("each source left out of its fit", left_out))
        fitted = with_sigmas(fitted, rows, left_out)
    for source in sorted(set(rows.sources)):
        of_source = np.array([name == source for name in rows.sources])
        out = "" if left_out is None else _line("left out", left_out[of_source])
        print(f"  {source:45s} {_line('', residuals[of_source])}  {out}")
    if not options.check:
        write_constants(CALIBRATION_FILE, fitted)
        if left_out is not None:
            LEFT_OUT_FILE.write_text(left_out_page(rows, residuals, left_out), encoding="utf-8")


def left_out_page(rows: Observations, fitted: Floats, left_out: Floats) -> str:
    """The errors of every source, by constants fitted with and without it, as a page of Markdown."""
    lines = [
        "# Errors of the speed model with each source left out of the fit",
        "",
        "Written by `make calibrate`. Each source was predicted by constants that were fitted without any of its rows; that is the",
        "figure to trust. A source is a publication: the same tables quoted under two names count as one.",
        "",
        "| source | rows | median error, fitted | median error, left out | within ±25 %, left out | bias, left out |",
        "|---|---|---|---|---|---|",
    ]
    for source in ("all", *sorted(set(rows.sources))):
        chosen = np.array([source in ("all", name) for name in rows.sources])
        own, out = np.abs(np.expm1(fitted[chosen])), np.abs(np.expm1(left_out[chosen]))
        bias = math.expm1(float(np.median(left_out[chosen])))
        lines.append(
            f"| {source} | {chosen.sum()} | {np.median(own):.1%} | {np.median(out):.1%} | {np.mean(out <= _NEAR):.0%} | {bias:+.1%} |"
        )
    return "\n".join(lines) + "\n"


def _line(name: str, residuals: Floats) -> str:
    errors = np.abs(np.exp(residuals) - 1.0)
    return (
        f"{name} n={len(residuals)} median {np.median(errors):.1%} p90 {np.quantile(errors, 0.9):.1%} "
        f"±25% {np.mean(errors <= _NEAR):.0%} bias {math.expm1(float(np.median(residuals))):+.1%}"
    )


def log_ratios(constants: Sequence[Constant], rows: Observations) -> Floats:
    """ln(estimate / measured) of every row."""
    return rows.log_estimates(calibration_of({constant.name: constant.plain() for constant in constants})) - rows.log_measured


def fit(constants: Sequence[Constant], rows: Observations, evaluations: int, keep: Floats | None = None) -> list[Constant]:
    """The constants with the least weighted error; ``keep`` (0 or 1 a row) leaves rows out."""
    space = Space(constants)
    weights = rows.weights if keep is None else rows.weights * keep

    def errors(position: Floats) -> Floats:
        pull = space.from_prior(position) * _PRIOR_WIDTHS * math.sqrt(_PRIOR_WEIGHT) * _OUTLIER / 2.0
        residuals = log_ratios(space.placed(position), rows)
        soft = np.sign(residuals) * _OUTLIER * np.sqrt(2.0 * (np.sqrt(1.0 + (residuals / _OUTLIER) ** 2) - 1.0))
        return np.concatenate([soft * weights, pull])

    start = np.clip(space.position(), 0.001, 0.999)
    found = least_squares(errors, start, bounds=(0.0, 1.0), max_nfev=evaluations, diff_step=1e-3)
    return space.placed(found.x)


def leave_one_source_out(constants: Sequence[Constant], rows: Observations) -> Floats:
    """ln(estimate / measured) of every row by constants that were fitted without the row's source."""
    result = np.zeros(len(rows.sources))
    for source in sorted(set(rows.sources)):
        out = np.array([name == source for name in rows.sources])
        without = fit(constants, rows, evaluations=10, keep=(~out).astype(np.float64))
        result[out] = log_ratios(without, rows)[out]
    return result


def with_sigmas(constants: Sequence[Constant], rows: Observations, left_out: Floats) -> list[Constant]:
    """The constants with the spreads of the left-out residuals: each class's 80 % range, as a standard deviation."""
    sigma = next(constant for constant in constants if constant.name == "sigma")
    value = dict(sigma.value)
    spread = {}
    for name, chosen in rows.classes.items():
        if chosen.sum() >= _FEWEST_ROWS:
            spread[name] = float(np.quantile(np.abs(left_out[chosen]), 0.8)) / Z90
    for name, wide in spread.items():
        print(f"  spread of {name}: {wide:.3f} ({int(rows.classes[name].sum())} rows)")
        value[name] = round(wide, 3)
    return [constant.with_value(value) if constant.name == "sigma" else constant for constant in constants]


if __name__ == "__main__":
    main()
