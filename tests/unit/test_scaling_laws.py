"""The loss law against its own paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.scaling_laws import CHINCHILLA, CHINCHILLA_REFIT, outside_fitted_range


def test_chinchilla_itself_reaches_the_loss_of_the_law() -> None:
    assert CHINCHILLA.loss(70e9, 1.4e12) == pytest.approx(1.69 + 406.4 / 70e9**0.34 + 410.7 / 1.4e12**0.28)
    assert CHINCHILLA.loss(70e9, 1.4e12) == pytest.approx(1.937, abs=0.001)


def test_a_loss_at_the_floor_is_never_reached() -> None:
    assert CHINCHILLA.tokens_for(1e9, CHINCHILLA.floor(1e9)) is None
    assert CHINCHILLA.tokens_for(1e9, 1.0) is None


def test_the_refit_has_the_published_constants() -> None:
    law = CHINCHILLA_REFIT
    assert (law.e, law.a, law.b, law.alpha, law.beta) == (1.8172, 482.01, 2085.43, 0.3478, 0.3658)


def test_the_fitted_range_names_what_lies_outside() -> None:
    assert outside_fitted_range(1e9, 20e9) is None
    assert outside_fitted_range(70e9, 20e9) == "70 B parameters (fitted on 0.07 to 16 B)"
    assert outside_fitted_range(1e9, 1e12) == "1000 B tokens (fitted on 5 to 500 B)"


@given(parameters=st.floats(1e7, 1e12), tokens=st.floats(1e8, 1e14))
def test_tokens_for_a_loss_undo_the_loss_of_tokens(parameters: float, tokens: float) -> None:
    found = CHINCHILLA.tokens_for(parameters, CHINCHILLA.loss(parameters, tokens))
    assert found == pytest.approx(tokens, rel=1e-6)


@given(parameters=st.floats(1e7, 1e12), gap=st.floats(1e-300, 1e-3))
def test_a_loss_barely_above_the_floor_never_overflows(parameters: float, gap: float) -> None:
    tokens = CHINCHILLA.tokens_for(parameters, CHINCHILLA.floor(parameters) + gap)
    assert tokens is None or tokens > 0
