"""How long one optimizer step takes, and so how many tokens a second a job does, for many machines and layouts at once.

The step is a sum of times (docs/estimation.md derives each):

    step = [ micro-steps · (compute + exposed tensor, expert and shard traffic + dequantisation + weight offload) · (1 + bubble)
             + exposed gradient traffic + optimizer + offloaded update + fixed ] · stragglers

One estimate is a column of length one; the arithmetic is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.calibration import STACK_CLASS_OF, Calibration
from app.domain.configuration import ATTENTION_KERNELS, OFFLOADS, RECOMPUTES, SHARDINGS, ConfigurationColumns
from app.domain.custom_speed import estimate_custom_speed
from app.domain.hardware import Floats, HardwareColumns
from app.domain.kernel_efficiency import Kernels, attention_width_share, kernels
from app.domain.network import Links, links, ring_seconds
from app.domain.physics import BOTTLENECKS, SpeedColumns
from app.domain.speed_error import sigma_of
from app.domain.step_work import StepWork, step_work
from app.domain.workload import OPTIMIZERS, TrainingJob

_DEQUANTISATION_BANDWIDTH = 2.039e12
"""Memory bandwidth of the card that the de-quantisation time was measured on (A100-SXM4-80GB), bytes/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Sizes of the parallel groups, as floats: ``data`` ranks in all, ``data_inside`` of them in one node, ``split`` = tensor · pipeline."""

    tensor: Floats
    pipeline: Floats
    split: Floats
    gpus: Floats
    gpus_per_node: Floats
    data: Floats
    data_inside: Floats
    micro_tokens: Floats
    micro_steps: Floats


def estimate_speed(
    job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, calibration: Calibration
) -> SpeedColumns:
    """Speed of ``job`` on every row of ``hardware`` laid out as the same row of ``configuration``.

    Every row gets a finite, positive speed. Whether it fits in memory, and whether the card has the precision, is for others to say.
    """
    if job.model is None:
        return estimate_custom_speed(job, hardware, configuration, calibration)
    work = step_work(job, job.model)
    layout = _layout(job, hardware, configuration)
    stack = STACK_CLASS_OF[job.stack]
    rates = kernels(hardware, configuration.precision, stack, calibration)
    wires = links(hardware, calibration)

    compute, streaming, recompute = _compute_seconds(job, work, layout, rates, configuration, stack, calibration)
    busy = compute + streaming + recompute
    tensor, expert = _model_parallel_seconds(work, layout, wires, configuration, calibration)
    hidden_model = 1.0 - calibration.tensor_overlap[stack]
    tensor, expert = tensor * hidden_model, expert * hidden_model
    gather, reduce_ = _data_parallel_seconds(work, layout, wires, rates, configuration, calibration)
    overlap = calibration.overlap[stack]
    gather = gather - overlap * np.minimum(gather, busy)
    backward = busy * ((work.passes - 1.0) / work.passes)
    reduce_ = reduce_ - overlap * np.minimum(reduce_, backward)
    dequantisation = _dequantisation_seconds(job, work, layout, rates, configuration, calibration)
    weights_home, update_home, update = _update_seconds(work, layout, wires, rates, configuration, calibration)

    steps = layout.micro_steps
    micro = busy + tensor + expert + gather + dequantisation + weights_home
    bubble = (layout.pipeline - 1.0) / (calibration.virtual_stages[stack] * steps)
    bubble_seconds = steps * micro * bubble
    fixed = calibration.step_seconds[stack]
    nodes = hardware.nodes.astype(np.float64)
    jitter = 1.0 + calibration.loss_per_doubling * np.log2(nodes)
    total = (steps * micro + bubble_seconds + reduce_ + update + update_home + fixed) * jitter

    ideal = job.units_per_step * work.model_flops / (layout.gpus * rates.peak)
    kernel_seconds = steps * (compute + streaming + dequantisation + weights_home) + update + update_home + fixed
    recompute_seconds = kernel_seconds + steps * recompute
    with_bubble = recompute_seconds + bubble_seconds
    mfu = ideal / total
    ones = np.ones_like(total)
    within, between = np.where(nodes > 1.0, 0.0, gather + reduce_ / steps), np.where(nodes > 1.0, gather + reduce_ / steps, 0.0)
    shares = np.stack(
        [
            compute + recompute,
            streaming,
            tensor + expert + within,
            between,
            bubble_seconds / steps,
            dequantisation,
            weights_home + update_home / steps,
            np.zeros_like(total),
            update / steps,
        ]
    )
    assert len(shares) == len(BOTTLENECKS)  # noqa: S101  # the order above is the order of the names
    full = configuration.activation_checkpointing == RECOMPUTES.index("full")
    repeated = work.block_forward + work.score_forward
    hardware_flops = np.where(full, work.model_flops + repeated, work.model_flops)
    return SpeedColumns(
        units_per_second=job.units_per_step / total,
        seconds_per_step=total,
        mfu=mfu,
        hfu=mfu * hardware_flops / work.model_flops,
        scaling_efficiency=np.minimum(recompute_seconds / total * _used_share(job, layout), 1.0),
        sigma=sigma_of(job, hardware, wires.node_assumed, configuration.precision, calibration),
        bottleneck=np.argmax(shares, axis=0).astype(np.int64),
        factors={
            "kernel": np.minimum(ideal / kernel_seconds, 1.0),
            "communication": with_bubble / total,
            "recompute": kernel_seconds / recompute_seconds,
            "bubble": recompute_seconds / with_bubble,
            "data_loading": ones,
            "checkpoint_stall": ones,
        },
    )


def _layout(job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns) -> _Layout:
    """The groups. The number of micro-steps is at least what the global batch needs; surplus ranks stand idle and are paid for."""
    tensor = np.maximum(configuration.tensor_parallel, 1).astype(np.float64)
    pipeline = np.maximum(configuration.pipeline_parallel, 1).astype(np.float64)
    gpus = hardware.total_gpus.astype(np.float64)
    inside = hardware.gpus_per_node.astype(np.float64)
    split = tensor * pipeline
    data = np.maximum(np.floor(gpus / split), 1.0)
    micro = np.maximum(configuration.micro_batch, 1).astype(np.float64)
    needed = np.ceil(job.global_batch_sequences / (micro * data))
    return _Layout(
        tensor=tensor,
        pipeline=pipeline,
        split=split,
        gpus=gpus,
        gpus_per_node=inside,
        data=data,
        data_inside=np.clip(np.floor(inside / tensor), 1.0, data),
        micro_tokens=micro * job.sequence_length,
        micro_steps=np.maximum(configuration.gradient_accumulation.astype(np.float64), needed),
    )


def _used_share(job: TrainingJob, layout: _Layout) -> Floats:
    """Share of the work done that the global batch asked for: below 1 when ranks outnumber sequences or the last micro-step is part-filled."""
    done = layout.micro_tokens * layout.micro_steps * layout.data
    return np.minimum(job.global_batch_sequences * job.sequence_length / done, 1.0)


def _compute_seconds(
    job: TrainingJob,
    work: StepWork,
    layout: _Layout,
    rates: Kernels,
    configuration: ConfigurationColumns,
    stack: str,
    calibration: Calibration,
) -> tuple[Floats, Floats, Floats]:
    """Seconds of one micro-step: arithmetic, streaming (memory-bound kernels, weight reads, launches beyond them), repeated forward."""
    tokens = layout.micro_tokens / layout.split
    products = 1.0 + calibration.tensor_gemm_loss * np.log2(layout.tensor)
    products *= work.moe_share**-calibration.moe_exponent
    forward_block = tokens * work.block_forward * products / rates.block
    forward_head = tokens * work.head_forward * products / rates.other
    forward_score = tokens * (work.score_forward / attention_width_share(work.head_dim)) / rates.attention
    eager = configuration.attention == ATTENTION_KERNELS.index("eager")
    stored = tokens * (work.score_heads * job.sequence_length * work.layers * calibration.eager_score_bytes)
    stored = np.where(eager, stored, 0.0) / rates.stream
    compute = work.passes * (forward_block + forward_head) + 3.0 * forward_score

    width_bytes = work.widths * calibration.elementwise_bytes[stack] * (rates.element_bytes / 2.0)
    passing = tokens * width_bytes / rates.stream
    logits = tokens * (work.vocabulary * calibration.logit_bytes) / rates.stream
    touched = np.minimum(work.parameters, work.active_parameters * np.maximum(layout.micro_tokens, 1.0)) / layout.split
    weights_read = touched * rates.element_bytes / rates.stream
    streaming = passing + logits + stored + work.passes * weights_read

    policy = configuration.activation_checkpointing
    again_full = forward_block + forward_score + (passing + stored) / 3.0 + weights_read
    again_selective = forward_score + stored / 3.0
    recompute = np.where(policy == RECOMPUTES.index("full"), again_full, 0.0)
    recompute = np.where(policy == RECOMPUTES.index("selective"), again_selective, recompute)

    launch = calibration.launch_seconds_per_layer[stack] * work.layers / layout.pipeline
    if job.method in {"lora", "qlora"}:
        launch = launch * calibration.lora_launch_factor
    busy = compute + streaming + recompute
    waiting = launch * launch / (launch + busy)  # a smooth maximum of busy and launch: busy + waiting
    return compute, streaming + waiting, recompute


def _model_parallel_seconds(
    work: StepWork, layout: _Layout, wires: Links, configuration: ConfigurationColumns, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Seconds of one micro-step's tensor-parallel all-reduces and expert all-to-alls, nothing hidden.

    Tensor parallel: 4 all-reduces of 2 bytes a token and hidden unit in each layer (Narayanan et al. 2021), 2 more when the forward pass is
    repeated. Experts: 4 all-to-alls of top-k · hidden · 2 bytes a token, among the GPUs of one node.
    """
    across = layout.tensor > layout.gpus_per_node
    rate = np.where(across, np.minimum(wires.intra, wires.node), wires.intra)
    reduces = np.where(configuration.activation_checkpointing == RECOMPUTES.index("full"), 6.0, 4.0)
    layers = work.layers / layout.pipeline
    payload = layout.micro_tokens * (2.0 * work.hidden)
    latency = calibration.collective_seconds * np.log2(layout.tensor)
    tensor = reduces * layers * (2.0 * ring_seconds(payload, layout.tensor, rate) + latency)
    if work.expert_traffic_width == 0.0:
        return tensor, np.zeros_like(tensor)
    ranks = np.minimum(np.minimum(layout.gpus_per_node, layout.gpus), work.experts)
    traffic = layout.micro_tokens * (8.0 * work.expert_traffic_width) / layout.split
    return tensor, ring_seconds(traffic, ranks, wires.intra)


