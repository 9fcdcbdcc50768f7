"""How a reading changes what is on record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.domain.interval import Interval
from app.store.timeline import Segment, Statement, apply, difference

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
NOW = ZERO + timedelta(days=30)


def at(day: int) -> datetime:
    return ZERO + timedelta(days=day)


def said(value: str, observed: int | None = 10, start: int | None = None, end: int | None = None) -> Statement:
    return Statement(
        start=None if start is None else at(start),
        end=None if end is None else at(end),
        values=(value,),
        observed_at=None if observed is None else at(observed),
        row={"value": value},
    )


def history(*statements: Statement) -> tuple[Segment, ...]:
    """What is on record after the statements, stored."""
    segments: tuple[Segment, ...] = ()
    for statement in statements:
        segments, _ = apply(segments, statement, NOW)
    return stored(segments)


def stored(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    numbers = range(1, len(segments) + 1)
    return tuple(
        Segment(id=n, interval=s.interval, values=s.values, observed_at=s.observed_at, checked_at=s.checked_at, row=s.row)
        for n, s in zip(numbers, segments, strict=True)
    )


def spans(segments: tuple[Segment, ...]) -> list[tuple[str, Interval]]:
    return sorted(((str(s.values[0]), s.interval) for s in segments), key=lambda span: span[1].first)


def test_the_first_reading_holds_always_as_far_as_known() -> None:
    assert spans(history(said("a"))) == [("a", Interval(None, None))]


def test_an_equal_later_reading_only_moves_the_date_of_the_check() -> None:
    before = history(said("a", 10))
    after, outcome = apply(before, said("a", 12), NOW)
    change = difference(before, after)
    assert (outcome, change.check, change.insert, change.close) == ("confirmed", ((1, at(12)),), (), ())


def test_a_newer_reading_closes_one_row_and_opens_another() -> None:
    before = history(said("a", 10))
    after, _ = apply(before, said("b", 12), NOW)
    change = difference(before, after)
    assert change.close == ((1, at(12)),)
    assert [(s.values, s.interval) for s in change.insert] == [(("b",), Interval(at(12), None))]
    assert change.retract == ()


def test_another_figure_with_the_same_date_is_a_correction() -> None:
    before = history(said("a", 10))
    after, _ = apply(before, said("b", 10), NOW)
    change = difference(before, after)
    assert change.retract == (1,)
    assert [s.interval for s in change.insert] == [Interval(None, None)]


def test_an_older_reading_changes_nothing() -> None:
    before = history(said("a", 10))
    assert apply(before, said("b", 8), NOW) == (before, "older")


def test_a_reading_without_a_date_does_not_replace_a_dated_one() -> None:
    before = history(said("a", 10))
    assert apply(before, said("b", None), NOW) == (before, "older")


def test_an_announced_rate_leaves_the_present_one_until_then() -> None:
    segments = history(said("a", 10), said("b", 10, start=20))
    assert spans(segments) == [("a", Interval(None, at(20))), ("b", Interval(at(20), None))]


def test_a_plain_change_keeps_what_is_announced() -> None:
    segments = history(said("a", 10), said("c", 10, start=20), said("b", 12))
    assert spans(segments) == [("a", Interval(None, at(12))), ("b", Interval(at(12), at(20))), ("c", Interval(at(20), None))]


def test_an_announcement_does_not_undo_what_was_seen_later() -> None:
    segments = history(said("a", 5, start=8), said("b", 12))
    assert apply(segments, said("a", 5, start=8), NOW)[0] == segments


def test_an_old_announcement_of_the_future_counts_although_the_present_was_checked_later() -> None:
    assert spans(history(said("a", 12), said("b", 10, start=20))) == [("a", Interval(None, at(20))), ("b", Interval(at(20), None))]


def test_a_past_interval_learnt_late_does_not_touch_the_present() -> None:
    segments = history(said("a", 10), said("b", 12, start=4, end=6))
    assert spans(segments) == [("a", Interval(None, at(4))), ("b", Interval(at(4), at(6))), ("a", Interval(at(6), None))]


def test_after_a_newer_rate_with_an_end_the_older_one_does_not_come_back() -> None:
    assert spans(history(said("a", 10), said("b", 12, end=20))) == [("a", Interval(None, at(12))), ("b", Interval(at(12), at(20)))]


def test_a_known_end_is_taken_over() -> None:
    assert spans(history(said("a", 10), said("a", 12, end=20))) == [("a", Interval(None, at(20)))]


def test_a_reading_after_an_end_opens_a_new_row_then() -> None:
    assert spans(history(said("a", 10, end=15), said("b", 18))) == [("a", Interval(None, at(15))), ("b", Interval(at(18), None))]


days = st.integers(0, 29)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    start = draw(st.none() | days)
    end = draw(st.none() | st.integers((start or 0) + 1, 40))
    return said(draw(st.sampled_from("abc")), draw(st.none() | days), start, end)


@given(st.lists(statements(), max_size=6))
def test_rows_on_record_never_overlap(told: list[Statement]) -> None:
    segments = history(*told)
    ordered = sorted((segment.interval for segment in segments), key=lambda interval: interval.first)
    assert all(one.last <= two.first for one, two in pairwise(ordered))


@given(st.lists(statements(), max_size=5), statements())
def test_saying_the_same_twice_changes_nothing_the_second_time(told: list[Statement], again: Statement) -> None:
    once = history(*told, again)
    twice, outcome = apply(once, again, NOW)
    assert outcome in {"unchanged", "older"}
    assert difference(once, twice).insert == ()
    assert spans(twice) == spans(once)


@given(st.lists(statements(), max_size=5), st.sampled_from("abc"))
def test_the_newest_plain_reading_is_in_force_when_it_was_made(told: list[Statement], value: str) -> None:
    newest = said(value, 30)
    assert [s.values for s in history(*told, newest) if at(30) in s.interval] == [(value,)]
