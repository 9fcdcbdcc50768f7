"""What a practitioner does where a row is silent: the parallel layout and the sharding that software of a kind uses by default."""

from __future__ import annotations

from dataclasses import replace

from app.domain.configuration import Sharding
from app.domain.hardware import Hardware
from app.domain.llm import ModelShape
from app.domain.workload import Method, Stack
from app.evaluate.row_text import Parallel

_SHARE_FOR_STATES = 0.6
_MOST_CONTEXT = 64


def usual_layout(parallel: Parallel, model: ModelShape, hardware: Hardware, method: Method, sequences: float) -> Parallel:
    """What a tuned recipe does when the row does not say: the rule of arXiv:2104.04473.

    Tensor parallel as wide as the states need, within the node; pipeline beyond it; and, when ranks outnumber the sequences of a step,
    sequences cut in pieces.
    """
    bytes_each = 6.0 if method in {"pretrain", "full"} else 2.0
    room = _SHARE_FOR_STATES * hardware.gpu.memory_gb * 1e9
    needed = model.parameters * bytes_each / room
    tensor = 1
    while tensor < needed and tensor * 2 <= hardware.gpus_per_node:
        tensor *= 2
    pipeline = 1
    while tensor * pipeline < needed and tensor * pipeline * 2 <= hardware.gpus:
        pipeline *= 2
    context = 1
    while hardware.gpus / (tensor * pipeline * context) > sequences and context < _MOST_CONTEXT:
        context *= 2
    return replace(parallel, tensor=tensor, pipeline=pipeline, context=context)


def usual_sharding(stated: Sharding | None, hardware: Hardware, stack: Stack) -> Sharding:
    """As stated; Megatron-class software shards the optimizer by default, and nothing needs sharding on one GPU."""
    if hardware.gpus == 1:
        return "none"
    if stated in {None, "none"} and stack == "megatron":
        return "zero1"
    return stated or "zero1"
