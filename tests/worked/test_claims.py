"""Claims that articles of the field get wrong, and what the service says of each, through its public API."""

from __future__ import annotations

import pytest

from tests.support.service import answered

A100 = {"gpu": "A100-SXM4-80GB", "gpus_per_node": 1, "nodes": 1}
SEVEN_BILLION = {"parameters_b": 7.0}


async def test_1e22_flops_on_one_a100_at_an_mfu_of_0_4_take_22258_hours_not_60(client):
    workload = {
        "model": {"custom": {"flops_per_sample": 1e22, "parameters_b": 1.0}},
        "method": "pretrain",
        "target": {"samples": 1, "epochs": 1},
        "global_batch_sequences": 1,
        "assumed_mfu": 0.4,
    }
    answer = await answered(client, "/estimate", {"workload": workload, "hardware": A100})
    assert answer["compute_hours"] == pytest.approx(1e22 / (312e12 * 0.4) / 3600, rel=1e-3)
    assert answer["compute_hours"] == pytest.approx(22_258, rel=1e-3)


async def test_seven_billion_parameters_over_100_billion_tokens_need_4_2e21_flops_not_1e22(client):
    workload = {
        "model": SEVEN_BILLION,
        "method": "pretrain",
        "target": {"tokens_b": 100},
        "sequence_length": 2048,
        "assumed_mfu": 0.4,
    }
    answer = await answered(client, "/estimate", {"workload": workload, "hardware": {**A100, "gpus_per_node": 8}})
    assert answer["model_flops"] == pytest.approx(4.2e21, rel=0.05)
    assert answer["gpu_hours"] == pytest.approx(9_350, rel=0.05)


async def test_llama_7b_at_its_published_pace_takes_8243_gpu_hours_per_100_billion_tokens_within_the_model_s_error(client):
    workload = {
        "model": {"preset": "llama-7b"},
        "method": "pretrain",
        "target": {"tokens_b": 100},
        "sequence_length": 2048,
        "global_batch_sequences": 2048,
        "stack": "fsdp",
    }
    hardware = {**A100, "gpus_per_node": 8, "nodes": 256, "inter_node_gbit_s": 1600}
    answer = await answered(client, "/estimate", {"workload": workload, "hardware": hardware})
    assert answer["gpu_hours"] == pytest.approx(8_243, rel=0.2)


async def test_full_fine_tuning_of_seven_billion_needs_112_gb_of_states_not_40_or_48(client):
    workload = {
        "model": SEVEN_BILLION,
        "method": "full",
        "target": {"tokens_b": 0.1},
        "sequence_length": 512,
        "stack": "deepspeed",
        "allow_offload": False,
    }
    pins = {"sharding": "none", "micro_batch": 1, "activation_checkpointing": "full", "offload": "none"}
    answer = await answered(client, "/estimate", {"workload": workload, "hardware": A100, "configuration": pins})
    parts = answer["memory"]["breakdown_gb"]
    assert parts["weights"] + parts["gradients"] + parts["optimizer"] == pytest.approx(112.0, rel=0.02)
    assert answer["verdict"] == "does_not_fit"


async def test_ten_gbit_a_second_upload_4_5_terabytes_an_hour_not_seven(client):
    workload = {
        "model": {"preset": "llama-2-7b"},
        "method": "lora",
        "target": {"tokens_b": 0.1},
        "data": {"dataset_gb": 4500, "upload_mbit_s": 10_000},
    }
    answer = await answered(
        client, "/recommend", {"workload": workload, "constraints": {"gpus": {"include": ["A100-SXM4-80GB"]}, "max_gpus": 1}}
    )
    assert answer["plans"][0]["timeline_hours"]["upload"] == pytest.approx(1.0)


async def test_seven_terabytes_at_0_2_yuan_cost_1400_yuan_a_month(client):
    """5 TB of data and ten checkpoints of 200 GB, kept 30 days after the run."""
    workload = {
        "model": {"preset": "llama-2-7b"},
        "method": "lora",
        "target": {"tokens_b": 0.01},
        "data": {"dataset_gb": 5000, "checkpoint_gb": 200, "checkpoints_kept": 10, "keep_storage_days": 30, "upload_mbit_s": 100_000},
    }
    body = {
        "workload": workload,
        "constraints": {"gpus": {"include": ["A100-SXM4-80GB"]}, "max_gpus": 1},
        "preferences": {"currency": "CNY"},
    }
    answer = await answered(client, "/recommend", body)
    (kept,) = [line for line in answer["plans"][0]["bill"]["lines"] if line["kind"] == "kept_storage"]
    assert kept["status"] == "known"
    assert float(kept["amount"]["amount"]) == pytest.approx(1400.0, abs=0.01)


async def test_three_thousand_gpu_hours_at_ten_yuan_cost_30000_yuan(client):
    """An hourly machine of one card at 10 CNY, and a measured step that makes the run exactly 3,000 hours of stepping."""
    workload = {
        "model": {},
        "method": "pretrain",
        "target": {"steps": 3000},
        "measured": [{"gpu": "A100-SXM4-80GB", "gpus": 1, "seconds_per_step": 3600.0}],
    }
    body = {
        "workload": workload,
        "constraints": {"gpus": {"include": ["A100-SXM4-80GB"]}, "max_gpus": 1},
        "preferences": {"currency": "CNY"},
    }
    answer = await answered(client, "/recommend", body)
    plan = answer["plans"][0]
    (compute,) = [line for line in plan["bill"]["lines"] if line["kind"] == "compute"]
    hours = float(compute["quantity"])
    assert float(compute["amount"]["amount"]) == pytest.approx(10.0 * hours, abs=0.01)
    assert hours * 1.0 == pytest.approx(plan["gpu_hours"], rel=0.02)
    assert plan["gpu_hours"] == pytest.approx(3000.0, rel=0.1)
