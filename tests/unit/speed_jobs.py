"""Jobs, machines and layouts for tests of speed."""

from __future__ import annotations

from app.catalog.calibration import load_calibration
from app.catalog.gpus import load_gpus
from app.catalog.models import load_presets
from app.domain.configuration import Configuration, ConfigurationColumns
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.physics import SpeedColumns
from app.domain.resolve import resolve
from app.domain.throughput import estimate_speed
from app.domain.workload import ModelSpec, TargetSpec, TrainingJob, WorkloadSpec

GPUS = load_gpus()
PRESETS = load_presets()
CALIBRATION = load_calibration()


def job(preset: str = "llama-2-7b", **changes) -> TrainingJob:
    given = {
        "model": ModelSpec(preset=preset),
        "method": "pretrain",
        "target": TargetSpec(tokens_b=1.0),
        "sequence_length": 2048,
        "global_batch_sequences": 512,
        "stack": "fsdp",
    }
    return resolve(WorkloadSpec(**{**given, **changes}), presets=PRESETS, gpus=GPUS)


def machine(
    gpu: str = "A100-SXM4-80GB", gpus_per_node: int = 8, nodes: int = 1, link: str = "nvlink", gbit_s: float | None = 1600.0
) -> Hardware:
    return Hardware(
        gpu=GPUS[gpu],
        gpus_per_node=gpus_per_node,
        nodes=nodes,
        intra_node_link="none" if gpus_per_node == 1 else link,
        inter_node_gbit_s=gbit_s,
    )


def layout(**changes) -> Configuration:
    return Configuration(**{"micro_batch": 4, "sharding": "zero3", **changes})


def speed(task: TrainingJob, hardware: Hardware, configuration: Configuration) -> SpeedColumns:
    return estimate_speed(task, HardwareColumns.of([hardware]), ConfigurationColumns.of([configuration]), CALIBRATION)


def rate(task: TrainingJob, hardware: Hardware, configuration: Configuration) -> float:
    return float(speed(task, hardware, configuration).units_per_second[0])
