"""Measured rows as columns that the step's formulas can work on all at once: what the fit needs."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from app.catalog.gpus import load_gpus
from app.catalog.models import load_presets
from app.domain.calibration import STACK_CLASS_OF, STACK_CLASSES, Calibration
from app.domain.configuration import ConfigurationColumns
from app.domain.hardware import Bools, Floats, HardwareColumns, Ints
from app.domain.speed_error import gpu_known
from app.domain.step_time import step_seconds
from app.domain.step_work import StepWork, step_work
from app.evaluate import finetune, runs
from app.evaluate.score import SkippedError
from app.evaluate.situation import Situation

_FAMILIES = (
    "mlperf", "llm-foundry", "fms-fsdp", "litgpt", "torchtune", "torchtitan", "tinyllama", "nanogpt", "llama 2", "levanter", "bigscience",
    "megatron-lm", "deepspeed",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Rows of one stack class."""

    stack: str
    index: Ints
    work: StepWork
    hardware: HardwareColumns
    configuration: ConfigurationColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """All usable rows. ``weights`` make a source of n rows weigh sqrt(n); ``classes`` marks the rows of each class of interval."""

    sources: tuple[str, ...]
    log_measured: Floats
    weights: Floats
    classes: dict[str, Bools]
    groups: tuple[_Group, ...]

    def log_estimates(self, calibration: Calibration) -> Floats:
        """Ln of the estimated tokens a second and GPU."""
        result = np.zeros(len(self.sources))
        for group in self.groups:
            seconds = step_seconds(group.work, group.stack, group.hardware, group.configuration, calibration)
            rate = group.work.units_per_step / seconds.total / group.hardware.total_gpus
            result[group.index] = np.log(rate)
        return result


def family(source: str) -> str:
    """Files quote the same publication under different names; what must be left out together has one family."""
    words = source.lower()
    return next((name for name in _FAMILIES if name in words), words)


def observations(facts: Path) -> Observations:
    """The rows of runs-calibration.csv and finetune-speed.csv that can be predicted and compared."""
    gpus, presets = load_gpus(), load_presets()
    found: list[tuple[str, Situation, float]] = []
    for name, situation_of, rate_of, column in (
        ("runs-calibration.csv", runs.situation_of_run, runs.measured_rate, "source_name"),
        ("finetune-speed.csv", finetune.situation_of_finetune, finetune.measured_rate, "source"),
    ):
        with (facts / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                try:
                    situation = situation_of(row, gpus, presets)
                except SkippedError:
                    continue
                rate = rate_of(row, situation)
                if rate is not None:
                    found.append((family(row[column]), situation, rate))
    return _columns(found)


def _columns(found: list[tuple[str, Situation, float]]) -> Observations:
    sources = tuple(source for source, _, _ in found)
    count = Counter(sources)
    stacks = np.array([STACK_CLASS_OF[situation.job.stack] for _, situation, _ in found])
    groups = []
    for stack in STACK_CLASSES:
        index = np.flatnonzero(stacks == stack)
        if len(index):
            chosen = [found[row][1] for row in index]
            groups.append(
                _Group(
                    stack=stack,
                    index=index,
                    work=_stacked([step_work(one.job, one.job.model) for one in chosen if one.job.model is not None]),
                    hardware=HardwareColumns.of([one.hardware for one in chosen]),
                    configuration=ConfigurationColumns.of([one.configuration for one in chosen]),
                )
            )
    return Observations(
        sources=sources,
        log_measured=np.log(np.array([rate for _, _, rate in found])),
        weights=np.array([count[source] ** -0.25 for source in sources]),
        classes=_classes([situation for _, situation, _ in found]),
        groups=tuple(groups),
    )


def _stacked(works: list[StepWork]) -> StepWork:
    return StepWork(**{field.name: np.array([getattr(work, field.name) for work in works]) for field in fields(StepWork)})


def _classes(situations: list[Situation]) -> dict[str, Bools]:
    """The base classes of speed_error.sigma_of, on rows without a widening."""
    moe = np.array([one.job.model is not None and one.job.model.experts > 0 for one in situations])
    adapter = np.array([one.job.method in {"lora", "qlora"} for one in situations])
    known = np.array([gpu_known(one.hardware.gpu) for one in situations])
    return {"dense": ~moe & ~adapter & known, "adapter": ~moe & adapter & known, "moe": moe}
