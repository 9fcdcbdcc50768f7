"""What is known of a GPU model: dense peaks, memory, links. Figures come from app/data/gpus.csv, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Precision = Literal["bf16", "fp16", "fp8", "tf32", "fp32"]
PRECISIONS: tuple[Precision, ...] = ("bf16", "fp16", "fp8", "tf32", "fp32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU (or TPU, Gaudi, …) model.

    Rates are dense TFLOP/s (10^12 per second), with FP32 accumulation, never the sparse figure. ``None`` means that the card does not
    support the precision or that no figure is known. Memory is in GB = 10^9 bytes; ``usable_memory_gb`` is what a process can really
    allocate (driver and ECC taken off). ``link_gb_s`` is the vendor's own link, total of both directions per GPU, 0 when there is none.
    """

    name: str
    vendor: str
    architecture: str
    form_factor: str
    memory_gb: float
    usable_memory_gb: float
    memory_bandwidth_gb_s: float
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    fp8_tflops: float | None
    link: str
    link_gb_s: float
    pcie_generation: int
    tdp_w: float | None
    release_year: int
    source_url: str
    note: str = ""

    def peak_tflops(self, precision: Precision) -> float | None:
        """Dense peak in ``precision``, or None when the card cannot run it (no silent fall-back)."""
        return {
            "bf16": self.bf16_tflops,
            "fp16": self.fp16_tflops,
            "fp8": self.fp8_tflops,
            "tf32": self.tf32_tflops,
            "fp32": self.fp32_tflops,
        }[precision]
