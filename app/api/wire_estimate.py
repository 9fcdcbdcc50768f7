"""``POST /estimate``: a workload on stated hardware, as JSON."""

from __future__ import annotations

from pydantic import Field

from app.api.wire import Figure, In, Out
from app.api.wire_physics import ConfigurationOut, MemoryOut, SpeedOut, WorkloadOut
from app.api.wire_workload import Name, WorkloadIn
from app.domain.configuration import AttentionKernel, LossKernel, Offload, Recompute, Sharding
from app.domain.gpus import Gpu, Precision
from app.domain.hardware import Hardware, IntraLink, usual_link
from app.domain.layouts import Pins
from app.domain.physics import Verdict
from app.domain.workload import Optimizer


class HardwareIn(In):
    """Equal machines."""

    gpu: Name = Field(examples=["A100-SXM4-80GB"])
    """The card; ``GET /gpus`` lists them."""
    gpus_per_node: int = Field(default=1, ge=1, le=1024)
    """Cards in one machine."""
    nodes: int = Field(default=1, ge=1, le=100_000)
    """Machines."""
    intra_node_link: IntraLink | None = None
    """How the cards of one machine are joined; null: the module's own link (SXM, OAM, TPU), else PCIe."""
    inter_node_gbit_s: float | None = Field(default=None, gt=0, le=1e6)
    """Network of one machine, Gbit/s, all its cards together; null: unknown, an assumption is used."""
    storage_gb_s: float | None = Field(default=None, ge=1e-4, le=1e6)
    """Reading speed of the storage of one machine, GB/s; null: unknown, an assumption is used."""
    vcpus_per_node: float | None = Field(default=None, gt=0, le=1e5)
    """Virtual processors of one machine; null: unknown."""
    ram_gb_per_node: float | None = Field(default=None, gt=0, le=1e6)
    """Memory of one machine, GB; null: unknown."""

    def hardware(self, gpu: Gpu) -> Hardware:
        """The same in the domain's words."""
        link = self.intra_node_link or usual_link(gpu, self.gpus_per_node)
        return Hardware(gpu=gpu, intra_node_link=link, **self.model_dump(exclude={"gpu", "intra_node_link"}))


class ConfigurationIn(In):
    """Fields of the configuration that the search must keep; null leaves the choice to it."""

    precision: Precision | None = None
    """Arithmetic of the matrix products."""
    micro_batch: int | None = Field(default=None, ge=1, le=1_000_000)
    """Sequences a GPU works on at once."""
    gradient_accumulation: int | None = Field(default=None, ge=1, le=1_000_000)
    """Micro-steps of one optimizer step."""
    activation_checkpointing: Recompute | None = None
    """What is recomputed in the backward pass."""
    sharding: Sharding | None = None
    """What is spread over data-parallel ranks."""
    tensor_parallel: int | None = Field(default=None, ge=1, le=1024)
    """GPUs that share each layer."""
    pipeline_parallel: int | None = Field(default=None, ge=1, le=1024)
    """Stages that the layers are split into."""
    offload: Offload | None = None
    """What is kept in host memory."""
    optimizer: Optimizer | None = None
    """The optimizer."""
    attention: AttentionKernel | None = None
    """Attention kernel."""
    loss: LossKernel | None = None
    """Loss kernel."""

    def pins(self) -> Pins:
        """The same in the domain's words."""
        return Pins(**self.model_dump())


class EstimateIn(In):
    """One question: does this run fit on this hardware, and how long does it take?"""

    workload: WorkloadIn
    """What is to be trained."""
    hardware: HardwareIn
    """What it is to be trained on."""
    configuration: ConfigurationIn = ConfigurationIn()
    """What is already decided."""


class EstimateOut(Out):
    """Memory, speed and time. No prices are involved."""

    verdict: Verdict
    """Does it fit?"""
    configuration: ConfigurationOut | None
    """The configuration chosen; null when none can be expressed."""
    memory: MemoryOut | None
    """Memory of one GPU; null when there is no configuration."""
    speed: SpeedOut | None
    """Speed over all GPUs; null when nothing can run."""
    compute_hours: Figure | None
    """Hours of training; null when nothing can run."""
    gpu_hours: Figure | None
    """GPU-hours of training; null when nothing can run."""
    model_flops: Figure | None
    """FLOPs that the model needs in all; null when only a measurement is known."""
    workload: WorkloadOut
    """The workload as understood."""
    reasons: list[str]
    """Why it does not fit, or what was decided on the way."""
