"""Reads the free text of measured rows: parallel layout, links, precision, software. Only what a user could know before the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.configuration import Offload, Sharding
from app.domain.gpus import Gpu, Precision
from app.domain.hardware import IntraLink
from app.domain.workload import Stack

_PRECISIONS: tuple[tuple[str, Precision], ...] = (("fp8", "fp8"), ("bf16", "bf16"), ("fp16", "fp16"), ("tf32", "tf32"), ("fp32", "fp32"))
_STACKS: tuple[tuple[str, Stack], ...] = (
    (r"unsloth", "unsloth"),
    (r"automodel", "torchtitan"),
    (r"\b(tp|pp|cp|ep) ?\d+.*\b(pp|vp|cp|ep|fsdp|mbs|dp) ?\d", "megatron"),
    (r"megatron|\bnemo\b|megascale|maxtext|paxml|\bpax\b|levanter|primus|mlperf|nvidia dgx|nvidia nemo", "megatron"),
    (r"torchtitan|torch\.compile|\bcompile\b", "torchtitan"),
    (r"fsdp|foundry|mosaic|\bmpt\b|litgpt|lit-gpt|torchtune|nanogpt|llm\.c|flash-?attention|nanotron", "fsdp"),
    (r"deepspeed|zero hybrid|gpt-neox|bigscience|colossal|sharding stage", "deepspeed"),
    (r"peft|swift|trainer|accelerate|\bhf\b|lora", "hf_trainer"),
)
_INFINIBAND_GBIT_S = {"EDR": 100.0, "HDR": 200.0, "ND": 400.0}
_NEAR_GB = 12
_SPACED = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """What the text says of the layout; None or 1 where it says nothing."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    micro_batch: int | None = None
    accumulation: int | None = None
    sharding: Sharding | None = None
    offload: Offload = "none"
    stated: bool = False


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text, re.IGNORECASE)
    return None if found is None else int(found.group(1))


def read_parallelism(text: str) -> Parallel:
    """The layout in words such as ``TP4 PP8 CP2 MBS1`` or ``FSDP FULL_SHARD, microbatch 2, grad accum 4``."""
    tensor = _number(r"\bTP ?=?(\d+)", text)
    pipeline = _number(r"\bPP ?=?(\d+)", text)
    return Parallel(
        tensor=tensor or 1,
        pipeline=pipeline or 1,
        context=_number(r"\bCP ?=?(\d+)", text) or 1,
        micro_batch=_number(r"(?:\bMBS ?|micro ?-?batch(?: size)? |\bbatch )(\d+)", text),
        accumulation=_number(r"(?:grad accum|GAS) ?(\d+)", text),
        sharding=_sharding(text),
        offload=_offload(text),
        stated=tensor is not None or pipeline is not None,
    )


def _sharding(text: str) -> Sharding | None:
    words = text.lower()
    table: tuple[tuple[str, Sharding], ...] = (
        (r"hsdp|hybrid_shard", "hybrid"),
        (r"shard_grad_op|zero-?2|stage ?2", "zero2"),
        (r"fsdp|full_shard|zero-?3|stage ?3|spmd", "zero3"),
        (r"zero-?1|stage ?1|megatron", "zero1"),
        (r"zero", "zero2"),
        (r"\bddp\b|\bdp\d*\b|single|none", "none"),
    )
    return next((sharding for pattern, sharding in table if re.search(pattern, words)), None)


def _offload(text: str) -> Offload:
    words = text.lower()
    if "cpu" not in words and "offload" not in words:
        return "none"
    if "activation offload" in words and "cpu" not in words:
        return "none"
    return "parameters" if re.search(r"fsdp|zero-?3|cpu", words) else "optimizer"


def read_precision(text: str) -> Precision | None:
    """The compute precision, or None for one that cannot be expressed (4-bit floats)."""
    words = text.lower()
    if "fp4" in words:
        return None
    return next((precision for word, precision in _PRECISIONS if word in words), "bf16" if not words else None)


