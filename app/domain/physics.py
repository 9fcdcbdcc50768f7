"""What memory.py and throughput.py answer, in columns (one row a candidate) and for one plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.domain.hardware import Bools, Floats, Ints

Verdict = Literal["fits", "tight", "does_not_fit"]
VERDICTS: tuple[Verdict, ...] = ("fits", "tight", "does_not_fit")
PEAK_PHASES = ("loss", "backward", "end_of_backward", "optimizer_step", "load")
BREAKDOWN = ("weights", "gradients", "optimizer", "activations", "logits", "overhead")
FACTORS = ("kernel", "communication", "recompute", "bubble", "data_loading", "checkpoint_stall")
BOTTLENECKS = (
    "compute",
    "memory_bandwidth",
    "intra_node_link",
    "inter_node_network",
    "pipeline_bubble",
    "dequantisation",
    "offload",
    "data_loading",
    "optimizer",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryColumns:
    """Per row, GB (10^9) per GPU. ``needed_gb`` is the likely device reading, ``cautious_gb`` the careful one that `fits` demands.

    ``breakdown_gb`` holds the six BREAKDOWN terms at the peak; they sum to ``needed_gb``. ``host_ram_gb`` is needed on each node.
    ``host_unknown``: it is needed and nobody says how much there is. ``verdict`` indexes VERDICTS, ``peak_phase`` PEAK_PHASES.
    """

    needed_gb: Floats
    cautious_gb: Floats
    available_gb: Floats
    host_ram_gb: Floats
    host_unknown: Bools
    verdict: Ints
    peak_phase: Ints
    breakdown_gb: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedColumns:
    """Per row. ``units_per_second`` counts the job's units (tokens for language models) over all GPUs, before data loading and goodput.

    ``factors`` holds FACTORS, each in (0, 1], their product with the dense peak gives MFU-like efficiency. ``sigma`` is the standard
    deviation of ln(real speed / estimate) of this class of row. ``bottleneck`` indexes BOTTLENECKS. ``network_assumed``: several nodes on
    a network that nobody stated.
    """

    units_per_second: Floats
    seconds_per_step: Floats
    mfu: Floats
    hfu: Floats
    scaling_efficiency: Floats
    sigma: Floats
    bottleneck: Ints
    network_assumed: Bools
    factors: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Memory of one plan."""

    verdict: Verdict
    needed_gb_per_gpu: float
    available_gb_per_gpu: float
    peak_phase: str
    breakdown_gb: Mapping[str, float]
    host_ram_gb_per_node: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedEstimate:
    """Speed of one plan. ``tokens_per_second`` is None for networks that do not count tokens; ``units_per_second`` always stands."""

    units_per_second: float
    unit: str
    tokens_per_second: float | None
    tokens_per_second_p10: float | None
    tokens_per_second_p90: float | None
    seconds_per_step: float
    mfu: float | None
    hfu: float | None
    efficiency: float | None
    scaling_efficiency: float
    bottleneck: str
    factors: Mapping[str, float]
    basis: Literal["model", "measured", "stated"]
    sigma: float
