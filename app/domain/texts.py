"""Sentences in the caller's language. Templates come from app/i18n/*.toml; the domain only fills them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Texts:
    """The templates of one language by key, such as ``"bill.compute"``.

    A template uses ``str.format`` names. Numbers are given ready-formatted by the caller.
    """

    language: str
    templates: Mapping[str, str]

    def say(self, key: str, **values: object) -> str:
        """The sentence ``key`` with ``values`` filled in.

        Raises:
            KeyError: the catalogue lacks the key or the template wants a value that was not given.
        """
        return self.templates[key].format(**values)
