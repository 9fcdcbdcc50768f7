from __future__ import annotations

from app.catalog.texts import load_texts
from app.domain.planning_notes import planning_notes
from tests.support.bills import ASSUMPTIONS, a_job


def test_a_default_that_entered_is_said_and_a_given_figure_is_not() -> None:
    texts = load_texts()["en"]
    silent = planning_notes(a_job(setup_hours=None, data={"dataset_gb": None, "download_gb": None}), ASSUMPTIONS, texts)
    given = planning_notes(a_job(setup_hours=1.0, data={"dataset_gb": 5.0, "download_gb": 1.0}), ASSUMPTIONS, texts)
    assert any("No data set size given: 10 GB" in note for note in silent)
    assert not any("not given" in note or note.startswith("No ") for note in given)


def test_notes_come_in_chinese_too() -> None:
    notes = planning_notes(a_job(data={"dataset_gb": None}), ASSUMPTIONS, load_texts()["zh"])
    assert any("未给出数据集大小" in note for note in notes)
