"""The time of one optimizer step as a sum of named times, for many machines and layouts at once. Every formula of the step stands here.

step = [ micro-steps · (compute + exposed tensor, expert and shard traffic + dequantisation + weight offload) · (1 + bubble)
+ exposed gradient traffic + optimizer + offloaded update + fixed ] · stragglers
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.calibration import Calibration
from app.domain.configuration import ATTENTION_KERNELS, OFFLOADS, RECOMPUTES, SHARDINGS, ConfigurationColumns, data_parallel_ranks
from app.domain.hardware import Bools, Floats, HardwareColumns
from app.domain.kernel_efficiency import Kernels, attention_width_share, kernels
from app.domain.network import Links, links, ring_seconds
from app.domain.step_work import StepWork
from app.domain.workload import OPTIMIZERS

_DEQUANTISATION_BANDWIDTH = 2.039e12
"""Memory bandwidth, bytes/s, of the card that the de-quantisation time was measured on (A100-SXM4-80GB)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Sizes of the parallel groups, as floats.

    ``data`` counts data-parallel ranks, ``data_inside`` those of one node; ``split`` = tensor · pipeline. ``micro_tokens`` are the tokens
    of one micro-step of one replica.
    """

    tensor: Floats
    pipeline: Floats
    split: Floats
    gpus: Floats
    gpus_per_node: Floats
    data: Floats
    data_inside: Floats
    micro_tokens: Floats
    micro_steps: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeconds:
    """Seconds of one optimizer step by cause; they sum to ``total``. Traffic is what compute does not hide.

    ``ideal`` is the useful work at the dense peak of every GPU, so ideal / total is MFU. ``used_share`` is the share of the micro-steps'
    room that the global batch fills.
    """

    arithmetic: Floats
    streaming: Floats
    recompute: Floats
    dequantisation: Floats
    offload: Floats
    update: Floats
    fixed: float
    bubble: Floats
    inside_traffic: Floats
    between_traffic: Floats
    jitter: Floats
    total: Floats
    ideal: Floats
    used_share: Floats
    network_assumed: Bools


def step_seconds(
    work: StepWork, stack: str, hardware: HardwareColumns, configuration: ConfigurationColumns, calibration: Calibration
) -> StepSeconds:
    """The times of every row for software of class ``stack``."""
    layout = _layout(work, hardware, configuration)
    rates = kernels(hardware, configuration.precision, stack, calibration)
    wires = links(hardware, calibration)
    steps = layout.micro_steps

    arithmetic, streaming, recompute = _compute_seconds(work, layout, rates, configuration, stack, calibration)
    busy = arithmetic + streaming + recompute
    model_parallel = _model_parallel_seconds(work, layout, wires, configuration, calibration) * (1.0 - calibration.tensor_overlap[stack])
    gather, reduce_ = _data_parallel_seconds(work, layout, wires, rates, configuration, calibration)
    overlap = calibration.overlap[stack]
    gather = gather - overlap * np.minimum(gather, busy)
    reduce_ = reduce_ - overlap * np.minimum(reduce_, busy * (1.0 - 1.0 / work.passes))
    dequantisation = _dequantisation_seconds(work, layout, rates, configuration, calibration)
    fetch, update, update_away = _update_seconds(work, layout, wires, rates, configuration, calibration)

    micro = busy + model_parallel + gather + dequantisation + fetch
    bubble = steps * micro * ((layout.pipeline - 1.0) / (calibration.virtual_stages[stack] * steps))
    fixed = calibration.step_seconds[stack]
    before_jitter = steps * micro + bubble + reduce_ + update + update_away + fixed
    jitter = before_jitter * (calibration.loss_per_doubling * np.log2(hardware.nodes.astype(np.float64)))
    shared = steps * gather + reduce_
    several = hardware.nodes > 1
    return StepSeconds(
        arithmetic=steps * arithmetic,
        streaming=steps * streaming,
        recompute=steps * recompute,
        dequantisation=steps * dequantisation,
        offload=steps * fetch + update_away,
        update=update,
        fixed=fixed,
        bubble=bubble,
        inside_traffic=steps * model_parallel + np.where(several, 0.0, shared),
        between_traffic=np.where(several, shared, 0.0),
        jitter=jitter,
        total=before_jitter + jitter,
        ideal=np.asarray(work.units_per_step * work.model_flops / (layout.gpus * rates.peak)),
        used_share=np.minimum(work.sequences * work.sequence_length / (layout.micro_tokens * steps * layout.data), 1.0),
        network_assumed=wires.node_assumed,
    )


def _layout(work: StepWork, hardware: HardwareColumns, configuration: ConfigurationColumns) -> Layout:
    """The groups. Surplus ranks stand idle and are paid for; a layout for more GPUs than there are is cut to those that exist.

    A layout whose accumulation does not make the global batch is timed for the micro-steps that do; the search builds none such.
    """
    gpus = hardware.total_gpus
    tensor = np.clip(configuration.tensor_parallel, 1, gpus)
    pipeline = np.clip(configuration.pipeline_parallel, 1, gpus // tensor)
    inside = hardware.gpus_per_node.astype(np.float64)
    data = data_parallel_ranks(gpus, tensor * pipeline).astype(np.float64)
    micro = np.maximum(configuration.micro_batch, 1).astype(np.float64)
    needed = np.ceil(work.sequences / (micro * data))
    return Layout(
        tensor=tensor.astype(np.float64),
        pipeline=pipeline.astype(np.float64),
        split=(tensor * pipeline).astype(np.float64),
        gpus=gpus.astype(np.float64),
        gpus_per_node=inside,
        data=data,
        data_inside=np.clip(np.floor(inside / tensor), 1.0, data),
        micro_tokens=np.asarray(micro * work.sequence_length),
        micro_steps=np.maximum(configuration.gradient_accumulation.astype(np.float64), needed),
    )


def _compute_seconds(
    work: StepWork, layout: Layout, rates: Kernels, configuration: ConfigurationColumns, stack: str, calibration: Calibration
) -> tuple[Floats, Floats, Floats]:
    """Seconds of one micro-step: arithmetic; streaming (memory-bound kernels, weight reads, launches left uncovered); recompute."""
    tokens = layout.micro_tokens / layout.split
    slowdown = (1.0 + calibration.tensor_gemm_loss * np.log2(layout.tensor)) * np.asarray(work.active_share) ** -calibration.moe_exponent
    block = tokens * work.block_forward * slowdown / rates.block
    head = tokens * work.head_forward / rates.other
    scores = tokens * (work.score_forward / attention_width_share(work.head_dim)) / rates.attention
    arithmetic = work.passes * (block + head) + 3.0 * scores

    eager = configuration.attention == ATTENTION_KERNELS.index("eager")
    score_bytes = work.heads * work.sequence_length * work.layers * calibration.eager_score_bytes
    stored = np.where(eager, tokens * score_bytes / rates.stream, 0.0)
    passing = tokens * (work.widths * calibration.elementwise_bytes[stack] / 2.0) * rates.element_bytes / rates.stream
    logits = tokens * (work.vocabulary * calibration.logit_bytes) / rates.stream
    touched = np.minimum(work.parameters, work.active_parameters * layout.micro_tokens) / layout.split
    weights_read = touched * rates.element_bytes / rates.stream
    streaming = passing + logits + stored + work.passes * weights_read

    policy = configuration.activation_checkpointing
    again = block + scores + (passing + stored) / 3.0 + weights_read
    recompute = np.where(policy == RECOMPUTES.index("full"), again, 0.0)
    recompute = np.where(policy == RECOMPUTES.index("selective"), scores + stored / 3.0, recompute)

    launch = calibration.launch_seconds_per_layer[stack] * (work.layers / layout.pipeline)
    launch = launch * (1.0 + work.adapted * (calibration.lora_launch_factor - 1.0))
    waiting = launch * launch / (launch + arithmetic + streaming + recompute)  # busy + waiting is a smooth maximum of busy and launch
    return arithmetic, streaming + waiting, recompute


def _model_parallel_seconds(
    work: StepWork, layout: Layout, wires: Links, configuration: ConfigurationColumns, calibration: Calibration
) -> Floats:
    """Seconds of one micro-step's tensor-parallel all-reduces and expert all-to-alls, nothing hidden.

    Tensor parallel: 4 all-reduces of 2 bytes a token and hidden unit in each layer (arXiv:2104.04473), 2 more when the forward pass is
    repeated. Experts: 4 all-to-alls of top-k · hidden · 2 bytes a token and layer, among the GPUs of one node.
    """
    across = layout.tensor > layout.gpus_per_node
    rate = np.where(across, np.minimum(wires.intra, wires.node), wires.intra)
    reduces = np.where(configuration.activation_checkpointing == RECOMPUTES.index("full"), 6.0, 4.0)
    payload = layout.micro_tokens * (2.0 * work.hidden)
    latency = calibration.collective_seconds * np.log2(layout.tensor)
    tensor = reduces * (work.layers / layout.pipeline) * (2.0 * ring_seconds(payload, layout.tensor, rate) + latency)
    ranks = np.minimum(np.minimum(layout.gpus_per_node, layout.gpus), work.experts)
    traffic = layout.micro_tokens * (8.0 * work.expert_width) / layout.split
    return np.asarray(tensor + ring_seconds(traffic, ranks, wires.intra))


def _data_parallel_seconds(
    work: StepWork, layout: Layout, wires: Links, rates: Kernels, configuration: ConfigurationColumns, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Seconds of shard traffic in one micro-step and of gradient traffic in one step, nothing hidden.

    Bytes per scheme as in ZeRO (arXiv:1910.02054): DDP and ZeRO-1 reduce gradients once a step; ZeRO-2, which keeps only shards of them,
    scatters them in every micro-step and gathers weights once a step; ZeRO-3 gathers weights twice and scatters gradients once in every
    micro-step; hybrid does that inside the node and reduces shards between nodes once a step.
    """
    sharding = configuration.sharding
    zero3 = sharding == SHARDINGS.index("zero3")
    hybrid = sharding == SHARDINGS.index("hybrid")
    spanned = np.ceil(layout.data / layout.data_inside)
    groups = np.maximum(layout.gpus_per_node / layout.data_inside, 1.0)
    between = np.where(spanned > 1.0, wires.node / groups, wires.intra)
    ring = np.where(layout.data_inside > 1.0, np.minimum(wires.intra, between), between)

    weight = work.parameters / layout.split * rates.element_bytes
    gradient = work.trained / layout.split * rates.element_bytes
    ranks = np.where(hybrid, layout.data_inside, layout.data)
    latency = 3.0 * (work.layers / layout.pipeline) * calibration.collective_seconds * np.log2(ranks)
    gather = ring_seconds(2.0 * weight * work.gathered_share + gradient, ranks, np.where(hybrid, wires.intra, ring)) + latency
    scatter = ring_seconds(gradient, layout.data, ring) + latency / 3.0
    zero2 = sharding == SHARDINGS.index("zero2")
    gather = np.where(zero3 | hybrid, gather, np.where(zero2, scatter, 0.0))

    latency_once = calibration.collective_seconds * work.layers * np.log2(layout.data)
    whole = 2.0 * ring_seconds(gradient, layout.data, ring) + latency_once
    shards = 2.0 * ring_seconds(gradient / layout.data_inside, spanned, wires.node / layout.gpus_per_node)
    once = np.where(hybrid, shards, np.where(zero2, whole / 2.0, whole))
    return gather, np.where(zero3, 0.0, once)


