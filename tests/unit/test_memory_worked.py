"""The worked table: what the formula must say about well-known jobs (allocated GB per GPU)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.configuration import Configuration, ConfigurationColumns
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.memory import allocate, estimate_memory
from app.domain.memory_constants import CONSTANTS
from app.domain.memory_states import MemoryRecipe, recipe_of
from app.domain.physics import VERDICTS
from tests.unit.memory_jobs import (
    A100_40,
    A100_80,
    A6000_48,
    LLAMA_7B,
    LLAMA_65B,
    LLAMA_70B,
    NEOX_20B,
    RTX4090,
    T4,
    V100_32,
    job_of,
)

MIXED = MemoryRecipe()
PURE = MemoryRecipe(trained_weights="pure", step_copy=True)


def allocated(job, gpus, configuration, recipe=None, gpu=A100_80, per_node=8):
    hardware = HardwareColumns.of([Hardware(gpu=gpu, gpus_per_node=min(gpus, per_node), nodes=max(gpus // per_node, 1))])
    return float(allocate(job, hardware, ConfigurationColumns.of([configuration]), recipe).allocated_gb[0])


def verdict(job, gpus, configuration, gpu, recipe=None, per_node=8):
    hardware = HardwareColumns.of([Hardware(gpu=gpu, gpus_per_node=min(gpus, per_node), nodes=max(gpus // per_node, 1))])
    return VERDICTS[estimate_memory(job, hardware, ConfigurationColumns.of([configuration]), recipe).verdict[0]]


CHECKPOINTED = Configuration(activation_checkpointing="full")
FULL_7B = job_of(LLAMA_7B, "full", sequence_length=2048)


def test_seven_billion_parameters_in_mixed_precision_need_112_gb_of_states():
    """The requirement's figure: 16 bytes a parameter, 7e9 parameters."""
    seven = replace(LLAMA_7B, parameters=7e9, active_parameters=7e9)
    hardware = HardwareColumns.of([Hardware(gpu=A100_80, gpus_per_node=1)])
    allocation = allocate(job_of(seven, "full", sequence_length=1), hardware, ConfigurationColumns.of([CHECKPOINTED]), MIXED)
    states = sum(float(allocation.terms_gb[name][0]) for name in ("weights", "gradients", "optimizer"))
    assert states == pytest.approx(112.0, rel=1e-6)


def test_full_7b_mixed_is_108_gb_and_does_not_fit_80_gb():
    assert allocated(FULL_7B, 1, CHECKPOINTED, MIXED) == pytest.approx(108, rel=0.02)
    assert verdict(FULL_7B, 1, CHECKPOINTED, A100_80, MIXED) == "does_not_fit"


def test_full_7b_autocast_on_fp32_weights_is_135_gb():
    assert allocated(FULL_7B, 1, CHECKPOINTED, recipe_of("hf_trainer")) == pytest.approx(135, rel=0.02)


def test_full_7b_pure_bf16_is_67_gb_and_fits_80_gb():
    assert allocated(FULL_7B, 1, CHECKPOINTED, PURE) == pytest.approx(67, rel=0.02)
    assert verdict(FULL_7B, 1, CHECKPOINTED, A100_80, PURE) == "fits"


def test_full_7b_with_8bit_adam_is_41_gb_and_fits_48_gb():
    eight = replace(CHECKPOINTED, optimizer="adamw_8bit")
    assert allocated(FULL_7B, 1, eight) == pytest.approx(41, rel=0.03)
    assert verdict(FULL_7B, 1, eight, A6000_48) in {"fits", "tight"}


def test_full_7b_zero2_on_eight_is_26_gb():
    layout = replace(CHECKPOINTED, sharding="zero2")
    assert allocated(FULL_7B, 8, layout, MIXED) == pytest.approx(26, rel=0.05)
    assert verdict(FULL_7B, 8, layout, RTX4090, MIXED) == "does_not_fit"
    assert verdict(FULL_7B, 8, layout, V100_32, MIXED) in {"fits", "tight"}


def test_full_7b_zero3_on_eight_is_16_gb():
    layout = replace(CHECKPOINTED, sharding="zero3")
    assert allocated(FULL_7B, 8, layout, MIXED) == pytest.approx(16, rel=0.06)
    assert verdict(FULL_7B, 8, layout, RTX4090, MIXED) == "fits"
    assert verdict(FULL_7B, 8, layout, T4, MIXED) == "does_not_fit"


def test_lora_20b_is_45_gb_and_fits_80_gb():
    job = job_of(NEOX_20B, "lora", sequence_length=2048, trainable=16 * NEOX_20B.adapter_widths)
    assert allocated(job, 1, CHECKPOINTED) == pytest.approx(45, rel=0.05)
    assert verdict(job, 1, CHECKPOINTED, A100_80) == "fits"
    assert verdict(job, 1, CHECKPOINTED, A6000_48) == "tight"


def test_qlora_65b_is_44_gb_and_tight_on_48_gb():
    job = job_of(LLAMA_65B, "qlora", sequence_length=512, trainable=64 * LLAMA_65B.adapter_widths)
    recipe = MemoryRecipe(quantised_weight_bytes=CONSTANTS.nf4_double_bytes)
    paged = replace(CHECKPOINTED, optimizer="paged_adamw_8bit")
    assert allocated(job, 1, paged, recipe) == pytest.approx(44, rel=0.05)
    assert verdict(job, 1, paged, A6000_48, recipe) in {"fits", "tight"}


def test_qlora_70b_over_two_gpus_is_32_gb_each():
    job = job_of(LLAMA_70B, "qlora", sequence_length=2048, trainable=16 * LLAMA_70B.adapter_widths)
    layout = replace(CHECKPOINTED, sharding="zero3")
    assert allocated(job, 2, layout, recipe_of("fsdp")) == pytest.approx(32, rel=0.12)
    assert verdict(job, 2, layout, A100_40, recipe_of("fsdp")) in {"fits", "tight"}
    assert verdict(job, 2, layout, RTX4090, recipe_of("fsdp")) == "does_not_fit"


@pytest.mark.parametrize(("gpus", "expected", "verdicts"), [(8, 146, {"does_not_fit"}), (16, 77, {"tight"}), (32, 42, {"fits"})])
def test_full_70b_zero3(gpus, expected, verdicts):
    layout = replace(CHECKPOINTED, sharding="zero3")
    job = job_of(LLAMA_70B, "full", sequence_length=2048)
    assert allocated(job, gpus, layout, MIXED) == pytest.approx(expected, rel=0.04)
    assert verdict(job, gpus, layout, A100_80, MIXED) in verdicts
