"""Links inside and between machines, from the card's form and what providers document.

Where nothing is documented the speed is unknown, not zero. Inside: one GPU has none; cards on SXM boards are joined all to all by
NVLink; MI300-class boards by xGMI; TPUs by ICI; NVL cards and machines sold as "NVLink" with PCIe cards have bridges between
pairs; everything else goes through PCIe.

Between: Gbit/s of the whole machine, from the providers' machine pages (AWS EFA, Azure InfiniBand, Google TCPX, Scaleway
Ethernet, IBM cluster network).
"""

from __future__ import annotations

import re

from app.domain.gpus import Gpu
from app.domain.hardware import IntraLink

_DOCUMENTED: tuple[tuple[str, str, float], ...] = (
    ("aws", r"p4de?\.24xlarge", 400),
    ("aws", r"p5(e|en)?\.48xlarge", 3200),
    ("aws", r"p5\.4xlarge", 100),
    ("aws", r"p6-b200\.48xlarge", 3200),
    ("aws", r"p6-b300\.48xlarge", 6400),
    ("aws", r"g6e\.48xlarge", 400),
    ("aws", r"g7e\.48xlarge", 1600),
    ("aws", r"trn2\.48xlarge", 3200),
    ("aws-china", r"p4de?\.24xlarge", 400),
    ("azure", r"Standard_ND96isrf?_H[12]00_v5", 3200),
    ("azure", r"Standard_ND96(amsr|asr)(_A100)?_v4", 1600),
    ("gcp", r"a3-highgpu-8g", 800),
    ("gcp", r"a3-megagpu-8g", 1600),
    ("ibm", r"gx3d-160x1792x8h100", 3200),
    ("scaleway", r".*-8-.*", 20),
)
_SINGLE_NODE: tuple[tuple[str, str], ...] = (
    ("vast", r".*"),
    ("jarvislabs", r".*"),
    ("seeweb", r".*"),
    ("civo", r".*"),
    ("massedcompute", r".*"),
    ("hotaisle", r"VM .*"),
    ("scaleway", r".*"),
    ("compshare", r".*"),
    ("autodl", r".*"),
)
"""Platforms that document one machine per job, or no joining of machines."""


_V100_NVLINK: tuple[tuple[str, str], ...] = (
    ("aws", r"p3.*"),
    ("aws-china", r"p3.*"),
    ("azure", r"Standard_ND40rs_v2"),
    ("lambda", r"gpu_8x_v100.*"),
    ("oci", r"(VM|BM)\.GPU3\..*"),
    ("tencent", r"GN10.*"),
)
"""Machines whose V100 are SXM2 boards; elsewhere the name covers PCIe cards too, and the slower link is assumed."""


def intra_node_link(gpu: Gpu, gpus_per_node: int, *, provider: str, sku: str, bridged: bool) -> IntraLink:
    """How the GPUs of one machine reach each other; ``bridged`` says that the machine's name promises NVLink."""
    if gpus_per_node == 1:
        return "none"
    if gpu.form_factor == "TPU":
        return "ici"
    if gpu.vendor == "AMD":
        return "xgmi" if gpu.form_factor == "OAM" else "pcie"
    if gpu.vendor != "NVIDIA":
        return "other"
    if gpu.form_factor == "SXM2":
        return "nvlink" if any(name == provider and re.fullmatch(pattern, sku) for name, pattern in _V100_NVLINK) else "pcie"
    if gpu.form_factor == "SXM":
        return "nvlink"
    if gpu.name in {"H100-NVL-94GB", "H200-NVL-141GB"}:
        return "nvlink_pair"
    if bridged:
        return "nvlink_pair" if gpu.form_factor == "PCIe" else "nvlink"
    return "pcie"


def inter_node_gbit_s(provider: str, sku: str) -> float | None:
    """The documented network of a whole machine, or None."""
    return next((speed for name, pattern, speed in _DOCUMENTED if name == provider and re.fullmatch(pattern, sku)), None)


def maximum_nodes(provider: str, sku: str) -> int | None:
    """1 where a platform offers single machines only, else None (unknown)."""
    single = any(name == provider and re.fullmatch(pattern, sku) for name, pattern in _SINGLE_NODE)
    return 1 if single else None
