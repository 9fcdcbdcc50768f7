"""The search for a layout: what it picks, what it refuses and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.calibration import load_calibration
from app.domain.configuration import ConfigurationColumns
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.layouts import Pins
from app.domain.memory import estimate_memory
from app.domain.physics import VERDICTS
from app.domain.search import REASONS, search
from app.domain.smallest_change import smallest_changes
from tests.unit.memory_jobs import A100_40, A100_80, H100_80, LLAMA3_8B, LLAMA_7B, LLAMA_13B, LLAMA_70B, RTX4090, T4, V100_32, job_of

CALIBRATION = load_calibration()
CARDS = (A100_80, A100_40, H100_80, RTX4090, V100_32, T4)


def node(gpu, gpus=8, nodes=1, ram=2000.0):
    link = "none" if gpus == 1 else "nvlink" if gpu.link_gb_s else "pcie"
    return Hardware(gpu=gpu, gpus_per_node=gpus, nodes=nodes, intra_node_link=link, inter_node_gbit_s=400.0, ram_gb_per_node=ram)


def choose(job, *shapes, pins=None):
    return search(job, HardwareColumns.of(shapes), CALIBRATION, pins)


def test_a_lora_that_fits_whole_is_not_sharded():
    result = choose(job_of(LLAMA_7B, "lora"), node(A100_80))
    assert bool(result.found[0])
    assert result.configuration.at(0).sharding == "none"


def test_full_training_that_does_not_fit_whole_is_sharded():
    chosen = choose(job_of(LLAMA_7B, "full"), node(A100_80)).configuration.at(0)
    assert chosen.sharding != "none"
    assert chosen.offload == "none"


def test_nothing_chosen_exceeds_the_card():
    shapes = [node(gpu, gpus, nodes) for gpu in CARDS for gpus in (1, 2, 8) for nodes in (1, 4)]
    for job in (job_of(LLAMA_7B, "full"), job_of(LLAMA_70B, "qlora"), job_of(LLAMA3_8B, "lora", sequence_length=8192)):
        result = choose(job, *shapes)
        again = estimate_memory(job, HardwareColumns.of(shapes), result.configuration)
        fits = again.needed_gb <= again.available_gb
        assert np.array_equal(result.found, fits & (again.verdict != VERDICTS.index("does_not_fit")) & (result.reason == 0))


def test_offload_is_the_last_resort_and_needs_host_memory():
    job = job_of(LLAMA_7B, "full")
    result = choose(job, node(A100_80, 1, ram=512.0), node(A100_80, 1, ram=64.0), node(A100_80, 1, ram=None))
    assert result.configuration.at(0).offload != "none"
    assert [REASONS[code] for code in result.reason] == ["none", "host_memory", "none"]


def test_an_offloaded_layout_on_a_machine_of_unknown_memory_is_found_but_never_said_to_fit():
    result = choose(job_of(LLAMA_13B, "full"), node(RTX4090, 1, ram=None), node(RTX4090, 1, ram=2000.0))
    assert result.found.all()
    assert [VERDICTS[code] for code in result.memory.verdict] == ["tight", "fits"]


def test_offload_that_is_not_allowed_is_not_used():
    result = choose(job_of(LLAMA_7B, "full", allow_offload=False), node(A100_80, 1))
    assert REASONS[result.reason[0]] == "memory"


def test_an_8bit_optimizer_is_used_only_when_allowed():
    shape = node(A100_80, 1)
    assert choose(job_of(LLAMA_7B, "full"), shape).configuration.at(0).optimizer == "adamw"
    assert choose(job_of(LLAMA_7B, "full", allow_8bit_optimizer=True), shape).configuration.at(0).optimizer == "adamw_8bit"


def test_bf16_becomes_fp16_on_a_card_that_knows_only_that():
    assert choose(job_of(LLAMA_7B, "lora"), node(V100_32)).configuration.at(0).precision == "fp16"


def test_fp8_without_fp8_is_refused_for_its_precision():
    result = choose(job_of(LLAMA_7B, "lora", precision="fp8"), node(A100_80), node(H100_80))
    assert [REASONS[code] for code in result.reason] == ["precision", "none"]


def test_more_ranks_than_sequences_are_refused_where_the_model_cannot_be_split():
    result = choose(job_of(LLAMA_7B, "lora", global_batch=4, stack="deepspeed"), node(A100_80), node(A100_80, 4))
    assert [REASONS[code] for code in result.reason] == ["batch", "none"]


def test_the_accumulated_batch_is_the_asked_one():
    job = job_of(LLAMA_13B, "lora", global_batch=96)
    shapes = [node(gpu, gpus, nodes) for gpu in CARDS for gpus in (1, 2, 4, 8) for nodes in (1, 2, 3)]
    result = choose(job, *shapes)
    for row, shape in enumerate(shapes):
        if not result.found[row]:
            continue
        chosen = result.configuration.at(row)
        ranks = shape.gpus // (chosen.tensor_parallel * chosen.pipeline_parallel)
        assert 96 <= chosen.micro_batch * chosen.gradient_accumulation * ranks <= 96 * 1.06


def test_tensor_groups_stay_inside_a_node_and_divide_the_heads():
    shapes = [node(A100_40, gpus, nodes) for gpus in (1, 2, 4, 8) for nodes in (2, 4, 8)]
    configuration = choose(job_of(LLAMA_70B, "full"), *shapes).configuration
    per_node = np.array([shape.gpus_per_node for shape in shapes])
    assert (per_node % configuration.tensor_parallel == 0).all()
    assert (64 % configuration.tensor_parallel == 0).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [("micro_batch", 2), ("activation_checkpointing", "full"), ("sharding", "zero3"), ("tensor_parallel", 4), ("pipeline_parallel", 2),
     ("loss", "fused"), ("attention", "eager"), ("optimizer", "sgd"), ("precision", "fp16"), ("gradient_accumulation", 3)],
)  # fmt: skip
def test_a_pinned_field_is_kept(field, value):
    result = choose(job_of(LLAMA_7B, "lora"), node(A100_80, 8, 2), pins=Pins(**{field: value}))
    assert getattr(result.configuration.at(0), field) == value


def test_an_accumulation_that_cannot_make_the_batch_is_refused_and_told_which_one_can():
    job, shapes = job_of(LLAMA_7B, "lora", global_batch=512), HardwareColumns.of([node(A100_80, 8)])
    pins = Pins(micro_batch=1, gradient_accumulation=4, tensor_parallel=1, pipeline_parallel=1)
    result = search(job, shapes, CALIBRATION, pins)
    assert REASONS[result.reason[0]] == "layout"
    change = smallest_changes(job, shapes, result.reason, pins)[0]
    assert (change.code, change.value) == ("larger_accumulation", 64.0)
    assert search(job, shapes, CALIBRATION, replace(pins, gradient_accumulation=64)).found[0]
    assert not search(job, shapes, CALIBRATION, replace(pins, gradient_accumulation=63)).found[0]


def test_an_open_micro_batch_just_makes_the_batch_of_a_pinned_accumulation():
    result = choose(job_of(LLAMA_7B, "lora", global_batch=512), node(A100_80, 8), pins=Pins(gradient_accumulation=9, sharding="none"))
    chosen = result.configuration.at(0)
    assert (chosen.micro_batch, chosen.gradient_accumulation) == (8, 9)


def test_an_accumulation_too_small_for_the_card_is_told_the_least_that_fits():
    job, shapes = job_of(LLAMA_7B, "full", global_batch=1024), HardwareColumns.of([node(A100_80, 8)])
    pins = Pins(gradient_accumulation=1)
    refused = search(job, shapes, CALIBRATION, pins)
    assert REASONS[refused.reason[0]] == "memory"
    change = smallest_changes(job, shapes, refused.reason, pins)[0]
    assert change.code == "larger_accumulation"
    assert search(job, shapes, CALIBRATION, Pins(gradient_accumulation=int(change.value))).found[0]


@given(st.integers(1, 300), st.integers(1, 40), st.sampled_from([None, 1, 3]), st.sampled_from([1, 3, 8]))
def test_the_shown_accumulation_is_the_timed_one(batch, accumulation, micro, gpus):
    job, shapes = job_of(LLAMA_7B, "lora", global_batch=batch), HardwareColumns.of([node(A100_80, gpus)])
    for pins in (Pins(micro_batch=micro), Pins(micro_batch=micro, gradient_accumulation=accumulation)):
        result = search(job, shapes, CALIBRATION, pins)
        if result.found[0]:
            chosen = result.configuration.at(0)
            ranks = gpus // (chosen.tensor_parallel * chosen.pipeline_parallel)
            assert chosen.micro_batch * chosen.gradient_accumulation * ranks >= batch


def test_the_callers_checkpointing_is_kept():
    chosen = choose(job_of(LLAMA_7B, "lora", activation_checkpointing="full"), node(A100_80)).configuration.at(0)
    assert chosen.activation_checkpointing == "full"


def test_a_layout_that_cannot_be_built_is_said_so():
    result = choose(job_of(LLAMA_7B, "lora"), node(A100_80, 2), pins=Pins(tensor_parallel=8))
    assert REASONS[result.reason[0]] == "layout"


def test_the_order_of_shapes_does_not_matter():
    shapes = [node(gpu, gpus, nodes) for gpu in CARDS for gpus in (1, 8) for nodes in (1, 4)]
    forward, backward = choose(job_of(LLAMA_7B, "full"), *shapes), choose(job_of(LLAMA_7B, "full"), *shapes[::-1])
    assert [forward.configuration.at(row) for row in range(len(shapes))] == [
        backward.configuration.at(len(shapes) - 1 - row) for row in range(len(shapes))
    ]


def test_the_chosen_layout_is_at_least_as_fast_as_any_fitting_pin():
    job, shape = job_of(LLAMA_13B, "full"), node(A100_80, 8, 2)
    best = choose(job, shape)
    for sharding in ("zero2", "zero3", "hybrid"):
        for recompute in ("none", "selective", "full"):
            other = choose(
                job, shape, pins=Pins(sharding=sharding, activation_checkpointing=recompute, tensor_parallel=1, pipeline_parallel=1)
            )
            if other.found[0] and VERDICTS[other.memory.verdict[0]] == "fits":
                assert other.speed.units_per_second[0] <= best.speed.units_per_second[0] * 1.0001


@given(st.sampled_from(CARDS), st.sampled_from([1, 2, 4, 8]), st.integers(1, 8))
def test_a_larger_card_is_never_refused_where_a_smaller_fits(gpu, gpus, nodes):
    job = job_of(LLAMA_7B, "full", global_batch=64)
    small, large = node(gpu, gpus, nodes), node(replace(gpu, name="larger", usable_memory_gb=gpu.usable_memory_gb * 1.5), gpus, nodes)
    result = choose(job, small, large)
    assert result.found[1] or not result.found[0]


def test_a_refused_lora_is_told_of_quantisation():
    job = job_of(LLAMA_13B, "lora", allow_offload=False)
    shapes = HardwareColumns.of([node(RTX4090, 1)])
    result = search(job, shapes, CALIBRATION)
    assert REASONS[result.reason[0]] == "memory"
    assert smallest_changes(job, shapes, result.reason)[0].code == "allow_offload"
    closed = job_of(LLAMA_13B, "lora", allow_offload=True, stack="unsloth")
    result = search(closed, shapes, CALIBRATION)
    assert smallest_changes(closed, shapes, result.reason)[0].code == "qlora"


def test_a_refused_full_training_is_told_how_many_gpus_would_do():
    job = job_of(LLAMA_70B, "full", stack="deepspeed", allow_8bit_optimizer=True)
    shapes = HardwareColumns.of([node(A100_80, 8)])
    pins = Pins(offload="none", optimizer="adamw")
    change = smallest_changes(job, shapes, search(job, shapes, CALIBRATION, pins).reason, pins)[0]
    assert change.code == "more_gpus"
    assert search(job, replace(shapes, nodes=np.array([int(change.value) // 8])), CALIBRATION, pins).found[0]
    assert not search(job, replace(shapes, nodes=np.array([int(change.value) // 16])), CALIBRATION, pins).found[0]


def test_short_host_memory_is_told_how_much_is_needed():
    job = job_of(LLAMA_7B, "full")
    shapes = HardwareColumns.of([node(A100_80, 1, ram=64.0)])
    change = smallest_changes(job, shapes, search(job, shapes, CALIBRATION).reason)[0]
    assert change.code == "more_host_memory"
    assert search(job, replace(shapes, ram_gb_per_node=np.array([change.value])), CALIBRATION).found[0]


def test_a_missing_precision_is_told_one_that_the_card_has():
    job = job_of(LLAMA_7B, "lora", precision="fp8")
    shapes = HardwareColumns.of([node(A100_80)])
    change = smallest_changes(job, shapes, search(job, shapes, CALIBRATION).reason)[0]
    assert (change.code, change.word) == ("precision", "bf16")


def test_columns_have_the_length_of_the_shapes():
    result = choose(job_of(LLAMA_7B, "lora"), node(A100_80), node(T4, 1))
    assert len(result.configuration) == len(result.found) == len(result.memory.needed_gb) == len(result.speed.units_per_second) == 2
    assert isinstance(result.configuration, ConfigurationColumns)
