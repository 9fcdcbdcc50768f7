"""Requests for tests: a small sound one, and ways to change one field of it."""

from __future__ import annotations

import copy
from typing import Any

QUESTION: dict[str, Any] = {
    "workload": {
        "model": {"preset": "llama-2-7b"},
        "method": "lora",
        "target": {"samples": 5000, "tokens_per_sample": 512, "epochs": 1},
        "sequence_length": 1024,
        "global_batch_sequences": 16,
    },
    "constraints": {"providers": {"include": ["lambda"], "exclude": []}, "max_gpus": 2},
    "preferences": {"limit": 2},
}
ESTIMATE: dict[str, Any] = {
    "workload": QUESTION["workload"],
    "hardware": {"gpu": "A100-SXM4-80GB", "gpus_per_node": 8, "nodes": 1},
}


def changed(base: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """``base`` with ``value`` at ``pointer`` (parts are created where they are missing)."""
    made = copy.deepcopy(base)
    part: Any = made
    *path, last = pointer.strip("/").split("/")
    for name in path:
        part = part[int(name)] if isinstance(part, list) else part.setdefault(name, {})
    part[last] = value
    return made
