"""Work done once for arguments that never change: the last few results, found again by the identity of what they were made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_KEPT = 4


class Remembered(Generic[T]):
    """A memory of pure results. Entries keep their arguments alive, so identity cannot be reused by another object meanwhile."""

    def __init__(self) -> None:
        self._entries: list[tuple[tuple[object, ...], T]] = []

    def get(self, arguments: tuple[object, ...], work: Callable[[], T]) -> T:
        """The result of ``work`` for these very ``arguments`` (equal strings count as the same)."""
        for known, value in self._entries:
            if len(known) == len(arguments) and all(_same(a, b) for a, b in zip(known, arguments, strict=True)):
                return value
        value = work()
        self._entries = [(arguments, value), *self._entries[: _KEPT - 1]]
        return value


def _same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, str) and one == other)
