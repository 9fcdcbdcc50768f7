"""From a workload's words to a training job: models, targets, defaults, contradictions."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.models import load_presets
from app.domain.gpus import Gpu
from app.domain.llm import training_flops_per_token
from app.domain.resolve import resolve
from app.domain.scaling_laws import CHINCHILLA
from app.domain.workload import (
    Architecture,
    CustomNetwork,
    DataSpec,
    Measurement,
    Method,
    ModelSpec,
    TargetSpec,
    TrainingJob,
    WorkloadError,
    WorkloadSpec,
)

A100 = Gpu(
    name="A100-SXM4-80GB",
    vendor="nvidia",
    architecture="ampere",
    form_factor="SXM4",
    memory_gb=80,
    usable_memory_gb=79,
    memory_bandwidth_gb_s=2039,
    fp32_tflops=19.5,
    tf32_tflops=156,
    fp16_tflops=312,
    bf16_tflops=312,
    fp8_tflops=None,
    link="nvlink",
    link_gb_s=600,
    pcie_generation=4,
    tdp_w=400,
    release_year=2020,
    source_url="https://example.invalid",
)
GPUS = {A100.name: A100}
LLAMA = ModelSpec(preset="llama-2-7b")
SPEC = WorkloadSpec(model=LLAMA, method="full", target=TargetSpec(tokens_b=1), sequence_length=2048, global_batch_sequences=128)


def job(**changes: object) -> TrainingJob:
    spec = dataclasses.replace(SPEC, **changes)  # type: ignore[arg-type]
    return resolve(spec, presets=load_presets(), gpus=GPUS)


def refusal(**changes: object) -> WorkloadError:
    with pytest.raises(WorkloadError) as caught:
        job(**changes)
    return caught.value


def test_a_fully_stated_workload_needs_no_assumption_but_the_checkpoint() -> None:
    assert [said for said in job().assumptions if "Checkpoint" not in said] == []
    assert job(data=DataSpec(checkpoint_gb=5)).assumptions == ()


def test_the_example_of_the_contract_comes_to_its_tokens() -> None:
    found = job(method="lora", target=TargetSpec(samples=500_000, tokens_per_sample=512, epochs=6))
    assert found.units_total == 1.536e9
    assert found.steps_total == pytest.approx(1.536e9 / (128 * 2048))


def test_steps_times_batch_times_length_is_the_tokens() -> None:
    found = job(global_batch_sequences=None, target=TargetSpec(steps=1000, global_batch_sequences=64))
    assert found.units_total == 1000 * 64 * 2048
    assert found.steps_total == 1000


def test_model_flops_are_flops_a_token_times_tokens() -> None:
    found = job()
    assert found.model is not None
    assert found.model_flops == training_flops_per_token(found.model, "full", 2048) * 1e9


def test_a_7b_model_by_its_size_alone_takes_about_six_n_d() -> None:
    found = job(model=ModelSpec(architecture=Architecture(parameters_b=7)), target=TargetSpec(tokens_b=100))
    assert found.model_flops == pytest.approx(4.2e21, rel=0.06)


def test_an_unknown_preset_lists_near_names() -> None:
    error = refusal(model=ModelSpec(preset="meta-llama/Llama-2-7b-hf"))
    assert (error.pointer, error.code) == ("/model/preset", "unknown_preset")
    assert "llama-2-7b" in error.detail


def test_an_unknown_gpu_of_a_measurement_lists_near_names() -> None:
    error = refusal(measured=(Measurement(gpu="A100", tokens_per_second=3000),))
    assert (error.pointer, error.code) == ("/measured/0/gpu", "unknown_gpu")
    assert A100.name in error.detail


@pytest.mark.parametrize("rates", [{}, {"tokens_per_second": 1.0, "seconds_per_step": 1.0}])
def test_a_measurement_has_exactly_one_rate(rates: dict[str, float]) -> None:
    assert refusal(measured=(Measurement(gpu=A100.name, **rates),)).pointer == "/measured/0"


def test_two_models_contradict_each_other() -> None:
    error = refusal(model=ModelSpec(preset="gpt2", architecture=Architecture(parameters_b=7)))
    assert (error.pointer, error.code) == ("/model", "contradiction")


def test_two_targets_contradict_each_other() -> None:
    error = refusal(target=TargetSpec(tokens_b=1, steps=10))
    assert (error.pointer, error.code) == ("/target/steps", "contradiction")


def test_no_target_is_refused_with_the_choices() -> None:
    error = refusal(target=TargetSpec())
    assert error.code == "missing_target"
    assert "tokens_b" in error.detail


@pytest.mark.parametrize("part", ["epochs", "tokens_per_sample"])
def test_parts_of_a_target_by_samples_do_not_go_with_tokens(part: str) -> None:
    assert refusal(target=TargetSpec(tokens_b=1, **{part: 2.0})).pointer == f"/target/{part}"


def test_two_different_batches_contradict_each_other() -> None:
    assert refusal(target=TargetSpec(steps=10, global_batch_sequences=64)).pointer == "/target/global_batch_sequences"


def test_a_benchmark_is_refused_with_the_targets_that_are_possible() -> None:
    error = refusal(target=TargetSpec(benchmark="mlperf/llama2_70b_lora"))
    assert (error.pointer, error.code) == ("/target/benchmark", "benchmark_not_supported")
    assert "tokens_b" in error.detail


def test_a_loss_takes_the_tokens_of_the_law_with_its_source_and_the_refit() -> None:
    found = job(method="pretrain", model=ModelSpec(preset="pythia-1b"), target=TargetSpec(loss=2.6))
    assert found.model is not None
    assert CHINCHILLA.loss(found.model.parameters, found.units_total) == pytest.approx(2.6)
    said = next(said for said in found.assumptions if said.startswith("Loss"))
    assert "2203.15556" in said
    assert "2404.10102" in said


def test_a_loss_below_the_floor_is_refused_and_the_floor_named() -> None:
    error = refusal(method="pretrain", model=ModelSpec(preset="gpt2"), target=TargetSpec(loss=2.0))
    assert (error.pointer, error.code) == ("/target/loss", "loss_unreachable")
    assert f"{CHINCHILLA.floor(124_439_808):.3f}" in error.detail


def test_a_loss_outside_the_fitted_range_warns() -> None:
    found = job(method="pretrain", model=ModelSpec(preset="llama-2-70b"), target=TargetSpec(loss=1.95))
    assert any("outside" in warning for warning in found.warnings)


@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_a_loss_is_for_pretraining_only(method: str) -> None:
    assert refusal(method=method, target=TargetSpec(loss=2.0)).code == "loss_only_for_pretrain"


def test_a_sequence_longer_than_the_positions_warns() -> None:
    assert any("4096 positions" in warning for warning in job(sequence_length=8192).warnings)


@pytest.mark.parametrize(
    ("method", "preset", "length"), [("pretrain", "llama-3.1-8b", 4096), ("lora", "llama-3.1-8b", 2048), ("full", "gpt2", 1024)]
)
def test_the_usual_length_is_used_and_said_when_none_is_given(method: str, preset: str, length: int) -> None:
    found = job(method=method, model=ModelSpec(preset=preset), sequence_length=None)
    assert found.sequence_length == length
    assert f"Sequence length not given: {length} tokens are assumed." in found.assumptions


def test_the_length_of_a_sample_is_the_length_of_a_sequence_when_none_is_given() -> None:
    found = job(sequence_length=None, target=TargetSpec(samples=1000, tokens_per_sample=700))
    assert found.sequence_length == 700


@pytest.mark.parametrize(("preset", "tokens"), [("gpt2", 2**19), ("gpt2-xl", 2**20), ("llama-2-7b", 2**21), ("llama-2-70b", 2**22)])
def test_the_batch_of_pretraining_grows_with_the_model(preset: str, tokens: int) -> None:
    found = job(
        method="pretrain", model=ModelSpec(preset=preset), sequence_length=1024, global_batch_sequences=None, target=TargetSpec(tokens_b=9)
    )
    assert found.units_per_step == tokens


def test_a_default_batch_never_exceeds_the_whole_job() -> None:
    found = job(global_batch_sequences=None, target=TargetSpec(samples=10))
    assert found.global_batch_sequences == 10
    assert found.steps_total == 1


def test_a_target_of_less_than_one_stated_step_warns() -> None:
    assert any("less than one optimizer step" in warning for warning in job(target=TargetSpec(samples=10)).warnings)


def test_a_full_checkpoint_holds_fourteen_bytes_a_parameter() -> None:
    assert job().checkpoint_gb == pytest.approx(14 * 6.738415616)


def test_a_checkpoint_of_adapters_leaves_the_base_out() -> None:
    found = job(method="lora")
    assert found.trainable_parameters == 39_976_960
    assert found.checkpoint_gb == pytest.approx(12 * 39_976_960 / 1e9)


def test_a_custom_network_is_counted_in_samples() -> None:
    found = job(
        model=ModelSpec(custom=CustomNetwork(flops_per_sample=2.4e10, parameters_b=0.0256)), target=TargetSpec(samples=1.28e6, epochs=90)
    )
    assert (found.unit, found.units_total, found.units_per_step) == ("sample", 1.152e8, 128)
    assert found.model is None
    assert found.model_flops == 1.152e8 * 2.4e10
    assert found.trainable_parameters == 0.0256e9


def test_a_custom_network_has_no_tokens() -> None:
    custom = ModelSpec(custom=CustomNetwork(flops_per_sample=1e10))
    assert refusal(model=custom).pointer == "/target/tokens_b"
    assert refusal(model=custom, target=TargetSpec(samples=5, tokens_per_sample=5)).pointer == "/target/tokens_per_sample"


def test_a_custom_network_needs_flops_or_a_measurement() -> None:
    custom = ModelSpec(custom=CustomNetwork(parameters_b=1))
    assert refusal(model=custom, target=TargetSpec(samples=5)).pointer == "/model/custom/flops_per_sample"
    measured = (Measurement(gpu=A100.name, seconds_per_step=0.5),)
    assert job(model=custom, target=TargetSpec(samples=5), measured=measured).flops_per_unit is None


def test_a_measured_step_and_steps_are_enough_without_a_model() -> None:
    found = job(model=ModelSpec(), target=TargetSpec(steps=1000), measured=(Measurement(gpu=A100.name, seconds_per_step=0.5),))
    assert (found.unit, found.units_total, found.units_per_step, found.flops_per_unit) == ("step", 1000, 1, None)
    assert any("memory" in warning for warning in found.warnings)


def test_without_a_model_only_steps_count() -> None:
    measured = (Measurement(gpu=A100.name, seconds_per_step=0.5),)
    assert refusal(model=ModelSpec(), measured=measured).pointer == "/target/tokens_b"
    assert refusal(model=ModelSpec()).pointer == "/model"


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e30])
@pytest.mark.parametrize("part", ["tokens_b", "samples", "steps"])
def test_a_target_outside_its_limits_is_refused_at_its_place(part: str, value: float) -> None:
    assert refusal(target=TargetSpec(**{part: value})).pointer == f"/target/{part}"


def test_a_product_outside_the_limits_is_refused() -> None:
    assert refusal(target=TargetSpec(samples=1e17, epochs=1e5)).code == "out_of_range"


def test_the_same_workload_gives_the_same_job() -> None:
    assert job() == job()


METHODS = st.sampled_from(["pretrain", "full", "lora", "qlora"])


@given(method=METHODS, samples=st.integers(1, 10**9), epochs=st.integers(1, 50), more=st.integers(1, 1000))
def test_more_samples_or_epochs_are_never_fewer_tokens(method: Method, samples: int, epochs: int, more: int) -> None:
    def tokens(count: int, times: int) -> float:
        target = TargetSpec(samples=count, tokens_per_sample=512, epochs=times)
        return job(method=method, target=target, global_batch_sequences=None).units_total

    assert tokens(samples + more, epochs) > tokens(samples, epochs)
    assert tokens(samples, epochs + 1) > tokens(samples, epochs)


@given(method=METHODS, thousands=st.integers(1, 10**6), batch=st.none() | st.integers(1, 4096))
def test_tokens_and_the_equivalent_samples_give_the_same_job(method: Method, thousands: int, batch: int | None) -> None:
    samples = thousands * 1000
    by_samples = job(method=method, target=TargetSpec(samples=samples, tokens_per_sample=2048, epochs=1), global_batch_sequences=batch)
    by_tokens = job(method=method, target=TargetSpec(tokens_b=samples * 2048 / 1e9), global_batch_sequences=batch)
    assert by_tokens.units_total == pytest.approx(by_samples.units_total)
    same = dataclasses.replace(by_tokens, spec=by_samples.spec, units_total=by_samples.units_total, model_flops=by_samples.model_flops)
    assert same == by_samples
