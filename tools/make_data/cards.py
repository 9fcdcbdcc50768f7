"""gpus.csv: dense peaks, memory and links of each card, with the memory a process can really use."""

from __future__ import annotations

from app.domain.gpus import Gpu
from tools.make_data.usable_memory import usable_memory_gb

COLUMNS = (
    "name",
    "vendor",
    "architecture",
    "form_factor",
    "memory_gb",
    "usable_memory_gb",
    "memory_bandwidth_gb_s",
    "fp32_tflops",
    "tf32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "link",
    "link_gb_s",
    "pcie_generation",
    "tdp_w",
    "release_year",
    "source_url",
    "note",
)
_GENERIC = {"A800-80GB": "A800-PCIE-80GB"}
"""Cards whose sellers do not state the form: the slower PCIe card's figures, no link, as the facts do for the A100."""


def gpus(rows: list[dict[str, str]]) -> dict[str, Gpu]:
    """All cards by name, sorted."""
    cards = {row["model"]: _card(row) for row in rows}
    for generic, like in _GENERIC.items():
        if generic in cards or like not in cards:
            continue
        known = next(row for row in rows if row["model"] == like)
        cards[generic] = _card(
            {**known, "model": generic, "form_factor": "unspecified", "intra_node_link": "unknown", "nvlink_bandwidth_gb_s": "0"}
        )
    return dict(sorted(cards.items()))


def _optional(text: str) -> float | None:
    return float(text) if text else None


def _note(row: dict[str, str]) -> str:
    note = row["note"].casefold()
    parts = []
    if row["form_factor"] == "unspecified":
        parts.append("form factor unknown: PCIe figures, no NVLink")
    if "unconfirmed" in note or "no public sheet" in note:
        parts.append("unconfirmed")
    if "from memory" in note:
        parts.append("not all figures re-read on the maker's sheet")
    if "half rate with FP32 accumulate" in row["fp16_accumulate_note"]:
        parts.append("16-bit rates with FP32 accumulation, half of the FP16-accumulate rate")
    if "per chip" in note:
        parts.append("per chip")
    if "disputed" in note:
        parts.append("bandwidth disputed")
    return "; ".join(parts)


def _card(row: dict[str, str]) -> Gpu:
    bf16 = _optional(row["bf16_tflops_dense"])
    return Gpu(
        name=row["model"],
        vendor=row["vendor"],
        architecture=row["architecture"],
        form_factor=row["form_factor"],
        memory_gb=float(row["memory_gb"]),
        usable_memory_gb=usable_memory_gb(row["model"], float(row["memory_gb"]), row["vendor"]),
        memory_bandwidth_gb_s=float(row["memory_bandwidth_gb_s"]),
        fp32_tflops=_optional(row["fp32_tflops"]),
        tf32_tflops=_optional(row["tf32_tflops_dense"]),
        fp16_tflops=_optional(row["fp16_tflops_dense"]),
        bf16_tflops=bf16 if row["supports_bf16"] == "yes" else None,
        fp8_tflops=_optional(row["fp8_tflops_dense"]) if row["supports_fp8"] == "yes" else None,
        link=row["intra_node_link"],
        link_gb_s=float(row["nvlink_bandwidth_gb_s"] or 0),
        pcie_generation=int(row["pcie_gen"] or 0),
        tdp_w=_optional(row["tdp_w"]),
        release_year=int(row["release_year"]),
        source_url=row["source_url"],
        note=_note(row),
    )
