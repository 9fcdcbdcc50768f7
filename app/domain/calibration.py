"""The constants of the speed model: physics with few numbers, each with a meaning, a unit and a source.

Values live in app/data/calibration.toml, which also says where each comes from: a published figure, a judgement, or the fit that
``tools/calibrate.py`` does on measured runs. No constant belongs to one row, one source or one model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All constants of the speed model.

    Mappings ``*_by_stack`` have a key for every stack class of STACK_CLASSES; mappings by GPU class have the key ``default``.

    Attributes:
        matmul_share: best achievable share of the dense 16-bit peak in a large matrix product (MAMF), by GPU name, GPU class or default.
        sustained_tflops_per_watt: 16-bit matrix TFLOP/s that a class sustains per watt of its power limit; caps cards with little power.
        attention_share: share of the dense 16-bit peak that fused attention reaches, scores counted with the causal half only.
        fp8_share: how much of the fp8 peak's advantage over 16 bits a matrix product keeps (1: all, 0: none), by stack class.
        bandwidth_share: share of the memory bandwidth that streaming kernels reach.
        gemm_share: matrix products of a training step relative to the best achievable matmul, by stack class.
        elementwise_bytes: bytes moved per token, layer and unit of width by everything between the matrix products of one forward and
            backward pass, by stack class.
        logit_bytes: bytes moved per token and vocabulary entry by head and loss.
        eager_score_bytes: bytes moved per token, head, position and layer when attention scores are stored.
        launch_seconds_per_layer: host time to launch one layer's kernels, forward and backward, by stack class.
        lora_launch_factor: how many more launches a layer with adapters needs.
        step_seconds: fixed time of an optimizer step (data hand-over, clipping, logging), by stack class.
        moe_exponent: matrix products of mixture-of-experts models run at (active / total parameters) ** exponent of the dense rate.
        dequantisation_seconds_per_billion: to expand 10^9 4-bit weights once for a forward and once for a backward pass on an A100-80GB.
        dequantisation_passes_recompute: extra share of that time when the forward pass is repeated.
        optimizer_bytes: bytes moved per updated parameter, by optimizer.
        host_adam_parameters_per_second: parameters that a node's processors update in a second.
        link_share: usable share of a link's nominal one-way rate, by link.
        pcie_gb_s: nominal one-way rate of 16 lanes, GB/s, by generation.
        pcie_consumer_share: share left on GeForce-class cards, which have no peer-to-peer copies.
        network_share: usable share of the nominal network rate between nodes.
        assumed_network_gbit_s: network of a node for each eight of its GPUs when nobody states it, by GPU class (conservative).
        assumed_machine_gbit_s: the same of a machine with fewer than eight GPUs, whatever the class.
        collective_seconds: latency of one collective operation per doubling of its ranks.
        overlap: share of communication hidden behind compute while there is compute to hide behind, by stack class.
        tensor_overlap: the same for tensor- and expert-parallel traffic, by stack class.
        tensor_gemm_loss: extra time of matrix products per doubling of the tensor-parallel width.
        virtual_stages: interleaved stages on one GPU (pipeline), by stack class.
        loss_per_doubling: time lost to stragglers and jitter per doubling of the number of nodes.
        custom_efficiency: share of the peak of a network of which only FLOPs are known.
        sigma: standard deviation of ln(measured/estimated), by class of row, and widenings.
    """

    matmul_share: Mapping[str, float]
    sustained_tflops_per_watt: Mapping[str, float]
    attention_share: Mapping[str, float]
    fp8_share: Mapping[str, float]
    bandwidth_share: float
    gemm_share: Mapping[str, float]
    elementwise_bytes: Mapping[str, float]
    logit_bytes: float
    eager_score_bytes: float
    launch_seconds_per_layer: Mapping[str, float]
    lora_launch_factor: float
    step_seconds: Mapping[str, float]
    moe_exponent: float
    dequantisation_seconds_per_billion: float
    dequantisation_passes_recompute: float
    optimizer_bytes: Mapping[str, float]
    host_adam_parameters_per_second: float
    link_share: Mapping[str, float]
    pcie_gb_s: Mapping[str, float]
    pcie_consumer_share: float
    network_share: float
    assumed_network_gbit_s: Mapping[str, float]
    assumed_machine_gbit_s: float
    collective_seconds: float
    overlap: Mapping[str, float]
    tensor_overlap: Mapping[str, float]
    tensor_gemm_loss: float
    virtual_stages: Mapping[str, float]
    loss_per_doubling: float
    custom_efficiency: float
    sigma: Mapping[str, float]


STACK_CLASSES = ("tuned", "ordinary", "script", "fused")
"""``tuned``: Megatron-class kernels and overlap. ``ordinary``: FSDP or DeepSpeed training code with flash attention, torch.compile in
torchtitan included. ``script``: a plain fine-tuning loop. ``fused``: hand-written fine-tuning kernels (unsloth)."""

STACK_CLASS_OF: Mapping[str, str] = {
    "megatron": "tuned",
    "torchtitan": "ordinary",
    "fsdp": "ordinary",
    "deepspeed": "ordinary",
    "unknown": "ordinary",
    "hf_trainer": "script",
    "unsloth": "fused",
}
"""The stack class of each stack a caller can name. An unknown stack is taken as ordinary, and its interval is widened."""
