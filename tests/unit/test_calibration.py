from __future__ import annotations

import tomllib

import pytest

from app.catalog.calibration import CALIBRATION_FILE, calibration_of, load_calibration
from app.domain.calibration import STACK_CLASS_OF, STACK_CLASSES
from app.domain.workload import OPTIMIZERS, STACKS
from tools.calibration_file import read_constants, write_constants

DOCUMENT = tomllib.loads(CALIBRATION_FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(DOCUMENT))
def test_every_constant_says_its_unit_meaning_and_source(name):
    assert all(DOCUMENT[name][key].strip() for key in ("unit", "meaning", "source"))


def test_every_fitted_constant_lies_within_its_bounds():
    for constant in read_constants(CALIBRATION_FILE):
        for key, (low, high) in constant.bounds.items():
            assert low <= constant.value[key] <= high, (constant.name, key)


def test_every_stack_has_a_class_and_every_class_its_constants():
    assert set(STACK_CLASS_OF) == set(STACKS)
    found = load_calibration()
    for table in (
        found.gemm_share,
        found.elementwise_bytes,
        found.launch_seconds_per_layer,
        found.step_seconds,
        found.overlap,
        found.fp8_share,
    ):
        assert set(table) == set(STACK_CLASSES)
    assert set(found.optimizer_bytes) == set(OPTIMIZERS)


def test_writing_what_was_read_gives_the_same_file(tmp_path):
    copy = tmp_path / "calibration.toml"
    write_constants(copy, read_constants(CALIBRATION_FILE))
    assert copy.read_text(encoding="utf-8") == CALIBRATION_FILE.read_text(encoding="utf-8")


def test_a_missing_constant_is_refused_by_name():
    values = {name: entry["value"] for name, entry in DOCUMENT.items() if name != "overlap"}
    with pytest.raises(ValueError, match="overlap"):
        calibration_of(values)


def test_a_constant_that_is_no_number_is_refused():
    values = {name: entry["value"] for name, entry in DOCUMENT.items()}
    with pytest.raises(ValueError, match="logit_bytes"):
        calibration_of({**values, "logit_bytes": "many"})
