"""Reading fields of an untrusted Hugging Face ``config.json``: by any of several names, of one type, within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping

from app.domain.workload import WorkloadError

MAX_ENTRIES = 100_000
"""Of a list: ten times the most layers."""


class Fields:
    """One mapping of a configuration with its JSON pointer. A null counts as absent; a wrong type or size is an error with its place."""

    def __init__(self, values: Mapping[str, object], pointer: str) -> None:
        self._values = values
        self.pointer = pointer

    @property
    def size(self) -> int:
        """How many fields there are."""
        return len(self._values)

    def raw(self, name: str) -> tuple[object, str]:
        """The value of ``name`` and its pointer; None when it is absent or null."""
        return self._values.get(name), f"{self.pointer}/{name.replace('~', '~0').replace('/', '~1')}"

    def has(self, *names: str) -> bool:
        """Whether any of ``names`` is present and not null."""
        return any(self.raw(name)[0] is not None for name in names)

    def integer(self, *names: str, most: int, least: int = 1) -> int | None:
        """The first of ``names`` that is present, as a whole number from ``least`` to ``most`` (or a list, one a layer, of equal ones)."""
        for name in names:
            value, pointer = self.raw(name)
            if value is not None:
                return _even(value, pointer, most=most, least=least)
        return None

    def number(self, *names: str, most: float) -> float | None:
        """The first of ``names`` that is present, as a number above 0 and at most ``most``."""
        for name in names:
            value, pointer = self.raw(name)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise WorkloadError(pointer=pointer, code="wrong_type", detail=f"{name} must be a number, not {_kind(value)}.")
                if not 0 < value <= most:
                    raise WorkloadError(pointer=pointer, code="out_of_range", detail=f"{name} must be above 0 and at most {most:g}.")
                return float(value)
        return None

    def flag(self, *names: str) -> bool | None:
        """The first of ``names`` that is present, as true or false."""
        for name in names:
            value, pointer = self.raw(name)
            if value is not None:
                if not isinstance(value, bool):
                    raise WorkloadError(pointer=pointer, code="wrong_type", detail=f"{name} must be true or false, not {_kind(value)}.")
                return value
        return None

    def text(self, *names: str) -> str | None:
        """The first of ``names`` that is present, as a text."""
        for name in names:
            value, pointer = self.raw(name)
            if value is not None:
                if not isinstance(value, str):
                    raise WorkloadError(pointer=pointer, code="wrong_type", detail=f"{name} must be a text, not {_kind(value)}.")
                return value
        return None

    def items(self, name: str) -> list[object] | None:
        """A list of ``name``, of at most 100,000 entries."""
        value, pointer = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, (list, tuple)):
            raise WorkloadError(pointer=pointer, code="wrong_type", detail=f"{name} must be a list, not {_kind(value)}.")
        if len(value) > MAX_ENTRIES:
            raise WorkloadError(pointer=pointer, code="out_of_range", detail=f"{name} may have at most {MAX_ENTRIES} entries.")
        return list(value)

    def nested(self, name: str) -> Fields | None:
        """The mapping under ``name``."""
        value, pointer = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise WorkloadError(pointer=pointer, code="wrong_type", detail=f"{name} must be an object, not {_kind(value)}.")
        return Fields(value, pointer)


def _even(value: object, pointer: str, *, most: int, least: int) -> int:
    if not isinstance(value, (list, tuple)) or not value:
        return whole(value, pointer, most=most, least=least)
    sizes = {whole(entry, f"{pointer}/{index}", most=most, least=least) for index, entry in enumerate(value[:MAX_ENTRIES])}
    if len(sizes) > 1:
        detail = "The layers differ here, which this reader cannot count. Give parameters_b and its dimensions instead of hf_config."
        raise WorkloadError(pointer=pointer, code="unsupported_architecture", detail=detail)
    return sizes.pop()


def whole(value: object, pointer: str, *, most: int, least: int = 1) -> int:
    """``value`` as a whole number from ``least`` to ``most``.

    Raises:
        WorkloadError: it is a text, a truth value, no whole number, not finite or outside the limits.
    """
    name = pointer.rsplit("/", 1)[-1]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WorkloadError(
            pointer=pointer, code="wrong_type", detail=f"{name} must be a whole number, not {_kind(value)}. Write it without quotes."
        )
    if isinstance(value, float) and (not math.isfinite(value) or value != math.floor(value)):
        raise WorkloadError(pointer=pointer, code="not_a_number", detail=f"{name} must be a whole number from {least} to {most}.")
    if not least <= value <= most:
        raise WorkloadError(pointer=pointer, code="out_of_range", detail=f"{name} must be a whole number from {least} to {most}.")
    return int(value)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else "something else"
