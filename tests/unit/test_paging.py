"""Keyset pages and written numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.caching import matches
from app.api.paging import numbered, page
from app.api.problems import InvalidRequestError
from app.api.wire import cents, checked_json


@given(st.lists(st.text(max_size=3), max_size=40), st.integers(1, 7))
def test_pages_join_to_the_list_without_gaps_or_repeats(names: list[str], limit: int) -> None:
    items = numbered(names, lambda name: (name,))
    seen, cursor = [], None
    while True:
        shown, cursor = page(items, key=lambda item: item[0], shape=("", 0), filters=[], limit=limit, cursor=cursor)
        seen += shown
        if cursor is None:
            break
    assert [name for _, name in seen] == sorted(names)


def test_a_page_goes_on_behind_its_item_when_the_list_has_grown() -> None:
    _, cursor = page(["a", "c", "e"], key=lambda name: (name,), shape=("",), filters=[], limit=2, cursor=None)
    assert page(["a", "b", "c", "d", "e"], key=lambda name: (name,), shape=("",), filters=[], limit=9, cursor=cursor) == (["d", "e"], None)


@given(st.text(max_size=60))
def test_no_text_is_taken_for_a_cursor_by_mistake(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        page(["a"], key=lambda name: (name,), shape=("",), filters=[], limit=1, cursor=text)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.00"), (-0.0, "0.00"), (-0.001, "0.00"), (1234.5, "1234.50"), (1e9, "1000000000.00")])
def test_a_projected_amount_is_written_with_two_decimals(value: float, text: str) -> None:
    assert cents(value) == text


@pytest.mark.parametrize("header", ["*", '"a"', 'W/"a"', '"b", "a"'])
def test_a_tag_that_the_caller_holds_matches(header: str) -> None:
    assert matches(header, '"a"')


@pytest.mark.parametrize("header", [None, '"b"', "a", ""])
def test_a_tag_that_the_caller_lacks_does_not_match(header: str | None) -> None:
    assert not matches(header, '"a"')


@pytest.mark.parametrize("value", [{"a": {"b": {}}}, {"a": 1e309}, {"a": 10**19}, {"\ud800": 1}, {"a": ["\udfff"]}, {"a": [0] * 50}])
def test_json_that_cannot_be_carried_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"deeper|finite|10\^18|Unicode|more than"):
        checked_json(value, depth=2, nodes=40)
