"""Read the sentences of app/i18n/*.toml, nested tables flattened to ``section.key``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from app.domain.texts import Texts

LANGUAGES = ("en", "zh")


@cache
def load_texts() -> Mapping[str, Texts]:
    """The templates of every language."""
    folder = resources.files("app") / "i18n"
    return {
        language: Texts(language, dict(_flatten(tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8")))))
        for language in LANGUAGES
    }


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
