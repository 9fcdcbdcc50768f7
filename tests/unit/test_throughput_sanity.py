from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.domain.configuration import LOSS_KERNELS, OFFLOADS, RECOMPUTES, SHARDINGS, Configuration
from app.domain.gpus import PRECISIONS
from app.domain.hardware import INTRA_LINKS
from app.domain.workload import METHODS, STACKS, Architecture, ModelSpec
from tests.unit.speed_jobs import GPUS, job, layout, machine, rate, speed

MODELS = st.sampled_from(
    [
        ModelSpec(architecture=Architecture(parameters_b=0.1)),
        ModelSpec(preset="llama-2-7b"),
        ModelSpec(preset="deepseek-v3"),
        ModelSpec(architecture=Architecture(parameters_b=2000.0, active_parameters_b=60.0)),
    ]
)
LAYOUTS = st.builds(
    Configuration,
    precision=st.sampled_from(PRECISIONS),
    micro_batch=st.sampled_from([1, 4, 64]),
    gradient_accumulation=st.sampled_from([1, 7, 512]),
    activation_checkpointing=st.sampled_from(RECOMPUTES),
    sharding=st.sampled_from(SHARDINGS),
    tensor_parallel=st.sampled_from([1, 2, 8, 16]),
    pipeline_parallel=st.sampled_from([1, 4, 64]),
    offload=st.sampled_from(OFFLOADS),
    loss=st.sampled_from(LOSS_KERNELS),
)
CARDS = st.sampled_from(sorted(GPUS))


@given(
    model=MODELS,
    method=st.sampled_from(METHODS),
    stack=st.sampled_from(STACKS),
    sequence=st.sampled_from([64, 2048, 1_000_000]),
    batch=st.sampled_from([1, 100, 16_384]),
    gpu=CARDS,
    per_node=st.sampled_from([1, 2, 8]),
    nodes=st.sampled_from([1, 3, 12_500]),
    link=st.sampled_from(INTRA_LINKS),
    gbit_s=st.sampled_from([None, 1.0, 3200.0]),
    configuration=LAYOUTS,
)
def test_every_number_of_every_odd_row_is_finite_and_positive(
    model, method, stack, sequence, batch, gpu, per_node, nodes, link, gbit_s, configuration
):
    task = job(model=model, method=method, stack=stack, sequence_length=sequence, global_batch_sequences=batch)
    hardware = replace(machine(gpu, per_node, nodes, link, gbit_s), intra_node_link=link)
    found = speed(task, hardware, configuration)
    for value in (found.units_per_second, found.seconds_per_step, found.mfu, found.hfu, found.scaling_efficiency, found.sigma):
        assert np.isfinite(value).all()
        assert (value > 0).all()
    assert float(found.mfu[0]) < 1.0
    assert all(0 < float(factor[0]) <= 1 for factor in found.factors.values())


@given(gpu=CARDS, slow=st.floats(1, 3200), more=st.floats(1, 100), configuration=LAYOUTS)
def test_a_faster_network_is_never_slower(gpu, slow, more, configuration):
    task = job()
    before = rate(task, machine(gpu, 8, 4, "pcie", slow), configuration)
    assert rate(task, machine(gpu, 8, 4, "pcie", slow * more), configuration) >= before * (1 - 1e-12)


@given(gpu=CARDS, more=st.floats(1, 10), precision=st.sampled_from(PRECISIONS))
def test_a_card_with_a_higher_peak_and_power_limit_is_never_slower(gpu, more, precision):
    card = GPUS[gpu]
    names = ("fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "tdp_w")
    better = replace(card, **{name: value * more for name in names if (value := getattr(card, name)) is not None})
    hardware = machine(gpu, 8, 1, "pcie")
    configuration = layout(precision=precision)
    assert rate(job(), replace(hardware, gpu=better), configuration) >= rate(job(), hardware, configuration) * (1 - 1e-12)


@given(gpu=CARDS, more=st.floats(1, 10), configuration=LAYOUTS)
def test_a_card_with_more_memory_bandwidth_of_its_class_is_never_slower(gpu, more, configuration):
    card = GPUS[gpu]
    hardware = machine(gpu, 8, 1, "pcie")
    better = replace(
        card, memory_bandwidth_gb_s=card.memory_bandwidth_gb_s * more if card.memory_bandwidth_gb_s >= 930 else card.memory_bandwidth_gb_s
    )
    assert rate(job(), replace(hardware, gpu=better), configuration) >= rate(job(), hardware, configuration) * (1 - 1e-12)


@given(gpu=CARDS, nodes=st.sampled_from([1, 2, 8, 64]))
def test_no_number_of_gpus_does_more_a_gpu_than_one_gpu_without_traffic(gpu, nodes):
    task = job()
    one = rate(task, machine(gpu, 1, 1), layout(sharding="none", gradient_accumulation=1))
    many = machine(gpu, 8, nodes, "pcie")
    assert rate(task, many, layout(sharding="none")) / many.gpus <= one * 1.001
