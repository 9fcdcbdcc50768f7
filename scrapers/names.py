"""GPU names as sources write them → the canonical names of app/data/gpus.csv, by exact tables only.

An unknown name is None, never the nearest. A name is first brought to one spelling (``spelling``): case, blanks, underscores and
the maker's words (NVIDIA, GeForce, Tesla, AMD, Instinct) do not matter; nothing else is dropped, so "RTX 4070 Ti SUPER" never
becomes "RTX 4070". Some names fit several cards (A100, V100): those need the memory. A stated memory is always checked against
the card, since sources mix up cards and fields (an RTX 4090 with 48 GB is another product).
"""

from __future__ import annotations

import re

CARD_MEMORY_GB: dict[str, float] = {
    "A10-24GB": 24,
    "A10G-24GB": 24,
    "A16-16GB": 16,
    "A30-24GB": 24,
    "A40-48GB": 48,
    "A100-40GB": 40,
    "A100-80GB": 80,
    "A100-PCIE-40GB": 40,
    "A100-PCIE-80GB": 80,
    "A100-SXM4-40GB": 40,
    "A100-SXM4-80GB": 80,
    "A800-80GB": 80,
    "A800-PCIE-80GB": 80,
    "A800-SXM4-80GB": 80,
    "Ascend-910B-64GB": 64,
    "B100-SXM-192GB": 192,
    "B200-SXM-180GB": 180,
    "B300-SXM-288GB": 288,
    "GB200": 186,
    "GB300": 288,
    "GH200-96GB": 96,
    "Gaudi1-32GB": 32,
    "Gaudi2-96GB": 96,
    "Gaudi3-128GB": 128,
    "H20-96GB": 96,
    "H100-80GB": 80,
    "H100-NVL-94GB": 94,
    "H100-PCIE-80GB": 80,
    "H100-SXM5-80GB": 80,
    "H200-NVL-141GB": 141,
    "H200-SXM-141GB": 141,
    "H800-SXM5-80GB": 80,
    "L4-24GB": 24,
    "L40-48GB": 48,
    "L40S-48GB": 48,
    "M4000-8GB": 8,
    "MI210-64GB": 64,
    "MI250X-128GB": 128,
    "MI300X-192GB": 192,
    "MI325X-256GB": 256,
    "MI355X-288GB": 288,
    "P100-16GB": 16,
    "P4000-8GB": 8,
    "RTX-A2000-6GB": 6,
    "RTX-A4000-16GB": 16,
    "RTX-A5000-24GB": 24,
    "RTX-A6000-48GB": 48,
    "RTX2080Ti-11GB": 11,
    "RTX3060-12GB": 12,
    "RTX3060Ti-8GB": 8,
    "RTX3070-8GB": 8,
    "RTX3080-10GB": 10,
    "RTX3090-24GB": 24,
    "RTX4000-Ada-20GB": 20,
    "RTX4060Ti-16GB": 16,
    "RTX4070TiSUPER-16GB": 16,
    "RTX4090-24GB": 24,
    "RTX4090-48GB-modified": 48,
    "RTX4090D-24GB": 24,
    "RTX5000-Ada-32GB": 32,
    "RTX5090-32GB": 32,
    "RTX6000-Ada-48GB": 48,
    "RTX6000-Turing-24GB": 24,
    "RTXPRO6000-Blackwell-96GB": 96,
    "T4-16GB": 16,
    "T4G-16GB": 16,
    "TPU-v3": 32,
    "TPU-v4": 32,
    "TPU-v5e": 16,
    "TPU-v5p": 95,
    "TPU-v6e": 32,
    "Trainium1-32GB": 32,
    "Trainium2-96GB": 96,
    "Trainium3-144GB": 144,
    "V100-16GB": 16,
    "V100-32GB": 32,
}
"""Marketed memory of each known card, GB; equal to gpus.csv (a test compares)."""

MEMORY_SLACK = 0.10
"""Sources round, subtract ECC or write GiB: 22.4 to 24 for an L4, 262 to 288 for a B300, 81.6 for an A100-80. Wider would mix 80 and 94
GB."""

