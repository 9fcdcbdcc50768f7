"""All providers: every module of this folder has one ``PROVIDER``. Nothing registers anything."""

from __future__ import annotations

import keyword
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from scrapers.base import Provider


@cache
def providers() -> Mapping[str, Provider]:
    """Every provider by id, sorted.

    Raises:
        TypeError: a module without a ``PROVIDER``.
        ValueError: a provider whose id is not its module's name.
    """
    found: dict[str, Provider] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        provider = getattr(import_module(f"{__name__}.{info.name}"), "PROVIDER", None)
        if not isinstance(provider, Provider):
            msg = f"scrapers/providers/{info.name}.py has no PROVIDER"
            raise TypeError(msg)
        if module_of(provider.id) != info.name:
            msg = f"provider {provider.id} belongs in scrapers/providers/{module_of(provider.id)}.py"
            raise ValueError(msg)
        found[provider.id] = provider
    return MappingProxyType(dict(sorted(found.items())))


def module_of(provider_id: str) -> str:
    """The module's name of a provider: its id with underscores, and one behind a word that Python keeps for itself."""
    name = provider_id.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) or name[0].isdigit() else name
