"""One measured run as the estimator sees it, and what it predicts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from app.domain.calibration import Calibration
from app.domain.configuration import RECOMPUTES, Configuration, ConfigurationColumns
from app.domain.drift import Z90
from app.domain.hardware import Hardware, HardwareColumns
from app.domain.memory import estimate_memory
from app.domain.physics import VERDICTS
from app.domain.throughput import estimate_speed
from app.domain.workload import TrainingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A job on stated hardware in a stated layout."""

    job: TrainingJob
    hardware: Hardware
    configuration: Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Units (tokens) a second and GPU, with the interval that 80 % of outcomes should fall into."""

    per_gpu: float
    p10: float
    p90: float


def predict(situation: Situation, calibration: Calibration) -> Prediction:
    """What the estimator says of one situation."""
    hardware = HardwareColumns.of([situation.hardware])
    configuration = ConfigurationColumns.of([situation.configuration])
    speed = estimate_speed(situation.job, hardware, configuration, calibration)
    per_gpu = float(speed.units_per_second[0]) / situation.hardware.gpus
    spread = math.exp(Z90 * float(speed.sigma[0]))
    return Prediction(per_gpu=per_gpu, p10=per_gpu / spread, p90=per_gpu * spread)


def with_least_recompute(situation: Situation) -> Situation:
    """The same situation with the cheapest activation checkpointing that fits in memory: what ``auto`` chooses. Full where nothing fits."""
    choices = [replace(situation.configuration, activation_checkpointing=policy) for policy in RECOMPUTES]
    hardware = HardwareColumns.of([situation.hardware] * len(choices))
    memory = estimate_memory(situation.job, hardware, ConfigurationColumns.of(choices))
    fitting = np.flatnonzero(memory.verdict != VERDICTS.index("does_not_fit"))
    return replace(situation, configuration=choices[int(fitting[0])] if len(fitting) else choices[-1])
