"""Coefficients of the memory model, each with its unit and where it comes from.

"Fitted" means: on published peaks (litgpt resource tables and configuration hub, fms-acceleration reference results, ms-swift benchmark
page, torchtitan benchmarks). "Data type" means: it follows from the number of bytes of a stored element.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCoefficients:
    """Bytes saved for backward per token and layer: ``hidden``·h + ``ffn``·f, 16-bit compute, memory-efficient attention."""

    hidden: float
    ffn: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConstants:
    """All numbers of the memory model that are not sizes of data types."""

    gated_full: LayerCoefficients = LayerCoefficients(hidden=30.0, ffn=8.0)
    """Gated MLP, RMSNorm in fp32, every weight trained. Fitted."""
    gated_lora_all: LayerCoefficients = LayerCoefficients(hidden=34.0, ffn=8.0)
    """The same with adapters on all linears. Fitted."""
    gated_lora_qv: LayerCoefficients = LayerCoefficients(hidden=26.0, ffn=5.0)
    """The same with adapters on the query and value projections only. Fitted."""
    gelu_full: LayerCoefficients = LayerCoefficients(hidden=18.0, ffn=4.0)
    """GELU MLP, LayerNorm in 16 bits; equals the 34h of arXiv 2205.05198 at f = 4h."""
    gelu_lora_all: LayerCoefficients = LayerCoefficients(hidden=26.0, ffn=4.0)
    """Fitted."""
    gelu_lora_qv: LayerCoefficients = LayerCoefficients(hidden=14.0, ffn=4.0)
    """Fitted."""
    fused: LayerCoefficients = LayerCoefficients(hidden=18.0, ffn=6.0)
    """Gated layer with fused norm, rotary and activation kernels, or compiled. Fitted."""
    four_bit_inputs: LayerCoefficients = LayerCoefficients(hidden=6.0, ffn=2.0)
    """A 4-bit linear stores its input, a frozen 16-bit one does not; counted where nothing is recomputed. Data type."""
    checkpoint_hidden: float = 2.0
    """Full recomputation keeps each layer's input: bytes per token and layer as a multiple of h. Data type."""
    checkpoint_hidden_sharded: float = 4.0
    """The same in backward under full sharding. Fitted: slope of 774 KB a token on two ranks, 528 KB on one (Llama 3 8B)."""
    in_flight: float = 1.12
    """The recomputed layer, as a multiple of what one layer keeps. Fitted."""
    selective_share: float = 0.5
    """Selective recomputation keeps this share of a fused layer. Fitted."""
    scores_kept: float = 5.0
    """Attention without flash, nothing recomputed: bytes per token and layer as a multiple of heads·s (arXiv 2205.05198)."""
    scores_in_flight: float = 16.0
    """The same for the one layer being recomputed, softmax in fp32. Fitted."""
    loss_stock_bytes: float = 11.6
    """Bytes per logit of the ordinary cross-entropy on 16-bit logits. Fitted."""
    loss_fused_bytes: float = 7.4
    """Bytes per logit of a fused cross-entropy kernel that still sees whole logits. Fitted."""
    loss_hidden: float = 25.0
    """Bytes per token at the loss as a multiple of h: last hidden states, their norm, their gradient. Fitted."""
    moments_8bit_bytes: float = 2.0 + 2.0 / 64.0
    """Two 8-bit moments with one fp32 scale per 256 values each (arXiv 2110.02861)."""
    nf4_bytes: float = 0.5 + 4.0 / 64.0
    """4 bits and one fp32 scale a block of 64 (arXiv 2305.14314)."""
    nf4_double_bytes: float = 0.516
    """The same with quantised scales (arXiv 2305.14314)."""
    host_ram_factor: float = 1.5
    """Host memory per offloaded byte: pinned staging buffers. A 33B ZeRO-3 offload run used 750-800 GB for 520 GB of states."""
    central_factor: float = 1.03
    central_gb: float = 0.8
    """Device reading = 1.03 · allocated + 0.8 GB: allocator rounding, context, kernels, communication buffers. Fitted."""
    cautious_factor: float = 1.15
    cautious_gb: float = 1.5
    """Upper form, samples of mixed lengths: what ``fits`` demands. Fitted on 435 verdicts."""
    activation_bytes_per_flop: float = 0.004
    """Networks without a known shape: saved bytes per FLOP of forward and backward, a convolutional network's (ResNet-50: about 0.1 GB for
    25 GFLOP a sample); transformers need ten times less. An assumption, said in the plan."""
    activations_of_states: float = 0.25
    """Networks of which only the parameter count is known: activations as a share of the model states. An assumption, said in the plan."""


CONSTANTS = MemoryConstants()
