from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.domain.configuration import ConfigurationColumns
from app.domain.hardware import HardwareColumns
from app.domain.llm import training_flops_per_token
from app.domain.physics import BOTTLENECKS, FACTORS
from app.domain.throughput import estimate_speed, speed_notes
from app.domain.workload import CustomNetwork, ModelSpec, TargetSpec
from tests.unit.speed_jobs import CALIBRATION, GPUS, job, layout, machine, rate, speed


def test_a_published_pretraining_run_is_met_within_a_fifth():
    # InternLM-7B on 256 A100, 2048 tokens, 4 M tokens a step: 3,920 tokens/s and GPU (InternEvo train performance)
    task = job("internlm-7b", global_batch_sequences=2048, stack="megatron")
    got = rate(task, machine(nodes=32, gbit_s=400.0), layout(micro_batch=2, sharding="zero1")) / 256
    assert got == pytest.approx(3920, rel=0.2)


def test_factors_multiply_to_mfu_against_the_rows_own_peak():
    found = speed(
        job(precision="fp8", stack="megatron"),
        machine("H100-SXM5-80GB", nodes=4),
        layout(precision="fp8", tensor_parallel=2, pipeline_parallel=2, sharding="zero1"),
    )
    product = np.prod([found.factors[name] for name in FACTORS])
    assert product == pytest.approx(float(found.mfu[0]), rel=1e-9)
    flops = training_flops_per_token(job().model, "pretrain", 2048)
    assert float(found.mfu[0]) == pytest.approx(float(found.units_per_second[0]) * flops / (32 * 1979e12), rel=1e-9)


def test_full_recompute_costs_a_sixth_to_a_quarter_of_the_speed():
    plain, again = (rate(job(), machine(), layout(activation_checkpointing=policy)) for policy in ("none", "full"))
    assert 0.74 < again / plain < 0.85


def test_hardware_utilisation_counts_what_is_repeated():
    found = speed(job(), machine(), layout(activation_checkpointing="full"))
    assert 1.25 < float(found.hfu[0] / found.mfu[0]) < 1.34


def test_fp8_gains_less_than_the_peak_promises():
    task = job("llama-2-70b", stack="megatron", sequence_length=4096)
    hardware = machine("H100-SXM5-80GB", nodes=8, gbit_s=3200.0)
    half, eight = (
        rate(task, hardware, layout(precision=name, micro_batch=1, tensor_parallel=4, sharding="zero1")) for name in ("bf16", "fp8")
    )
    assert 1.2 < eight / half < 1.6


def test_adapters_train_up_to_half_again_as_fast_as_all_weights():
    full = rate(job(method="full"), machine(), layout())
    adapted = rate(job(method="lora"), machine(), layout())
    assert 1.2 < adapted / full < 1.6


def test_four_bit_weights_cost_a_fixed_time_a_micro_step_so_short_ones_suffer_most():
    def loss(tokens: int) -> float:
        shape = {"sequence_length": tokens, "global_batch_sequences": 8, "stack": "hf_trainer"}
        hardware = machine(gpus_per_node=1)
        return rate(job("qwen-14b", method="qlora", **shape), hardware, layout(micro_batch=1)) / rate(
            job("qwen-14b", method="lora", **shape), hardware, layout(micro_batch=1)
        )

    assert loss(256) < 0.55
    assert loss(4096) > 0.75
    assert loss(4096) < 1.0


def test_the_bubble_shrinks_with_more_micro_steps():
    task = job("llama-2-70b", global_batch_sequences=1024)
    few, many = (
        speed(
            replace(task, global_batch_sequences=count, units_per_step=count * 2048.0),
            machine(nodes=8),
            layout(micro_batch=1, pipeline_parallel=8, sharding="zero1"),
        )
        for count in (64, 1024)
    )
    assert float(few.factors["bubble"][0]) < 0.6
    assert float(many.factors["bubble"][0]) > 0.9


def test_expert_models_are_counted_by_active_parameters():
    dense = rate(job("llama-2-70b"), machine(nodes=8), layout(micro_batch=1))
    sparse = rate(job("mixtral-8x7b"), machine(nodes=8), layout(micro_batch=1))
    assert sparse > 2.5 * dense  # by active weights 5.4 times the speed, less gathering all of them; by total weights 1.5 times


def test_a_fixed_batch_on_more_gpus_than_sequences_gains_nothing_but_idle_cards():
    task = job(global_batch_sequences=16)
    small, large = (speed(task, machine(nodes=nodes), layout(micro_batch=1)) for nodes in (2, 16))
    assert float(large.units_per_second[0]) < 1.2 * float(small.units_per_second[0])
    assert float(large.scaling_efficiency[0]) < 0.2


