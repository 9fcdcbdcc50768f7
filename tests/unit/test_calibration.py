from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.calibration import CALIBRATION_FILE, calibration_of, load_calibration
from app.domain.calibration import STACK_CLASS_OF, STACK_CLASSES
from app.domain.workload import OPTIMIZERS, STACKS
from tools.calibration_file import read_constants, write_constants
from tools.calibration_order import Space, in_order

CONSTANTS = read_constants(CALIBRATION_FILE)
DOCUMENT = tomllib.loads(CALIBRATION_FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(DOCUMENT))
def test_every_constant_says_its_unit_meaning_and_source(name):
    assert all(DOCUMENT[name][key].strip() for key in ("unit", "meaning", "source"))


def test_every_fitted_constant_lies_within_its_bounds():
    for constant in read_constants(CALIBRATION_FILE):
        for key, (low, high) in constant.bounds.items():
            assert low <= constant.value[key] <= high, (constant.name, key)


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.name)
def test_better_software_is_never_slower_by_any_constant(constant):
    assert in_order(constant)


def test_a_constant_by_which_a_plain_script_beats_tuned_software_is_out_of_order():
    share = next(constant for constant in CONSTANTS if constant.name == "gemm_share")
    launch = next(constant for constant in CONSTANTS if constant.name == "launch_seconds_per_layer")
    assert not in_order(share.with_value({**share.value, "script": 0.9}))
    assert not in_order(launch.with_value({**launch.value, "tuned": 0.01}))


@given(st.lists(st.floats(0, 1), min_size=len(Space(CONSTANTS)), max_size=len(Space(CONSTANTS))))
def test_wherever_the_fit_goes_constants_keep_their_bounds_and_their_order(position):
    for constant in Space(CONSTANTS).placed(np.array(position)):
        assert in_order(constant)
        for key, (low, high) in constant.bounds.items():
            assert low - 1e-12 <= constant.value[key] <= high + 1e-12


def test_the_constants_in_force_are_a_place_of_the_fit_and_priors_pull_from_it():
    space = Space(CONSTANTS)
    placed = {constant.name: constant.value for constant in space.placed(space.position())}
    for constant in CONSTANTS:
        assert dict(placed[constant.name]) == pytest.approx(dict(constant.value), rel=1e-9, abs=1e-15)
    assert np.abs(space.from_prior(space.position())).max() < 1.0


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