def _dequantisation_seconds(
    work: StepWork, layout: Layout, rates: Kernels, configuration: ConfigurationColumns, calibration: Calibration
) -> Floats:
    """Seconds of one micro-step to expand 4-bit weights: a fixed time, whatever the number of tokens."""
    bandwidth = rates.stream / (_DEQUANTISATION_BANDWIDTH * calibration.bandwidth_share)
    seconds = work.quantised * calibration.dequantisation_seconds_per_billion * (work.parameters / 1e9) / (layout.split * bandwidth)
    again = configuration.activation_checkpointing == RECOMPUTES.index("full")
    return np.asarray(seconds * np.where(again, 1.0 + calibration.dequantisation_passes_recompute, 1.0))


def _update_seconds(
    work: StepWork, layout: Layout, wires: Links, rates: Kernels, configuration: ConfigurationColumns, calibration: Calibration
) -> tuple[Floats, Floats, Floats]:
    """Seconds of fetching offloaded weights (a micro-step), of an update on the GPU, and of one in host memory (a step)."""
    sharding = configuration.sharding
    hybrid = sharding == SHARDINGS.index("hybrid")
    ranks = np.where(sharding == SHARDINGS.index("none"), 1.0, np.where(hybrid, layout.data_inside, layout.data))
    owned = work.trained / (layout.split * ranks)
    table = np.array([calibration.optimizer_bytes[name] for name in OPTIMIZERS])
    device = np.asarray(owned * table[configuration.optimizer] / rates.stream)
    away = configuration.offload != OFFLOADS.index("none")
    if not away.any():
        zero = np.zeros_like(device)
        return zero, device, zero
    per_node = owned * layout.gpus_per_node
    home = owned * (2.0 * rates.element_bytes) / wires.host + per_node / calibration.host_adam_parameters_per_second
    sharded = (sharding == SHARDINGS.index("zero3")) | hybrid
    passes = np.where(configuration.activation_checkpointing == RECOMPUTES.index("full"), 3.0, 2.0)
    held = work.parameters * work.gathered_share / (layout.split * np.where(sharded, ranks, 1.0))
    fetch = passes * held * rates.element_bytes / wires.host
    everything = configuration.offload == OFFLOADS.index("parameters")
    return np.where(everything, fetch, 0.0), np.where(away, 0.0, device), np.where(away, home, 0.0)