_ALIASES: dict[str, tuple[str, ...]] = {
    "A10-24GB": ("a10", "a10-24gb", "a10-pcie", "a10-tensor-core"),
    "A10G-24GB": ("a10g", "a10g-24gb", "a10g-tensor-core"),
    "A16-16GB": ("a16", "a16-16gb", "a16-pcie"),
    "A30-24GB": ("a30", "a30-24gb", "a30-pcie"),
    "A40-48GB": ("a40", "a40-48gb", "a40-pcie", "a40-pcie-48gb"),
    "A100-40GB": ("a100-40gb", "a100-40g"),
    "A100-80GB": ("a100-80gb", "a100-80g"),
    "A100-PCIE-40GB": ("a100-pcie-40gb", "a100-40gb-pcie", "a100-40g-pcie"),
    "A100-PCIE-80GB": (
        "a100-pcie-80gb",
        "a100-80gb-pcie",
        "a100-80g-pcie",
        "a100-80g-pcie-nvlink",
        "a100-80gb-pcie-nvlink",
        "a100-pcie-80g",
    ),
    "A100-SXM4-40GB": ("a100-sxm4-40gb", "a100-sxm-40gb", "a100-40gb-sxm4", "a100-40gb-sxm", "a100-40g-sxm4", "a100-sxm4-40g"),
    "A100-SXM4-80GB": (
        "a100-sxm4-80gb",
        "a100-sxm-80gb",
        "a100-80gb-sxm4",
        "a100-80gb-sxm",
        "a100-80g-sxm4",
        "a100-sxm4-80g",
        "hgx-a100-80gb",
    ),
    "A800-80GB": ("a800-80gb", "a800-80g"),
    "A800-PCIE-80GB": ("a800-pcie-80gb", "a800-80gb-pcie", "a800-pcie"),
    "A800-SXM4-80GB": ("a800-sxm4-80gb", "a800-80gb-sxm4", "a800-sxm4", "a800-sxm"),
    "Ascend-910B-64GB": ("ascend-910b", "ascend-910b-64gb", "ascend-910b2", "ascend910b", "ascend910b2", "huawei-ascend-910b"),
    "B100-SXM-192GB": ("b100", "b100-sxm-192gb", "b100-sxm"),
    "B200-SXM-180GB": (
        "b200",
        "b200-sxm-180gb",
        "b200-sxm",
        "b200-sxm6",
        "b200-180gb",
        "hgx-b200",
        "b200-sxm6-180gb",
        "b200-192gb",
        "b200-cc-sxm6-180gb",
        "b200-sxm-192gb",
    ),
    "B300-SXM-288GB": (
        "b300",
        "b300-sxm-288gb",
        "b300-sxm",
        "b300-sxm6",
        "b300-288gb",
        "hgx-b300",
        "b300-sxm6-268gb",
        "b300-sxm6-ac",
        "b300-cc-sxm6-268gb",
        "b300-sxm6-288gb",
        "b300-sxm6-262gb",
    ),
    "GB200": ("gb200", "gb200-nvl72", "gb200-superchip", "gb200-nvl", "gb200-186gb", "gb200-192gb"),
    "GB300": ("gb300", "gb300-nvl72", "gb300-sxm6-288gb", "gb300-sxm6", "gb300-288gb"),
    "GH200-96GB": ("gh200", "gh200-96gb", "gh200-superchip", "gh200-sxm", "gh200-480gb"),
    "Gaudi1-32GB": ("gaudi", "gaudi1", "gaudi1-32gb", "habana-gaudi", "gaudi-hl-205"),
    "Gaudi2-96GB": ("gaudi2", "gaudi-2", "gaudi2-96gb", "habana-gaudi2"),
    "Gaudi3-128GB": ("gaudi3", "gaudi-3", "gaudi3-128gb", "intel-gaudi-3"),
    "H20-96GB": ("h20", "h20-96gb", "h20-sxm", "h20-nvlink"),
    "H100-80GB": ("h100-80gb", "h100-80g"),
    "H100-NVL-94GB": ("h100-nvl", "h100-nvl-94gb", "h100nvl"),
    "H100-PCIE-80GB": ("h100-pcie", "h100-pcie-80gb", "h100-80gb-pcie", "h100-80g-pcie", "h100-80g-pcie-nvlink", "h100-80gb-pcie-nvlink"),
    "H100-SXM5-80GB": (
        "h100-sxm",
        "h100-sxm5",
        "h100-sxm5-80gb",
        "h100-sxm-80gb",
        "h100-80gb-sxm5",
        "h100-80gb-sxm",
        "h100-80g-sxm5",
        "h100-80gb-hbm3",
        "hgx-h100",
        "h100-80gb-hgx",
        "h100-mega-80gb",
        "h100-80gb-mega",
    ),
    "H200-NVL-141GB": ("h200-nvl", "h200-nvl-141gb", "h200nvl"),
    "H200-SXM-141GB": (
        "h200",
        "h200-sxm",
        "h200-sxm5",
        "h200-sxm-141gb",
        "h200-sxm5-141gb",
        "h200-141gb",
        "hgx-h200",
        "h200-141gb-hgx",
        "h200-141gb-sxm5",
    ),
    "H800-SXM5-80GB": ("h800-sxm", "h800-sxm5", "h800-sxm5-80gb", "h800-80gb-hbm3"),
    "L4-24GB": ("l4", "l4-24gb", "l4-pcie", "l4-tensor-core"),
    "L40-48GB": ("l40", "l40-48gb", "l40-pcie"),
    "L40S-48GB": ("l40s", "l40s-48gb", "l40s-pcie", "l40s-48g"),
    "M4000-8GB": ("m4000", "m4000-8gb", "quadro-m4000"),
    "MI210-64GB": ("mi210", "mi210-64gb"),
    "MI250X-128GB": ("mi250x", "mi250x-128gb"),
    "MI300X-192GB": ("mi300x", "mi300x-192gb", "mi300x-oam"),
    "MI325X-256GB": ("mi325x", "mi325x-256gb", "mi325x-oam"),
    "MI355X-288GB": ("mi355x", "mi355x-288gb", "mi355x-oam"),
    "P100-16GB": ("p100", "p100-16gb", "p100-pcie-16gb", "p100-pcie"),
    "P4000-8GB": ("p4000", "p4000-8gb", "quadro-p4000"),
    "RTX-A2000-6GB": ("rtx-a2000", "rtxa2000", "a2000", "a2000-6gb", "rtx-a2000-6gb"),
    "RTX-A4000-16GB": ("rtx-a4000", "rtxa4000", "a4000", "a4000-pcie", "rtx-a4000-16gb"),
    "RTX-A5000-24GB": ("rtx-a5000", "rtxa5000", "a5000", "a5000-pcie", "rtx-a5000-24gb"),
    "RTX-A6000-48GB": ("rtx-a6000", "rtxa6000", "a6000", "a6000-pcie", "rtx-a6000-48gb", "a6000-pcie-low-ram", "a6000-pcie-high-perf"),
    "RTX2080Ti-11GB": ("rtx-2080-ti", "rtx2080ti", "rtx-2080ti", "rtx2080ti-11gb", "2080ti", "rtx2080-ti"),
    "RTX3060-12GB": ("rtx-3060", "rtx3060", "rtx3060-12gb", "3060"),
    "RTX3060Ti-8GB": ("rtx-3060-ti", "rtx3060ti", "rtx-3060ti", "rtx3060ti-8gb", "rtx3060-ti"),
    "RTX3070-8GB": ("rtx-3070", "rtx3070", "rtx3070-8gb"),
    "RTX3080-10GB": ("rtx-3080", "rtx3080", "rtx3080-10gb", "3080"),
    "RTX3090-24GB": ("rtx-3090", "rtx3090", "rtx3090-24gb", "3090"),
    "RTX4000-Ada-20GB": (
        "rtx-4000-ada",
        "rtx4000-ada",
        "rtx4000ada",
        "rtx-4000-ada-generation",
        "rtx-4000-sff-ada",
        "rtx-4000-sff-ada-generation",
        "rtx4000-ada-20gb",
    ),
    "RTX4060Ti-16GB": ("rtx4060ti-16gb", "rtx-4060-ti-16gb"),
    "RTX4070TiSUPER-16GB": ("rtx-4070-ti-super", "rtx4070tisuper", "rtx4070tisuper-16gb", "rtx-4070s-ti", "rtx4070-ti-super"),
    "RTX4090-24GB": ("rtx-4090", "rtx4090", "rtx4090-24gb", "rtx-4090-24gb", "4090", "rtx4090-pcie", "rtx-4090-24g"),
    "RTX4090-48GB-modified": ("rtx-4090-48gb", "rtx4090-48gb", "rtx-4090-48g", "rtx4090-48gb-modified"),
    "RTX4090D-24GB": ("rtx-4090d", "rtx4090d", "rtx-4090-d", "rtx4090d-24gb"),
    "RTX5000-Ada-32GB": ("rtx-5000-ada", "rtx5000-ada", "rtx5000ada", "rtx-5000-ada-generation", "rtx-5000ada", "rtx5000-ada-32gb"),
    "RTX5090-32GB": ("rtx-5090", "rtx5090", "rtx5090-32gb", "rtx5090-pcie", "5090"),
    "RTX6000-Ada-48GB": (
        "rtx-6000-ada",
        "rtx6000-ada",
        "rtx6000ada",
        "rtx-6000ada",
        "rtx-6000-ada-generation",
        "rtx6000ada-pcie",
        "rtx6000-ada-48gb",
        "rtx-6000-ada-48gb",
    ),
    "RTX6000-Turing-24GB": ("quadro-rtx-6000", "q-rtx-6000", "rtx6000-turing-24gb"),
    "RTXPRO6000-Blackwell-96GB": (
        "rtx-pro-6000",
        "rtxpro6000",
        "rtx-pro6000",
        "rtx-pro-6000-96gb",
        "rtx-pro-6000-blackwell",
        "rtxpro6000-pcie",
        "rtxpro6000blackwell",
        "rtx-pro-6000-blackwell-server-edition",
        "rtx-pro-6000-blackwell-workstation-edition",
        "rtx-pro-6000-server-edition",
        "rtx-pro-6000-se",
        "rtx-pro-6000-s",
        "rtx-pro-6000-ws",
        "rtx-pro-6000-wk",
        "rtxpro6000s",
        "rtxpro6000-wk",
        "rtxpro6000-blackwell-96gb",
        "rtx-pro-6000-cc-96gb",
        "rtx-pro-6000-cc",
    ),
    "T4-16GB": ("t4", "t4-16gb", "t4-pcie"),
    "T4G-16GB": ("t4g", "t4g-16gb"),
    "TPU-v3": ("tpu-v3", "tpu-v3-pod"),
    "TPU-v4": ("tpu-v4", "tpu-v4-pod"),
    "TPU-v5e": ("tpu-v5e", "tpu-v5litepod", "v5litepod"),
    "TPU-v5p": ("tpu-v5p",),
    "TPU-v6e": ("tpu-v6e", "trillium"),
    "Trainium1-32GB": ("trainium", "trainium1", "trainium1-32gb"),
    "Trainium2-96GB": ("trainium2", "trainium2-96gb"),
    "Trainium3-144GB": ("trainium3", "trainium3-144gb"),
    "V100-16GB": ("v100-16gb", "v100-sxm2-16gb", "v100-pcie-16gb", "v100-16g"),
    "V100-32GB": ("v100-32gb", "v100-sxm2-32gb", "v100-pcie-32gb", "v100-32g", "v100-32g-pcie"),
}

