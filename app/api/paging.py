"""Keyset pages: ``?limit=&cursor=`` → ``{"items": [], "next_cursor": null}``.

A cursor carries the sort key of the last item shown and a digest of the filters it belongs to; with other filters it is a fault. Every
sort key is unique, so a page neither repeats nor skips an item, also when the list has changed in between.
"""

from __future__ import annotations

import base64
import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from app.api.problems import Fault, InvalidRequestError

DEFAULT_LIMIT = 100
_LONGEST_CURSOR = 2000

Limit = Annotated[int, Query(ge=1, le=1000, description="The most items to return.")]
Cursor = Annotated[str | None, Query(max_length=_LONGEST_CURSOR, description="`next_cursor` of the page before, with the same filters.")]
Filter = Annotated[str | None, Query(max_length=100)]
Key = tuple[str | int, ...]
T = TypeVar("T")


def _digest(filters: Any) -> str:
    return hashlib.sha256(json.dumps(filters, sort_keys=True, default=str).encode()).hexdigest()[:16]


def encode(key: Key, filters: Any) -> str:
    """The cursor behind the item whose sort key is ``key``."""
    text = json.dumps([list(key), _digest(filters)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str, filters: Any, shape: Key) -> Key:
    """The sort key in ``cursor``; ``shape`` is any key of the list, for its length and types.

    Raises:
        InvalidRequestError: it is no cursor, or belongs to another list or to other filters.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        key, digest = json.loads(text)
        sound = isinstance(key, list) and [type(part) for part in key] == [type(part) for part in shape]
    except (ValueError, TypeError, RecursionError):
        sound, key, digest = False, [], ""
    if not sound:
        raise InvalidRequestError([Fault(pointer="?cursor", code="invalid_cursor", detail="this is no cursor of this list")])
    if digest != _digest(filters):
        detail = "the cursor belongs to other filters; start again without it"
        raise InvalidRequestError([Fault(pointer="?cursor", code="cursor_of_other_filters", detail=detail)])
    return tuple(key)


def page(
    items: Sequence[T], *, key: Callable[[T], Key], shape: Key, filters: Any, limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """One page of ``items``, which are sorted by ``key``, and the cursor of the next (None at the end)."""
    start = 0
    if cursor is not None:
        start = bisect_right(items, decode(cursor, filters, shape), key=key)
    shown = list(items[start : start + limit])
    more = start + limit < len(items)
    return shown, encode(key(shown[-1]), filters) if more else None


def numbered(items: Sequence[T], key: Callable[[T], tuple[str, ...]]) -> list[tuple[Key, T]]:
    """``items`` sorted by ``key``, each with a unique sort key: equal keys are numbered in the order given."""
    ordered = sorted(items, key=key)
    result: list[tuple[Key, T]] = []
    for item in ordered:
        own = key(item)
        number = result[-1][0][-1] if result and result[-1][0][:-1] == own else -1
        assert isinstance(number, int)  # noqa: S101 - the last part is always the number
        result.append(((*own, number + 1), item))
    return result
