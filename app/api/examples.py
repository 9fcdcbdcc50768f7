"""Requests that the OpenAPI document shows; a test sends each of them. Longer ones lie in examples/."""

from __future__ import annotations

from typing import Any

SMALLEST: dict[str, Any] = {
    "workload": {"model": {"preset": "llama-2-7b"}, "method": "lora", "target": {"samples": 50000, "tokens_per_sample": 512, "epochs": 3}}
}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "smallest": ("LoRA on a 7B model, everything else by default", SMALLEST),
    "limits": (
        "Full fine-tuning within a deadline and a budget",
        {
            "workload": {
                "name": "8b-full",
                "model": {"preset": "llama-3.1-8b"},
                "method": "full",
                "target": {"tokens_b": 1.0},
                "sequence_length": 4096,
                "stack": "fsdp",
            },
            "constraints": {
                "deadline_hours": 120,
                "budget": {"amount": "3000", "currency": "USD"},
                "gpus": {"include": ["A100-80GB", "H100"], "exclude": []},
                "purchase_options": ["on_demand", "spot"],
            },
            "preferences": {"currency": "USD", "limit": 5},
        },
    ),
}
ESTIMATE: dict[str, Any] = {
    "workload": {
        "model": {"preset": "llama-2-7b"},
        "method": "pretrain",
        "target": {"tokens_b": 100},
        "sequence_length": 4096,
        "global_batch_sequences": 512,
        "stack": "fsdp",
    },
    "hardware": {"gpu": "A100-SXM4-80GB", "gpus_per_node": 8, "nodes": 4, "intra_node_link": "nvlink", "inter_node_gbit_s": 800},
}