_BY_MEMORY: dict[str, tuple[str, ...]] = {
    "a100": ("A100-40GB", "A100-80GB"),
    "a100-pcie": ("A100-PCIE-40GB", "A100-PCIE-80GB"),
    "a100-sxm": ("A100-SXM4-40GB", "A100-SXM4-80GB"),
    "a100-sxm4": ("A100-SXM4-40GB", "A100-SXM4-80GB"),
    "hgx-a100": ("A100-SXM4-40GB", "A100-SXM4-80GB"),
    "a800": ("A800-80GB",),
    "h100": ("H100-80GB", "H100-NVL-94GB"),
    "v100": ("V100-16GB", "V100-32GB"),
    "v100-sxm2": ("V100-16GB", "V100-32GB"),
    "rtx-4060-ti": ("RTX4060Ti-16GB",),
    "rtx4060ti": ("RTX4060Ti-16GB",),
    "rtx6000": ("RTX6000-Turing-24GB",),
    "rtx-6000": ("RTX6000-Turing-24GB",),
    "rtx-4090": ("RTX4090-24GB", "RTX4090-48GB-modified"),
    "rtx4090": ("RTX4090-24GB", "RTX4090-48GB-modified"),
}
"""Names that fit several cards, or a card and an unknown sister: without a stated memory they mean none (but a plain RTX 4090 has 24
GB)."""

