"""Names that resemble one that nobody knows, for error messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[^a-z0-9]+")
_LONGEST = 80


def near_names(name: str, known: Iterable[str], limit: int = 5) -> tuple[str, ...]:
    """Up to ``limit`` known names that resemble ``name``, best first; the order depends on nothing but the arguments.

    Names that hold the whole of ``name`` (case and separators aside) come first, then those close by difflib's ratio. Of a name with
    slashes, such as ``owner/model``, the last part counts.
    """
    wanted = _plain(name[-_LONGEST:].rsplit("/", 1)[-1])
    plain = {other: _plain(other) for other in sorted(known)}
    holding = [other for other, text in plain.items() if wanted and wanted in text]
    holding.sort(key=lambda other: (len(plain[other]), other))
    score = {other: difflib.SequenceMatcher(None, wanted, text).ratio() for other, text in plain.items() if other not in holding}
    close = sorted((other for other, ratio in score.items() if ratio >= 0.6), key=lambda other: (-score[other], other))  # noqa: PLR2004
    return tuple((holding + close)[:limit])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean a, b or c?`` with a leading blank, or nothing when no name is near."""
    near = near_names(name, known)
    if not near:
        return ""
    listed = near[0] if len(near) == 1 else f"{', '.join(near[:-1])} or {near[-1]}"
    return f" Did you mean {listed}?"


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())
