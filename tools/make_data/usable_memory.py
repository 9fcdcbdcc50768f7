"""How much of a card's memory one process can allocate, in GB (10^9 bytes).

Measured capacities (GiB, less context reserved by driver and ECC) stand in ``MEASURED_GIB``. For other cards:

1. NVIDIA cards before the Blackwell data-centre parts and all RTX cards: the maker's "GB" is 2^30 bytes. GDDR cards with ECC always on
  (inference cards:
   T4G, A10, A16, A40, L4, L40) keep 91.25 % of it, the lowest share among the measured ones (T4 14.6 of 16); all others keep 98.5 %
   (measured: 98.4 to 99 %).
2. Blackwell data-centre parts, AMD, Intel, Google, AWS and Huawei: sellers print sizes that disagree (a B300 has 262 to 288 GB), so the
  marketed figure is read
   as 10^9 bytes and 98.5 % of it is counted.
"""

from __future__ import annotations

from app.domain.units import GIB

MEASURED_GIB = {
    "T4-16GB": 14.6,
    "V100-16GB": 15.8,
    "A10G-24GB": 22.0,
    "RTX3090-24GB": 23.65,
    "RTX4090-24GB": 23.65,
    "RTX4090D-24GB": 23.65,
    "A100-40GB": 39.4,
    "A100-PCIE-40GB": 39.4,
    "A100-SXM4-40GB": 39.4,
    "L40S-48GB": 44.4,
    "RTX-A6000-48GB": 47.5,
    "A100-80GB": 79.2,
    "A100-PCIE-80GB": 79.2,
    "A100-SXM4-80GB": 79.2,
    "A800-80GB": 79.2,
    "A800-PCIE-80GB": 79.2,
    "A800-SXM4-80GB": 79.2,
    "H100-80GB": 79.2,
    "H100-PCIE-80GB": 79.2,
    "H100-SXM5-80GB": 79.2,
    "H800-SXM5-80GB": 79.2,
    "GH200-96GB": 94.5,
    "H20-96GB": 94.5,
    "H200-SXM-141GB": 140.0,
    "H200-NVL-141GB": 140.0,
}
_ECC_SHARE = 0.9125
_SHARE = 0.985
_ECC_ALWAYS = frozenset({"T4G-16GB", "A10-24GB", "A16-16GB", "A40-48GB", "L4-24GB", "L40-48GB"})
_BLACKWELL_BOARDS = frozenset({"B100-SXM-192GB", "B200-SXM-180GB", "B300-SXM-288GB", "GB200", "GB300"})


def usable_memory_gb(name: str, memory_gb: float, vendor: str) -> float:
    """Allocatable memory of a card, GB, rounded to 0.01."""
    if name in MEASURED_GIB:
        usable = MEASURED_GIB[name] * GIB / 1e9
    elif vendor == "NVIDIA" and name not in _BLACKWELL_BOARDS:
        usable = memory_gb * (_ECC_SHARE if name in _ECC_ALWAYS else _SHARE) * GIB / 1e9
    else:
        usable = memory_gb * _SHARE
    return round(usable, 2)