def read_stack(*texts: str) -> Stack:
    """The software that the first of ``texts`` to name any names; ``unknown`` when none does."""
    for text in texts:
        for pattern, stack in _STACKS:
            if re.search(pattern, text.lower()):
                return stack
    return "unknown"


def read_link(text: str, gpu: Gpu, gpus_per_node: int) -> IntraLink:
    """The link inside the node; where the text is silent, what machines with this card have."""
    if gpus_per_node <= 1:
        return "none"
    words = text.lower()
    if "bridge" in words:
        return "nvlink_pair"
    if "nvlink" in words or "nvswitch" in words:
        return "nvlink"
    if "infinity" in words or "xgmi" in words:
        return "xgmi"
    if "ici" in words:
        return "ici"
    if "pcie" in words:
        return "pcie"
    if gpu.link_gb_s <= 0 or gpu.form_factor in {"PCIe", "consumer"}:
        return "pcie"
    return {"NVIDIA": "nvlink", "AMD": "xgmi", "Google": "ici"}.get(gpu.vendor, "other")  # type: ignore[return-value]


def read_network_gbit_s(text: str, gpus_per_node: int) -> float | None:
    """Network of one node in Gbit/s, all cards together; None when the text does not say.

    Cards for storage and management do not count; of several networks the fastest is used. InfiniBand by its generation (EDR, HDR, NDR) has
    that generation's rate a card.
    """
    best: float | None = None
    for part in re.split(r"[,;|+]", text):
        if re.match(r"\s*(storage|management)(?!.*compute)(?!\s*&)", part, re.IGNORECASE):
            continue
        rate = _cards_gbit_s(part)
        if rate is None:
            continue
        if "per gpu" in part.lower():
            rate *= gpus_per_node
        best = rate if best is None else max(best, rate)
    return best


def _cards_gbit_s(part: str) -> float | None:
    cards = re.search(r"(\d+) ?x\b", part, re.IGNORECASE)
    count = float(cards.group(1)) if cards else 1.0
    rate = re.search(r"(\d{2,4}) ?(?:Gb\b|Gb/|Gbps|Gbe|GbE)", part)
    if rate is not None:
        return count * float(rate.group(1))
    generation = re.search(r"\b(EDR|HDR|ND)", part)
    return None if generation is None or cards is None else count * _INFINIBAND_GBIT_S[generation.group(1)]


def normal(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return _SPACED.sub("", name.lower())


def read_gpu(text: str, link: str, gpus: Mapping[str, Gpu]) -> Gpu | None:
    """The card that the text means: by name, else by the longest family name in it; a card with NVLink where the row has NVLink."""
    wanted = normal(text)
    by_name = {normal(name): gpu for name, gpu in gpus.items()}
    if wanted in by_name and by_name[wanted].form_factor != "unspecified":
        return by_name[wanted]
    memory = re.search(r"(\d+) ?gb", text.lower())
    candidates = [gpu for gpu in gpus.values() if _family(gpu.name) in wanted or _family(gpu.name) == "rtx" + _family(text)]
    if not candidates:
        return None
    longest = max(len(_family(gpu.name)) for gpu in candidates)
    candidates = [gpu for gpu in candidates if len(_family(gpu.name)) == longest and gpu.form_factor != "unspecified"] or candidates
    if memory is not None:
        candidates = [gpu for gpu in candidates if abs(gpu.memory_gb - float(memory.group(1))) <= _NEAR_GB] or candidates
    if "nvlink" in link.lower() or "pcie" not in link.lower():
        candidates = [gpu for gpu in candidates if gpu.form_factor in {"SXM", "OAM"}] or candidates
    else:
        candidates = [gpu for gpu in candidates if gpu.form_factor == "PCIe"] or candidates
    return max(candidates, key=lambda gpu: gpu.memory_gb)


def _family(name: str) -> str:
    """The card's model without form factor and memory: ``A100-SXM4-80GB`` gives ``a100``."""
    return normal(re.split(r"-(?:SXM\d?|PCIE|NVL|\d+GB)", name, flags=re.IGNORECASE)[0])
