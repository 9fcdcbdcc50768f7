"""Half-open intervals of UTC time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.interval import Interval, IntervalError

ZERO = datetime(2026, 1, 1, tzinfo=UTC)


def at(hour: int) -> datetime:
    return ZERO + timedelta(hours=hour)


hours = st.integers(0, 20)
bounds = st.tuples(st.none() | hours, st.none() | hours).filter(lambda b: b[0] is None or b[1] is None or b[0] < b[1])
intervals = bounds.map(lambda b: Interval(None if b[0] is None else at(b[0]), None if b[1] is None else at(b[1])))


def test_the_start_is_inside() -> None:
    assert at(1) in Interval(at(1), at(2))


def test_the_end_is_outside() -> None:
    assert at(2) not in Interval(at(1), at(2))


def test_open_bounds_hold_always() -> None:
    assert datetime(1990, 1, 1, tzinfo=UTC) in Interval(None, None)


@pytest.mark.parametrize(("start", "end"), [(at(2), at(2)), (at(3), at(2))])
def test_an_empty_or_reversed_interval_is_refused(start: datetime, end: datetime) -> None:
    with pytest.raises(IntervalError, match="not after"):
        Interval(start, end)


@pytest.mark.parametrize("bound", [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))])  # noqa: DTZ001
def test_a_bound_that_is_not_utc_is_refused(bound: datetime) -> None:
    with pytest.raises(IntervalError, match="aware UTC"):
        Interval(bound, None)


def test_neighbours_do_not_overlap() -> None:
    assert not Interval(None, at(2)).overlaps(Interval(at(2), None))


@given(intervals, intervals)
def test_overlap_is_what_containment_says(one: Interval, other: Interval) -> None:
    shared = any(at(hour) in one and at(hour) in other for hour in range(-1, 22))
    assert one.overlaps(other) == other.overlaps(one) == shared


@given(intervals, st.lists(intervals, max_size=4))
def test_what_is_left_is_exactly_what_the_others_do_not_cover(whole: Interval, cut: list[Interval]) -> None:
    left = whole.without(cut)
    for hour in range(-1, 22):
        expected = at(hour) in whole and not any(at(hour) in other for other in cut)
        assert sum(at(hour) in piece for piece in left) == expected