_MAKER = re.compile(r"^(?:nvidia|geforce|tesla|amd|instinct)-")
_TAIL = re.compile(r"-(?:baremetal|gpu|tensor-core-gpu)$")


def spelling(text: str) -> str:
    """One spelling of a name: lower case, single hyphens, without the maker's words and the words "GPU" and "bare metal" at the end."""
    name = re.sub(r"[\s_/()]+", "-", text.strip().casefold()).strip("-")
    while (shorter := _TAIL.sub("", _MAKER.sub("", name))) != name:
        name = shorter
    return name


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for card, aliases in _ALIASES.items():
        for alias in (*aliases, spelling(card)):
            if table.setdefault(alias, card) != card:
                msg = f"alias {alias!r} names both {table[alias]} and {card}"
                raise ValueError(msg)
    return table


_EXACT = _table()


def memory_fits(card: str, memory_gb: float) -> bool:
    """Whether a stated memory of one GPU can be this card's: within a tenth of the marketed figure."""
    known = CARD_MEMORY_GB[card]
    return abs(memory_gb - known) <= MEMORY_SLACK * known


def gpu_name(text: str, memory_gb: float | None = None) -> str | None:
    """The canonical card a source's name means, or None.

    None when the name is unknown, needs a memory that is not stated, or contradicts the memory stated.

    Args:
        text: the name as the source writes it, of one GPU, without a count.
        memory_gb: memory of one GPU in GB if the source states it (convert MB and GiB fields first).
    """
    name = spelling(text)
    if memory_gb is None:
        return _EXACT.get(name)
    candidates = _BY_MEMORY.get(name) or ((_EXACT[name],) if name in _EXACT else ())
    return next((card for card in candidates if memory_fits(card, memory_gb)), None)
