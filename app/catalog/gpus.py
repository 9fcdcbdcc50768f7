"""Known GPU models, from app/data/gpus.csv."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from app.domain.gpus import Gpu

_FILE = Path(__file__).resolve().parents[1] / "data" / "gpus.csv"
_TEXT = ("name", "vendor", "architecture", "form_factor", "link", "source_url", "note")
_WHOLE = ("pcie_generation", "release_year")


def load_gpus() -> Mapping[str, Gpu]:
    """All cards by name, sorted by name. Reads the file on every call; callers keep the result."""
    with _FILE.open(encoding="utf-8", newline="") as stream:
        return {row["name"]: gpu_of(row) for row in csv.DictReader(stream)}


def gpu_of(row: Mapping[str, str]) -> Gpu:
    """A card from one row of text; an empty figure is unknown.

    Raises:
        ValueError: a figure is no number.
    """

    def optional(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    text = {name: row[name] for name in _TEXT}
    whole = {name: int(row[name]) for name in _WHOLE}
    return Gpu(
        name=text["name"],
        vendor=text["vendor"],
        architecture=text["architecture"],
        form_factor=text["form_factor"],
        memory_gb=float(row["memory_gb"]),
        usable_memory_gb=float(row["usable_memory_gb"]),
        memory_bandwidth_gb_s=float(row["memory_bandwidth_gb_s"]),
        fp32_tflops=optional("fp32_tflops"),
        tf32_tflops=optional("tf32_tflops"),
        fp16_tflops=optional("fp16_tflops"),
        bf16_tflops=optional("bf16_tflops"),
        fp8_tflops=optional("fp8_tflops"),
        link=text["link"],
        link_gb_s=float(row["link_gb_s"]),
        pcie_generation=whole["pcie_generation"],
        tdp_w=optional("tdp_w"),
        release_year=whole["release_year"],
        source_url=text["source_url"],
        note=text["note"],
    )
