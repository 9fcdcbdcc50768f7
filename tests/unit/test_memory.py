"""What memory must obey, whatever the job."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.configuration import OFFLOADS, RECOMPUTES, SHARDINGS, Configuration, ConfigurationColumns
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.memory import estimate_memory, memory_notes, memory_of_row
from app.domain.memory_states import MemoryRecipe
from app.domain.physics import PEAK_PHASES, VERDICTS
from app.domain.workload import CustomNetwork, Measurement, ModelSpec
from tests.unit.memory_jobs import A100_40, A100_80, H100_80, LLAMA3_8B, LLAMA_7B, LLAMA_13B, MIXTRAL, RTX4090, job_of

METHODS = ("pretrain", "full", "lora", "qlora")
configurations = st.builds(
    Configuration,
    precision=st.sampled_from(["bf16", "fp16", "fp32"]),
    micro_batch=st.integers(1, 16),
    gradient_accumulation=st.integers(1, 8),
    activation_checkpointing=st.sampled_from(RECOMPUTES),
    sharding=st.sampled_from(SHARDINGS),
    tensor_parallel=st.sampled_from([1, 2, 4]),
    pipeline_parallel=st.sampled_from([1, 2, 4]),
    offload=st.sampled_from(OFFLOADS),
    optimizer=st.sampled_from(["adamw", "adamw_8bit", "adafactor", "sgd"]),
    attention=st.sampled_from(["flash", "eager"]),
    loss=st.sampled_from(["stock", "fused"]),
)
jobs = st.builds(
    lambda model, method, length, stack: job_of(model, method, sequence_length=length, stack=stack),
    st.sampled_from([LLAMA_7B, LLAMA3_8B, LLAMA_13B, MIXTRAL]),
    st.sampled_from(METHODS),
    st.sampled_from([512, 2048, 8192]),
    st.sampled_from(["megatron", "fsdp", "deepspeed", "hf_trainer", "unsloth", "torchtitan", "unknown"]),
)


def estimate(job, configuration, gpu=A100_80, gpus=8, nodes=2, ram=None, recipe=None):
    hardware = HardwareColumns.of([Hardware(gpu=gpu, gpus_per_node=gpus, nodes=nodes, ram_gb_per_node=ram)])
    return estimate_memory(job, hardware, ConfigurationColumns.of([configuration]), recipe)


def needed(job, configuration, **where):
    return float(estimate(job, configuration, **where).needed_gb[0])


@given(jobs, configurations)
def test_the_breakdown_sums_to_the_need(job, configuration):
    memory = estimate(job, configuration)
    assert sum(float(part[0]) for part in memory.breakdown_gb.values()) == pytest.approx(float(memory.needed_gb[0]), rel=1e-9)
    assert all(float(part[0]) >= 0.0 for part in memory.breakdown_gb.values())


@given(jobs, configurations)
def test_the_cautious_figure_is_never_below_the_likely_one(job, configuration):
    memory = estimate(job, configuration)
    assert memory.cautious_gb[0] >= memory.needed_gb[0] > 0.0


@given(jobs, configurations)
def test_a_larger_micro_batch_never_needs_less(job, configuration):
    assert needed(job, replace(configuration, micro_batch=configuration.micro_batch + 1)) >= needed(job, configuration)


@given(jobs, configurations)
def test_more_nodes_never_need_more_per_gpu_under_sharding(job, configuration):
    sharded = replace(configuration, sharding="zero3", tensor_parallel=1, pipeline_parallel=1)
    assert needed(job, sharded, nodes=4) <= needed(job, sharded, nodes=2) + 1e-9


@given(jobs, configurations)
def test_offload_never_needs_more_on_the_gpu_and_needs_host_memory(job, configuration):
    plain = replace(configuration, sharding="zero3", tensor_parallel=1, pipeline_parallel=1, offload="none", optimizer="adamw")
    moved = estimate(job, replace(plain, offload="parameters"))
    assert moved.needed_gb[0] <= estimate(job, plain).needed_gb[0] + 1e-9
    assert moved.host_ram_gb[0] > 0.0


@given(jobs, configurations)
def test_one_row_is_the_same_alone_and_in_company(job, configuration):
    other = Configuration(micro_batch=4, sharding="zero2")
    hardware = HardwareColumns.of([Hardware(gpu=A100_80, gpus_per_node=8, nodes=2), Hardware(gpu=RTX4090, gpus_per_node=2)])
    both = estimate_memory(job, hardware, ConfigurationColumns.of([configuration, other]))
    assert both.needed_gb[0] == estimate(job, configuration).needed_gb[0]


@pytest.mark.parametrize("sharding", SHARDINGS[1:4])
def test_each_higher_stage_needs_less(sharding):
    job = job_of(LLAMA_13B, "full")
    lower = SHARDINGS[SHARDINGS.index(sharding) - 1]
    checkpointed = Configuration(activation_checkpointing="full")
    assert needed(job, replace(checkpointed, sharding=sharding)) < needed(job, replace(checkpointed, sharding=lower))


def test_hybrid_needs_what_one_node_would():
    job, layout = job_of(LLAMA_13B, "full"), Configuration(activation_checkpointing="full", sharding="hybrid")
    assert needed(job, layout, nodes=4) == pytest.approx(needed(job, replace(layout, sharding="zero3"), nodes=1))


def test_recomputation_saves_memory_where_activations_decide():
    job = job_of(LLAMA_7B, "lora", sequence_length=4096)
    figures = [needed(job, Configuration(micro_batch=4, activation_checkpointing=kind)) for kind in ("full", "selective", "none")]
    assert figures == sorted(figures)
    assert figures[0] < figures[2]


def test_without_sharding_several_ranks_hold_their_gradients_twice_and_one_rank_once():
    job = job_of(LLAMA_7B, "full", stack="deepspeed")
    alone, eight = (
        estimate(job, Configuration(activation_checkpointing="full"), gpus=gpus, nodes=1).breakdown_gb["gradients"][0] for gpus in (1, 8)
    )
    assert eight == pytest.approx(2 * alone)
    assert alone == pytest.approx(2 * LLAMA_7B.parameters / 1e9)


@pytest.mark.parametrize(("accumulation", "held"), [(1, 1), (2, 2), (4, 4), (16, 4)])
def test_the_first_pipeline_stage_holds_a_micro_batch_a_stage_and_no_more_than_there_are(accumulation, held):
    job = job_of(LLAMA_7B, "lora", sequence_length=4096)
    layout = Configuration(micro_batch=8, pipeline_parallel=4, gradient_accumulation=accumulation)
    memory = estimate(job, layout, gpus=4, nodes=1)
    of_one = 8 * 4096 * (34 * 4096 + 8 * 11008) * (32 / 4) / 1e9
    assert PEAK_PHASES[memory.peak_phase[0]] == ("loss" if held == 1 else "backward")
    assert memory.breakdown_gb["activations"][0] == pytest.approx(held * of_one)


def test_scores_without_flash_attention_grow_with_the_square_of_length():
    layout = Configuration(attention="eager", activation_checkpointing="full")
    flash = replace(layout, attention="flash")
    extra = [
        needed(job_of(LLAMA_7B, "lora", sequence_length=length), layout) - needed(job_of(LLAMA_7B, "lora", sequence_length=length), flash)
        for length in (8192, 16384)
    ]
    assert extra[1] / extra[0] == pytest.approx(4.0, rel=0.1)


def test_idle_experts_weigh_in_states_but_not_in_activations():
    dense_like = replace(MIXTRAL, experts=64, parameters=MIXTRAL.parameters * 6)
    layout = Configuration(micro_batch=8)
    few, many = estimate(job_of(MIXTRAL, "full"), layout), estimate(job_of(dense_like, "full"), layout)
    assert many.breakdown_gb["weights"][0] == pytest.approx(6 * few.breakdown_gb["weights"][0])
    wide = replace(layout, micro_batch=16)
    loss = [estimate(job_of(model, "qlora"), wide).breakdown_gb["activations"][0] for model in (MIXTRAL, dense_like)]
    assert loss[0] == pytest.approx(loss[1])


def test_four_bit_weights_take_a_quarter():
    whole = estimate(job_of(LLAMA_13B, "lora"), Configuration(activation_checkpointing="full")).breakdown_gb["weights"][0]
    four = estimate(job_of(LLAMA_13B, "qlora"), Configuration(activation_checkpointing="full")).breakdown_gb["weights"][0]
    assert 0.25 < four / whole < 0.36


def test_quantised_weights_that_cannot_be_sharded_stay_whole():
    layout, job = Configuration(sharding="zero3", activation_checkpointing="full"), job_of(LLAMA_13B, "qlora")
    fixed = estimate(job, layout, recipe=MemoryRecipe(quantised_weights_shard=False))
    assert fixed.breakdown_gb["weights"][0] > 2 * estimate(job, layout).breakdown_gb["weights"][0]


def test_megatron_keeps_gradients_in_fp32():
    job = replace(job_of(LLAMA_7B, "full", stack="megatron"), sequence_length=1)
    gpu = estimate(job, Configuration(activation_checkpointing="full"), gpus=1, nodes=1)
    states = sum(gpu.breakdown_gb[name][0] for name in ("weights", "gradients", "optimizer"))
    assert states == pytest.approx(18 * 6.738, rel=1e-3)


def test_too_little_known_host_memory_does_not_fit_and_unknown_is_tight_at_best():
    job, layout = job_of(LLAMA_7B, "full"), Configuration(sharding="zero3", offload="parameters", activation_checkpointing="full")
    verdicts = [VERDICTS[estimate(job, layout, gpus=1, nodes=1, ram=ram).verdict[0]] for ram in (64.0, 512.0, None)]
    assert verdicts == ["does_not_fit", "fits", "tight"]


def test_unknown_host_memory_is_noted_where_offload_needs_it_and_only_there():
    job, away = job_of(LLAMA_7B, "full"), Configuration(sharding="zero3", offload="parameters", activation_checkpointing="full")
    for layout, ram, noted in ((away, None, True), (away, 512.0, False), (replace(away, offload="none"), None, False)):
        memory = memory_of_row(job, estimate(job, layout, gpus=1, nodes=1, ram=ram), layout, 0)
        assert ("host_memory_unknown" in memory.notes) == noted


def test_the_verdict_has_three_answers():
    job = job_of(LLAMA_7B, "full")
    layout = Configuration(sharding="zero3", activation_checkpointing="full")
    need = float(estimate(job, layout).cautious_gb[0])
    cards = [replace(A100_80, usable_memory_gb=usable) for usable in (need + 0.01, need - 0.01, need / 1.5)]
    assert [VERDICTS[estimate(job, layout, gpu=gpu).verdict[0]] for gpu in cards] == ["fits", "tight", "does_not_fit"]


def custom_job(parameters=0.0, flops=None, measured=()):
    base = job_of(LLAMA_7B, "full")
    spec = replace(base.spec, model=ModelSpec(custom=CustomNetwork(flops_per_sample=flops)), measured=measured)
    return replace(base, spec=spec, model=None, unit="sample", flops_per_unit=flops, trainable_parameters=parameters)


def test_a_custom_network_counts_its_states_and_says_what_it_assumes():
    job = custom_job(parameters=1e9, flops=25e9)
    memory = estimate(job, Configuration(), gpus=1, nodes=1)
    assert float(memory.needed_gb[0]) > 16.0
    assert memory_notes(job, Configuration()) == ("activations_assumed_from_flops",)


def test_an_unknown_network_needs_what_its_measured_card_has():
    job = custom_job(measured=(Measurement(gpu="A100-SXM4-40GB", seconds_per_step=1.0),))
    hardware = HardwareColumns.of([Hardware(gpu=gpu, gpus_per_node=1) for gpu in (A100_40, A100_80, RTX4090)])
    memory = estimate_memory(job, hardware, ConfigurationColumns.of([Configuration()] * 3))
    assert [VERDICTS[verdict] for verdict in memory.verdict] == ["fits", "fits", "does_not_fit"]
    assert memory_notes(job, Configuration()) == ("memory_as_on_measured_card",)


def test_a_network_of_which_nothing_is_known_is_never_said_to_fit():
    memory = estimate(custom_job(), Configuration(), gpu=H100_80)
    assert VERDICTS[memory.verdict[0]] == "tight"


def test_other_numerics_are_said():
    job = job_of(LLAMA_7B, "full")
    words = memory_of_row(job, estimate(job, Configuration()), Configuration(optimizer="adamw_8bit"), 0)
    assert "pure_16_bit_weights" in words.notes
    assert np.isclose(sum(words.breakdown_gb.values()), words.needed_gb_per_gpu)
