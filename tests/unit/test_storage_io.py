from __future__ import annotations

import numpy as np
import pytest

from app.domain.hardware import Bools
from app.domain.storage_io import checkpoint_seconds, data_loading_factor, dataset_gb, download_gb, reading_seconds, transfer_hours
from app.domain.workload import TrainingJob
from tests.support.bills import ASSUMPTIONS, a_job

ONE = np.array([1])
SHARED, NVME = np.array([False]), np.array([True])


def _loading(job: TrainingJob, storage: Bools) -> float:
    return float(data_loading_factor(job.units_total, np.array([1.0]), reading_seconds(job, ONE, storage, ASSUMPTIONS))[0])


def test_ten_gigabits_a_second_upload_four_and_a_half_terabytes_an_hour() -> None:
    assert float(transfer_hours(4500.0, 10.0)) == pytest.approx(1.0)


def test_a_checkpoint_is_written_by_all_nodes_up_to_the_cap() -> None:
    seconds = checkpoint_seconds(2300.0, np.array([1, 48, 1000]), ASSUMPTIONS) - ASSUMPTIONS.checkpoint_fixed_seconds.value
    assert seconds == pytest.approx([2300.0, 2300.0 / 48.0, 2300.0 / 57.5])


def test_the_data_set_defaults_to_four_bytes_a_token() -> None:
    job = a_job(unit="token", units_total=1.5e9, data={"dataset_gb": None})
    assert dataset_gb(job, ASSUMPTIONS) == pytest.approx(6.0)


def test_reading_slower_than_computing_sets_the_pace() -> None:
    # 3,600 GB at 1 GB/s take an hour; computing takes half of that
    job = a_job(units_total=1800.0, data={"dataset_gb": 3600.0})
    assert _loading(job, SHARED) == pytest.approx(0.5)


def test_many_small_files_load_slower_than_the_same_bytes() -> None:
    job = a_job(units_total=100.0, data={"dataset_gb": 10.0, "files": 500_000})
    shared = _loading(job, SHARED)
    # 500,000 files at 1,242.8 files/s take 402 s
    assert shared == pytest.approx(100.0 / (500_000 / 1242.8))
    assert _loading(job, NVME) > shared


def test_reading_faster_than_computing_costs_nothing() -> None:
    job = a_job(units_total=1e6, data={"dataset_gb": 1.0})
    assert _loading(job, SHARED) == 1.0


def test_of_a_custom_network_its_weights_are_taken_home_in_32_bits() -> None:
    assert download_gb(a_job(trainable_parameters=3e9, data={"download_gb": None})) == pytest.approx(12.0)


def test_of_a_network_of_unknown_size_one_checkpoint_is_taken_home() -> None:
    assert download_gb(a_job(trainable_parameters=0.0, data={"download_gb": None, "checkpoint_gb": 7.0})) == pytest.approx(7.0)
