"""Bytes in motion: the data set, checkpoints and results, and how long they take at line rate."""

from __future__ import annotations

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.hardware import Bools, Floats, Ints
from app.domain.units import GB, SECONDS_PER_HOUR
from app.domain.workload import TrainingJob

_BITS_PER_BYTE = 8.0
_WEIGHT_BYTES = 2.0
_ADAPTER_WEIGHT_BYTES = 4.0
_CUSTOM_WEIGHT_BYTES = 4.0
_MBIT_PER_GBIT = 1000.0
_ALMOST_NOTHING = 1e-9


def transfer_hours(gb: Floats | float, gbit_s: Floats | float) -> Floats:
    """Hours to move ``gb`` over a line of ``gbit_s`` at line rate: 10 Gbit/s move 4,500 GB in an hour, not 7,000."""
    return np.asarray(gb * _BITS_PER_BYTE / gbit_s / SECONDS_PER_HOUR, dtype=np.float64)


def epochs(job: TrainingJob) -> float:
    """How often the data set is read."""
    return job.spec.target.epochs or 1.0


def dataset_gb(job: TrainingJob, assumptions: Assumptions) -> float:
    """Size of the data set: as given, else tokens of one epoch × bytes a token, else the stated default."""
    if job.spec.data.dataset_gb is not None:
        return job.spec.data.dataset_gb
    if job.unit == "token":
        return job.units_total / epochs(job) * assumptions.bytes_per_token.value / GB
    return assumptions.dataset_default_gb.value


def kept_checkpoints_gb(job: TrainingJob) -> float:
    """Size of all checkpoints that are kept."""
    return job.checkpoint_gb * job.spec.data.checkpoints_kept


def download_gb(job: TrainingJob) -> float:
    """What leaves the platform at the end: as given, else the result. Optimizer states stay behind: they only serve to resume.

    All weights in 16 bits after full training, the adapter's weights in 32 bits after LoRA, a custom network's in 32 bits; of a network of
    unknown size one checkpoint.
    """
    given = job.spec.data.download_gb
    if given is not None:
        return given
    if job.model is None:
        return job.trainable_parameters * _CUSTOM_WEIGHT_BYTES / GB or job.checkpoint_gb
    if job.method in {"lora", "qlora"}:
        return job.trainable_parameters * _ADAPTER_WEIGHT_BYTES / GB
    return job.model.parameters * _WEIGHT_BYTES / GB


def user_link_gbit_s(job: TrainingJob) -> float:
    """The caller's own line."""
    return job.spec.data.upload_mbit_s / _MBIT_PER_GBIT


def checkpoint_seconds(checkpoint_gb: float, nodes: Ints, assumptions: Assumptions) -> Floats:
    """Seconds that training stands still for one checkpoint: every node writes its share to durable storage, up to the system's cap."""
    rate = np.minimum(nodes * assumptions.checkpoint_write_gb_per_s_per_node.value, assumptions.checkpoint_write_cap_gb_per_s.value)
    seconds: Floats = checkpoint_gb / rate + assumptions.checkpoint_fixed_seconds.value
    return seconds


def read_seconds(job: TrainingJob, nodes: Ints, local_nvme: Bools, assumptions: Assumptions) -> Floats:
    """Seconds to read the data set once with all nodes together: by bytes or, for many small files, by files; the slower counts."""
    gb_per_s = np.where(local_nvme, assumptions.nvme_read_gb_per_s_per_node.value, assumptions.shared_read_gb_per_s_per_node.value)
    seconds = dataset_gb(job, assumptions) / (gb_per_s * nodes)
    if job.spec.data.files:
        files_per_s = np.where(
            local_nvme, assumptions.nvme_small_files_per_s_per_node.value, assumptions.shared_small_files_per_s_per_node.value
        )
        seconds = np.maximum(seconds, job.spec.data.files / (files_per_s * nodes))
    return seconds


def staging_hours(job: TrainingJob, nodes: Ints, assumptions: Assumptions) -> Floats:
    """Hours of rented machines to bring the data set from shared storage to where it is read."""
    return read_seconds(job, nodes, np.zeros(len(nodes), dtype=np.bool_), assumptions) / SECONDS_PER_HOUR


def reading_seconds(job: TrainingJob, nodes: Ints, local_nvme: Bools, assumptions: Assumptions) -> Floats:
    """Seconds to read the data set as often as the job asks, never quite zero."""
    return np.maximum(read_seconds(job, nodes, local_nvme, assumptions) * epochs(job), _ALMOST_NOTHING)


def data_loading_factor(units_total: float, units_per_second: Floats, reading: Floats) -> Floats:
    """Share of ``units_per_second`` that the data can follow, at most 1: reading overlaps with computing."""
    factor: Floats = np.minimum(1.0, units_total / (units_per_second * reading))
    return factor
