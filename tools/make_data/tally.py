"""Counts what was shipped, changed and left out, by file and by reason: SOURCES.md shows all of it."""

from __future__ import annotations

from collections import Counter


class Tally:
    """Counters keyed by (facts file, reason)."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self.left_out: Counter[tuple[str, str]] = Counter()
        self.treated: Counter[tuple[str, str]] = Counter()

    def leave_out(self, file: str, reason: str, rows: int = 1) -> None:
        """Count rows of ``file`` that are not shipped, and why."""
        self.left_out[file, reason] += rows

    def treat(self, file: str, rule: str, rows: int = 1) -> None:
        """Count rows of ``file`` that a rule changed before shipping."""
        self.treated[file, rule] += rows
