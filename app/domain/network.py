"""Links inside and between nodes, and the time of collective operations over them.

Rates are one way, per GPU inside a node and per node between nodes, in bytes per second that a collective really gets. A ring that crosses
nodes uses all network cards of a node at once, so one node's collective of M bytes takes M / (network rate of the node) and not eight times
that; NCCL's published bus bandwidths (440-490 GB/s on two nodes of 8 x 400 Gb/s) say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.calibration import DEFAULT, Calibration
from app.domain.gpus import Gpu
from app.domain.hardware import INTRA_LINKS, Bools, Floats, HardwareColumns, IntraLink
from app.domain.kernel_efficiency import of_class

_GBIT_S = 1e9 / 8.0
_PAIR = 2
_FABRIC_GPUS = 8
"""GPUs of the node that a cluster's network is built for (HGX, OAM base boards)."""
_RACK_GPUS = 72
_POD_CHIPS = 9216


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Usable rates in bytes/s: ``intra`` of one GPU to its peers, ``node`` of one node's network, ``host`` of one GPU to host memory.

    ``node_assumed`` marks rows whose network nobody stated.
    """

    intra: Floats
    node: Floats
    host: Floats
    node_assumed: Bools


def pcie_bytes_per_second(gpu: Gpu, calibration: Calibration) -> float:
    """Usable one-way rate between the card and its host."""
    rates = calibration.pcie_gb_s
    nominal = rates.get(str(gpu.pcie_generation), rates[DEFAULT])
    return nominal * calibration.link_share["pcie"] * 1e9


def intra_node_bytes_per_second(gpu: Gpu, link: IntraLink, calibration: Calibration) -> float:
    """Usable one-way rate of one GPU to its peers in the node."""
    pcie = pcie_bytes_per_second(gpu, calibration)
    if gpu.form_factor == "consumer":
        pcie *= calibration.pcie_consumer_share
    if link in ("none", "pcie") or gpu.link_gb_s <= 0:
        return pcie
    share = calibration.link_share.get(link, calibration.link_share["other"])
    return max(gpu.link_gb_s / 2.0 * share * 1e9, pcie)


def assumed_network_gbit_s(hardware: HardwareColumns, calibration: Calibration) -> Floats:
    """Network of a node that nobody stated, Gbit/s.

    Nodes of eight cards and more have network cards beside their GPUs: the careful figure of the card's class for each eight. Smaller ones
    are ordinary virtual machines with an ordinary network, unless they are trays of a rack or hosts of a pod.
    """
    per_eight = hardware.per_gpu([of_class(calibration.assumed_network_gbit_s, gpu) for gpu in hardware.gpus])
    alone = hardware.per_gpu([float(link_domain_gpus(gpu)) for gpu in hardware.gpus]) == 0.0
    ordinary = alone & (hardware.gpus_per_node < _FABRIC_GPUS)
    return np.where(ordinary, calibration.assumed_machine_gbit_s, per_eight * hardware.gpus_per_node / _FABRIC_GPUS)


def link_domain_gpus(gpu: Gpu) -> int:
    """GPUs that the vendor's own link joins across machines: a rack of 72, a pod of TPUs; 0 where it ends at the machine."""
    if "NVL72" in gpu.link:
        return _RACK_GPUS
    return _POD_CHIPS if "torus" in gpu.link else 0


def links(hardware: HardwareColumns, calibration: Calibration) -> Links:
    """The usable rates of every row."""
    table = np.array([[intra_node_bytes_per_second(gpu, link, calibration) for link in INTRA_LINKS] for gpu in hardware.gpus])
    intra = table[hardware.gpu_index, hardware.link]
    pairs = (hardware.link == INTRA_LINKS.index("nvlink_pair")) & (hardware.gpus_per_node > _PAIR)
    if pairs.any():  # a ring over more than two bridged cards crosses the host
        intra = np.where(pairs, table[hardware.gpu_index, INTRA_LINKS.index("pcie")], intra)
    assumed = np.isnan(hardware.inter_node_gbit_s)
    stated = np.where(assumed, assumed_network_gbit_s(hardware, calibration), hardware.inter_node_gbit_s)
    node = np.maximum(stated, 0.1) * (_GBIT_S * calibration.network_share)
    domain = hardware.per_gpu([float(link_domain_gpus(gpu)) for gpu in hardware.gpus])
    linked = (hardware.total_gpus <= domain) & (hardware.nodes > 1)
    if linked.any():
        node = np.where(linked, np.maximum(intra * hardware.gpus_per_node, node), node)
    return Links(
        intra=intra,
        node=node,
        host=hardware.per_gpu([pcie_bytes_per_second(gpu, calibration) for gpu in hardware.gpus]),
        node_assumed=assumed & (hardware.nodes > 1) & ~linked,
    )


def ring_seconds(payload_bytes: Floats | float, ranks: Floats, rate: Floats) -> Floats:
    """One pass round a ring (all-gather or reduce-scatter) of ``payload_bytes`` over ``ranks``: payload · (n-1)/n / rate.

    An all-reduce is two of them. Source: the bus-bandwidth convention of NCCL's tests.
    """
    return np.asarray(payload_bytes * (1.0 - 1.0 / ranks) / rate)