def _data_parallel_seconds(
    work: StepWork, layout: _Layout, wires: Links, rates: Kernels, configuration: ConfigurationColumns, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Seconds of shard traffic in one micro-step and of gradient traffic in one step, nothing hidden.

    Bytes per scheme as in ZeRO (arXiv:1910.02054): DDP, ZeRO-1 and -2 reduce gradients once a step; ZeRO-3 gathers weights twice and
    scatters gradients once in every micro-step; hybrid does that inside the node and reduces shards between nodes once a step.
    """
    sharding = configuration.sharding
    zero3 = sharding == SHARDINGS.index("zero3")
    hybrid = sharding == SHARDINGS.index("hybrid")
    nodes_spanned = np.ceil(layout.data / layout.data_inside)
    groups = layout.gpus_per_node / layout.data_inside
    between = np.where(nodes_spanned > 1.0, wires.node / np.maximum(groups, 1.0), np.inf)
    ring = np.minimum(np.where(layout.data_inside > 1.0, wires.intra, np.inf), between)
    ring = np.where(np.isfinite(ring), ring, wires.intra)
    weight_bytes = rates.element_bytes if work.frozen_bytes == 0.0 else work.frozen_bytes
    local = work.parameters / layout.split
    trained = work.trained / layout.split

    shard_ranks = np.where(hybrid, layout.data_inside, layout.data)
    shard_rate = np.where(hybrid, wires.intra, ring)
    passes = 2.0 * local * weight_bytes + trained * rates.element_bytes
    latency = 3.0 * work.layers / layout.pipeline * calibration.collective_seconds
    gather = ring_seconds(passes, shard_ranks, shard_rate) + latency * np.log2(shard_ranks)
    gather = np.where(zero3 | hybrid, gather, 0.0)

    gradient = trained * rates.element_bytes
    latency_once = calibration.collective_seconds * work.layers * np.log2(layout.data)
    reduce_all = 2.0 * ring_seconds(gradient, layout.data, ring) + latency_once
    shard = gradient / layout.data_inside
    rate_between = wires.node / np.maximum(layout.gpus_per_node, 1.0)
    reduce_hybrid = 2.0 * ring_seconds(shard, nodes_spanned, rate_between)
    return gather, np.where(zero3, 0.0, np.where(hybrid, reduce_hybrid, reduce_all))


def _dequantisation_seconds(
    job: TrainingJob,
    work: StepWork,
    layout: _Layout,
    rates: Kernels,
    configuration: ConfigurationColumns,
    calibration: Calibration,
) -> Floats:
    """Seconds of one micro-step to expand 4-bit weights: a fixed time, whatever the number of tokens."""
    if job.method != "qlora":
        return np.zeros_like(layout.split)
    bandwidth = rates.stream / (_DEQUANTISATION_BANDWIDTH * calibration.bandwidth_share)
    seconds = calibration.dequantisation_seconds_per_billion * (work.parameters / 1e9) / (layout.split * bandwidth)
    again = configuration.activation_checkpointing == RECOMPUTES.index("full")
    return np.asarray(seconds * np.where(again, 1.0 + calibration.dequantisation_passes_recompute, 1.0))


def _update_seconds(
    work: StepWork, layout: _Layout, wires: Links, rates: Kernels, configuration: ConfigurationColumns, calibration: Calibration
) -> tuple[Floats, Floats, Floats]:
    """Seconds of fetching offloaded weights (a micro-step), of an update in host memory, and of an update on the GPU (a step)."""
    sharding = configuration.sharding
    ranks = np.where(sharding == SHARDINGS.index("none"), 1.0, layout.data)
    ranks = np.where(sharding == SHARDINGS.index("hybrid"), layout.data_inside, ranks)
    owned = work.trained / (layout.split * ranks)
    table = np.array([calibration.optimizer_bytes[name] for name in OPTIMIZERS])
    device = owned * table[configuration.optimizer] / rates.stream
    away = configuration.offload != OFFLOADS.index("none")
    if not away.any():
        zero = np.zeros_like(device)
        return zero, zero, device
    owned_per_node = owned * np.minimum(layout.gpus_per_node, layout.gpus)
    home = owned * (2.0 * rates.element_bytes) / wires.host + owned_per_node / calibration.host_adam_parameters_per_second
    weight_bytes = rates.element_bytes if work.frozen_bytes == 0.0 else work.frozen_bytes
    weights_sharded = np.where((sharding == SHARDINGS.index("zero3")) | (sharding == SHARDINGS.index("hybrid")), ranks, 1.0)
    again = np.where(configuration.activation_checkpointing == RECOMPUTES.index("full"), 3.0, 2.0)
    fetch = again * work.parameters * weight_bytes / (layout.split * weights_sharded) / wires.host
    all_away = configuration.offload == OFFLOADS.index("parameters")
    return np.where(all_away, fetch, 0.0), np.where(away, home, 0.0), np.where(away, 0.0, device)
