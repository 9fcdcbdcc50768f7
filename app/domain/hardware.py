"""Hardware shapes: one for words (``Hardware``), one in columns for arithmetic over many at once (``HardwareColumns``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.domain.gpus import Gpu

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

IntraLink = Literal["none", "pcie", "nvlink_pair", "nvlink", "xgmi", "ici", "other"]
"""``none``: one GPU. ``pcie``: through the host. ``nvlink_pair``: bridges between two cards. ``nvlink``: all to all (NVSwitch or HGX)."""
INTRA_LINKS: tuple[IntraLink, ...] = ("none", "pcie", "nvlink_pair", "nvlink", "xgmi", "ici", "other")


def usual_link(gpu: Gpu, gpus_per_node: int) -> IntraLink:
    """How the cards of one machine are joined when nobody says: by the module's own link where its form has one, else by PCIe."""
    if gpus_per_node == 1:
        return "none"
    form = gpu.form_factor.upper()
    if form.startswith("SXM"):
        return "nvlink"
    if form == "OAM":
        return "xgmi" if gpu.vendor == "AMD" else "other"
    return "ici" if form == "TPU" else "pcie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """``nodes`` equal machines of ``gpus_per_node`` GPUs. Unknown figures are None, never 0.

    ``inter_node_gbit_s`` is the network of one node, Gbit/s, all cards together.
    """

    gpu: Gpu
    gpus_per_node: int
    nodes: int = 1
    intra_node_link: IntraLink = "pcie"
    inter_node_gbit_s: float | None = None
    storage_gb_s: float | None = None
    vcpus_per_node: float | None = None
    ram_gb_per_node: float | None = None

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.gpus_per_node * self.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareColumns:
    """Many shapes as columns of equal length n. ``gpu_index`` points into ``gpus``; NaN means unknown.

    ``link`` holds indices into INTRA_LINKS.
    """

    gpus: tuple[Gpu, ...]
    gpu_index: Ints
    gpus_per_node: Ints
    nodes: Ints
    link: Ints
    inter_node_gbit_s: Floats
    storage_gb_s: Floats
    vcpus_per_node: Floats
    ram_gb_per_node: Floats

    def __len__(self) -> int:
        return len(self.gpu_index)

    @classmethod
    def of(cls, shapes: Sequence[Hardware]) -> HardwareColumns:
        """Columns from shapes, in order; equal GPUs share one entry."""
        gpus: dict[str, Gpu] = {}
        for shape in shapes:
            gpus.setdefault(shape.gpu.name, shape.gpu)
        position = {name: index for index, name in enumerate(gpus)}

        def floats(values: Sequence[float | None]) -> Floats:
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

        return cls(
            gpus=tuple(gpus.values()),
            gpu_index=np.array([position[shape.gpu.name] for shape in shapes], dtype=np.int64),
            gpus_per_node=np.array([shape.gpus_per_node for shape in shapes], dtype=np.int64),
            nodes=np.array([shape.nodes for shape in shapes], dtype=np.int64),
            link=np.array([INTRA_LINKS.index(shape.intra_node_link) for shape in shapes], dtype=np.int64),
            inter_node_gbit_s=floats([shape.inter_node_gbit_s for shape in shapes]),
            storage_gb_s=floats([shape.storage_gb_s for shape in shapes]),
            vcpus_per_node=floats([shape.vcpus_per_node for shape in shapes]),
            ram_gb_per_node=floats([shape.ram_gb_per_node for shape in shapes]),
        )

    def take(self, index: Ints) -> HardwareColumns:
        """The rows at ``index`` (repeats allowed), as new columns."""
        return HardwareColumns(
            gpus=self.gpus,
            gpu_index=self.gpu_index[index],
            gpus_per_node=self.gpus_per_node[index],
            nodes=self.nodes[index],
            link=self.link[index],
            inter_node_gbit_s=self.inter_node_gbit_s[index],
            storage_gb_s=self.storage_gb_s[index],
            vcpus_per_node=self.vcpus_per_node[index],
            ram_gb_per_node=self.ram_gb_per_node[index],
        )

    def per_gpu(self, values: Sequence[float | None]) -> Floats:
        """Spread one figure a GPU model over the rows; None becomes NaN."""
        table = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return table[self.gpu_index]

    @property
    def total_gpus(self) -> Ints:
        """GPUs in all, per row."""
        return self.gpus_per_node * self.nodes
