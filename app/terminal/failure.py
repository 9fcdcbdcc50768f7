"""How a command says that the request or a file is at fault."""

from __future__ import annotations


class CommandError(Exception):
    """What is wrong, in one line."""

    @classmethod
    def at(cls, place: str, detail: str) -> CommandError:
        """``detail`` is wrong at ``place``."""
        return cls(f"{place}: {detail}")
