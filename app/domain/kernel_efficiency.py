"""What a GPU's kernels really reach: matrix products, attention, streaming, by class of card.

A card that has no figure of its own takes its class's: silicon generation with kind of memory, then generation, then the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.domain.calibration import DEFAULT, Calibration
from app.domain.gpus import PRECISIONS, Gpu, Precision
from app.domain.hardware import Floats, HardwareColumns, Ints
from app.domain.remembered import Remembered

_HBM_GB_S = 930.0
"""Cards at or above this bandwidth that are not sold to gamers carry HBM in the generations where both kinds exist."""
_MATRIX_PRECISIONS = ("bf16", "fp16", "fp8")


def gpu_classes(gpu: Gpu) -> tuple[str, ...]:
    """Names under which a figure of this card may be found: its own, its generation with kind of memory, its generation, its maker."""
    if gpu.form_factor == "consumer":
        kind = "consumer"
    elif gpu.memory_bandwidth_gb_s >= _HBM_GB_S and gpu.architecture not in {"Ada", "Turing"}:
        kind = "hbm"
    else:
        kind = "gddr"
    return (gpu.name, f"{gpu.architecture} {kind}", gpu.architecture, gpu.vendor)


def of_class(table: Mapping[str, float], gpu: Gpu) -> float:
    """The figure of this card, its class or the default."""
    return next((table[name] for name in gpu_classes(gpu) if name in table), table[DEFAULT])


def base_peak_tflops(gpu: Gpu, precision: Precision) -> float:
    """Dense peak of the products that are not in 8 bits.

    fp8 runs its other products in 16 bits. A card without bf16 runs fp16 with loss scaling; one without 16-bit arithmetic runs fp32.
    """
    half = gpu.bf16_tflops or gpu.fp16_tflops
    full = gpu.fp32_tflops or (half or 1.0) / 8.0
    if precision == "fp32":
        return full
    if precision == "tf32":
        return gpu.tf32_tflops or full
    if precision == "fp16":
        half = gpu.fp16_tflops or half
    return half or full


def matmul_tflops(gpu: Gpu, precision: Precision, calibration: Calibration) -> float:
    """Best sustained matrix-product rate: the measured share of the peak, but no more than the power limit feeds.

    Source of the share: published sweeps of the maximum achievable matmul; of the power rule: cards of one generation that differ in
    their power limit only (A100 SXM and PCIe, H100 SXM and PCIe, L4 and L40S).
    """
    peak = base_peak_tflops(gpu, precision)
    share = of_class(calibration.matmul_share, gpu)
    rate = peak * share
    if precision in _MATRIX_PRECISIONS and gpu.tdp_w:
        rate = min(rate, gpu.tdp_w * of_class(calibration.sustained_tflops_per_watt, gpu))
    return rate


def fp8_gain(gpu: Gpu, share: float) -> float:
    """How much faster 8-bit products run than 16-bit ones on this card: 1 + share · (peak ratio - 1)."""
    half = gpu.bf16_tflops or gpu.fp16_tflops
    if not gpu.fp8_tflops or not half:
        return 1.0
    return 1.0 + share * max(gpu.fp8_tflops / half - 1.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """Rates per row: FLOP/s of block products, of other products (head) and of attention; bytes/s of streaming; the dense peak."""

    block: Floats
    other: Floats
    attention: Floats
    stream: Floats
    peak: Floats
    element_bytes: Floats


def own_peak_tflops(gpu: Gpu, precision: Precision) -> float:
    """The dense peak that MFU is measured against: of the precision itself, where the card has it."""
    return gpu.peak_tflops(precision) or base_peak_tflops(gpu, precision)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """Rates by GPU model and precision (by model alone for ``stream``)."""

    products: Floats
    gains: Floats
    peaks: Floats
    scores: Floats
    stream: Floats


_tables: Remembered[_Tables] = Remembered()
_ELEMENT_BYTES = np.array([4.0 if name in {"fp32", "tf32"} else 2.0 for name in PRECISIONS])


def kernels(hardware: HardwareColumns, precision: Ints, stack_class: str, calibration: Calibration) -> Kernels:
    """The kernel rates of every row."""
    cards = hardware.gpus
    tables = _tables.get((cards, stack_class, calibration), lambda: _tables_of(cards, stack_class, calibration))
    where = (hardware.gpu_index, precision)
    other = tables.products[where]
    return Kernels(
        block=other * tables.gains[where],
        other=other,
        attention=tables.scores[where],
        stream=tables.stream[hardware.gpu_index],
        peak=tables.peaks[where],
        element_bytes=_ELEMENT_BYTES[precision],
    )


def _tables_of(cards: tuple[Gpu, ...], stack_class: str, calibration: Calibration) -> _Tables:
    gemm_share = calibration.gemm_share[stack_class]
    fp8_share = calibration.fp8_share[stack_class]
    return _Tables(
        products=np.array([[matmul_tflops(gpu, name, calibration) * gemm_share * 1e12 for name in PRECISIONS] for gpu in cards]),
        gains=np.array([[fp8_gain(gpu, fp8_share) if name == "fp8" else 1.0 for name in PRECISIONS] for gpu in cards]),
        peaks=np.array([[own_peak_tflops(gpu, name) * 1e12 for name in PRECISIONS] for gpu in cards]),
        scores=np.array([[_attention_rate(gpu, name, calibration) for name in PRECISIONS] for gpu in cards]),
        stream=np.array([gpu.memory_bandwidth_gb_s * 1e9 * calibration.bandwidth_share for gpu in cards]),
    )


def _attention_rate(gpu: Gpu, precision: Precision, calibration: Calibration) -> float:
    """FLOP/s of attention kernels: their share of the peak, lowered as far as the power limit lowers matrix products."""
    peak = base_peak_tflops(gpu, precision)
    powered = min(1.0, matmul_tflops(gpu, precision, calibration) / (peak * of_class(calibration.matmul_share, gpu)))
    return peak * 1e12 * of_class(calibration.attention_share, gpu) * powered


def attention_width_share(head_dim: float | Floats) -> float | Floats:
    """Attention kernels on narrow heads do more softmax for each product: d/(d + 64), 1 at the usual width of 128.

    Source: speed of fused attention at head widths 64 and 128 (arXiv:2307.08691, figures 4-6).
    """
    return 1.5 * head_dim / (head_dim + 64.0)