def test_slow_ethernet_is_named_as_the_bottleneck():
    found = speed(job(), machine(nodes=4, gbit_s=10.0), layout())
    assert BOTTLENECKS[found.bottleneck[0]] == "inter_node_network"


def test_an_unknown_network_widens_the_interval():
    known, unknown = (float(speed(job(), machine(nodes=4, gbit_s=value), layout()).sigma[0]) for value in (1600.0, None))
    assert unknown > known


def test_rows_on_a_network_that_nobody_stated_are_marked():
    marks = [bool(speed(job(), machine(nodes=nodes, gbit_s=value), layout()).network_assumed[0]) for nodes, value in
             ((4, None), (4, 400.0), (1, None))]  # fmt: skip
    assert marks == [True, False, False]


def test_a_custom_network_on_a_network_that_nobody_stated_is_marked_too():
    custom = ModelSpec(custom=CustomNetwork(flops_per_sample=1e12))
    task = job(model=custom, target=TargetSpec(samples=1e6, epochs=1.0), sequence_length=None)
    assert bool(speed(task, machine(nodes=2, gbit_s=None), layout(sharding="none")).network_assumed[0])
    assert speed_notes(task) == ("network_efficiency_assumed",)


def test_the_class_that_stands_for_unknown_software_is_said():
    assert speed_notes(job(stack="unknown")) == ("stack_unknown_taken_as_ordinary",)
    assert speed_notes(job(stack="fsdp")) == ()


def test_an_unknown_stack_is_taken_as_ordinary_with_a_wider_interval():
    named, unnamed = (speed(job(stack=stack), machine(), layout()) for stack in ("fsdp", "unknown"))
    assert float(named.units_per_second[0]) == float(unnamed.units_per_second[0])
    assert float(unnamed.sigma[0]) > float(named.sigma[0])


@pytest.mark.parametrize("gpu", ["A100-SXM4-80GB", "H100-SXM5-80GB", "B200-SXM-180GB", "RTX4090-24GB", "L4-24GB"])
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
@pytest.mark.parametrize(("sharding", "nodes"), [("none", 1), ("zero2", 1), ("zero3", 1), ("zero3", 4)])
def test_plainer_software_is_never_faster_in_the_same_layout(gpu, method, sharding, nodes):
    hardware = machine(gpu, nodes=nodes, link="nvlink" if GPUS[gpu].link_gb_s else "pcie")
    rates = [
        rate(job(method=method, stack=stack, sequence_length=512), hardware, layout(sharding=sharding))
        for stack in ("megatron", "fsdp", "unsloth", "hf_trainer")
    ]
    assert rates == sorted(rates, reverse=True)


def test_offloading_to_the_host_is_slower_than_keeping_everything_on_the_card():
    kept, away = (rate(job(global_batch_sequences=8), machine(), layout(micro_batch=1, offload=where)) for where in ("none", "optimizer"))
    assert away < 0.5 * kept


def test_a_column_gives_each_row_what_it_gives_alone():
    shapes = [machine(name, nodes=nodes, link="nvlink" if GPUS[name].link_gb_s else "pcie") for name in sorted(GPUS) for nodes in (1, 4)]
    columns = estimate_speed(job(), HardwareColumns.of(shapes), ConfigurationColumns.of([layout()] * len(shapes)), CALIBRATION)
    alone = [rate(job(), shape, layout()) for shape in shapes]
    assert columns.units_per_second == pytest.approx(alone, rel=1e-12)


def test_a_custom_network_runs_at_a_stated_share_of_the_peak():
    spec = {
        "model": ModelSpec(custom=CustomNetwork(flops_per_sample=1e12)),
        "target": TargetSpec(samples=1e6, epochs=1.0),
        "sequence_length": None,
    }
    got = rate(job(**spec), machine(gpus_per_node=1), layout(sharding="none"))
    assert got == pytest.approx(312e12 * CALIBRATION.custom_efficiency / 1e12, rel=1e-6)


def test_gradients_of_a_custom_network_slow_many_gpus_on_a_slow_network():
    def efficiency(billions: float | None) -> float:
        custom = CustomNetwork(flops_per_sample=1e11, parameters_b=billions)
        task = job(
            model=ModelSpec(custom=custom), target=TargetSpec(samples=1e6, epochs=1.0), sequence_length=None, global_batch_sequences=64
        )
        return float(speed(task, machine(nodes=8, gbit_s=10.0), layout(sharding="none")).scaling_efficiency[0])

    assert efficiency(1.0) < 0.5
    assert efficiency(None) > 0.9
