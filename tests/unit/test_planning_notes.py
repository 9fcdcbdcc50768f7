from __future__ import annotations

from typing import Any

import pytest

from app.catalog.loader import load_knowledge
from app.catalog.texts import load_texts
from app.domain.planning_notes import planning_notes
from app.domain.resolve import resolve
from app.domain.workload import ModelSpec, TargetSpec, WorkloadSpec
from tests.support.bills import ASSUMPTIONS, a_job

KNOWLEDGE = load_knowledge()


def test_a_default_that_entered_is_said_and_a_given_figure_is_not() -> None:
    texts = load_texts()["en"]
    silent = planning_notes(a_job(setup_hours=None, data={"dataset_gb": None, "download_gb": None}), ASSUMPTIONS, texts)
    given = planning_notes(a_job(setup_hours=1.0, data={"dataset_gb": 5.0, "download_gb": 1.0}), ASSUMPTIONS, texts)
    assert any("No data set size given: 10 GB" in note for note in silent)
    assert not any("not given" in note or note.startswith("No ") for note in given)


def test_notes_come_in_chinese_too() -> None:
    notes = planning_notes(a_job(data={"dataset_gb": None}), ASSUMPTIONS, load_texts()["zh"])
    assert any("未给出数据集大小" in note for note in notes)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_every_job_is_counted_with_is_said(language: str) -> None:
    job = a_job(data={"checkpoints_kept": 4, "keep_storage_days": 11.0, "upload_mbit_s": 250.0})
    said = " ".join(planning_notes(job, ASSUMPTIONS, load_texts()[language]))
    for figure in ("4", "11", "250", "0.1–0.25", "0–48"):
        assert figure in said


def test_software_that_nobody_named_is_said_unless_the_caller_states_the_speed() -> None:
    def says(**spec: Any) -> bool:
        given = WorkloadSpec(model=ModelSpec(preset="llama-2-7b"), method="lora", target=TargetSpec(tokens_b=1.0), **spec)
        job = resolve(given, presets=KNOWLEDGE.presets, gpus=KNOWLEDGE.gpus)
        return any("Software not named" in note for note in planning_notes(job, ASSUMPTIONS, KNOWLEDGE.texts["en"]))

    assert says()
    assert not says(stack="fsdp")
    assert not says(assumed_mfu=0.4)
