"""Jobs and plans for tests about time and money: round figures, so that a bill can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from app.catalog.assumptions import load_assumptions
from app.catalog.texts import load_texts
from app.domain.answer import BillLine
from app.domain.detail import PlanDetail, detail
from app.domain.market_columns import Market
from app.domain.plan_terms import PlanColumns
from app.domain.projection import ProjectionColumns, project
from app.domain.request import Constraints, Preferences
from app.domain.workload import DataSpec, ModelSpec, TargetSpec, TrainingJob, WorkloadSpec

ASSUMPTIONS = load_assumptions()
TEXTS = load_texts()["en"]

_QUIET_DATA = DataSpec(dataset_gb=0.0, checkpoint_gb=0.0, checkpoints_kept=0, download_gb=0.0, keep_storage_days=0.0)
_GOODPUT = ASSUMPTIONS.goodput.value


def a_job(*, hours_at_unit_speed: float = 10.0, data: Mapping[str, Any] | None = None, **over: Any) -> TrainingJob:
    """A job whose stepping takes ``hours_at_unit_speed`` at one unit a second, goodput included; nothing is stored or moved by default."""
    settings = {"attempts": 1.0, "setup_hours": 0.0} | {name: over.pop(name) for name in ("attempts", "setup_hours") if name in over}
    spec = WorkloadSpec(
        model=ModelSpec(),
        method="full",
        target=TargetSpec(steps=1000, global_batch_sequences=1),
        data=replace(_QUIET_DATA, **(data or {})),
        **settings,
    )
    units = hours_at_unit_speed * 3600.0 * _GOODPUT
    default = TrainingJob(
        spec=spec,
        model=None,
        method="full",
        unit="step",
        units_total=units,
        units_per_step=units / 1000.0,
        flops_per_unit=None,
        model_flops=None,
        sequence_length=1,
        global_batch_sequences=1,
        lora_rank=16,
        trainable_parameters=1e9,
        precision="bf16",
        optimizer="adamw",
        stack="unknown",
        checkpoint_gb=spec.data.checkpoint_gb or 0.0,
    )
    return replace(default, **over)


def plans(market: Market, *, nodes: int = 1, speed: float = 1.0, sigma: float = 0.2) -> PlanColumns:
    """One plan a tariff of ``market``, in its order."""
    count = len(market.tariffs)
    return PlanColumns(
        tariff=np.arange(count),
        offer=market.tariffs.offer,
        nodes=np.full(count, nodes),
        units_per_second=np.full(count, speed),
        sigma=np.full(count, sigma),
    )


def projected(job: TrainingJob, market: Market, columns: PlanColumns | None = None, **asked: Any) -> ProjectionColumns:
    constraints, preferences = _asked(asked)
    return project(job, market, plans(market) if columns is None else columns, constraints, preferences, ASSUMPTIONS)


def detailed(job: TrainingJob, market: Market, columns: PlanColumns | None = None, row: int = 0, **asked: Any) -> PlanDetail:
    constraints, preferences = _asked(asked)
    return detail(job, market, plans(market) if columns is None else columns, constraints, preferences, ASSUMPTIONS, row, TEXTS)


def line(found: PlanDetail, kind: str) -> BillLine:
    """The only line of ``kind``."""
    (one,) = [entry for entry in found.bill.lines if entry.kind == kind]
    return one


def _asked(asked: dict[str, Any]) -> tuple[Constraints, Preferences]:
    return asked.get("constraints", Constraints()), asked.get("preferences", Preferences())
