"""The stored pages of every provider: ``fixtures/<id>/`` with pages, ``meta.toml`` and ``expected.json``; and ways to damage a page."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from app.terminal.parse import lines
from scrapers.base import Page, Provider, Reading
from scrapers.providers import providers

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Stored:
    """One stored page and what meta.toml says of it.

    ``renames`` are headings of a page that is not JSON: the test changes each and wants to be told. ``currency_unread`` says
    why a page states a currency that its scraper has no use for.
    """

    file: str
    page: str
    case: str
    url: str
    observed: date
    provenance: str
    figures: str
    body: bytes
    renames: tuple[str, ...] = ()
    currency_unread: str = ""

    @property
    def is_json(self) -> bool:
        return self.file.endswith(".json")

    def as_page(self) -> Page:
        return Page.of(self.page, self.url, self.body)


@dataclass(frozen=True)
class Case:
    """Pages that are read together."""

    provider: Provider
    name: str
    stored: tuple[Stored, ...]

    def __str__(self) -> str:
        return f"{self.provider.id}-{self.name}"

    def read(self, changed: Stored | None = None) -> Reading:
        """Read the pages, one of them exchanged when ``changed`` is given."""
        return self.provider.read([(changed if changed and changed.file == each.file else each).as_page() for each in self.stored])


def cases() -> list[Case]:
    """Every case of every provider."""
    return [case for provider in providers().values() for case in cases_of(provider)]


def cases_of(provider: Provider) -> list[Case]:
    """The cases of one provider; the first one is a whole collection, which the expectations hold for."""
    stored = stored_pages(provider.id)
    names = dict.fromkeys(each.case for each in stored)
    return [Case(provider, name, tuple(each for each in stored if each.case == name)) for name in names]


def stored_pages(provider_id: str) -> list[Stored]:
    folder = FIXTURES / provider_id
    if not (folder / "meta.toml").is_file():
        return []
    entries = tomllib.loads((folder / "meta.toml").read_text(encoding="utf-8"))["page"]
    made = []
    for entry in entries:
        renames = tuple(entry.pop("renames", ()))
        case = entry.pop("case", "all")
        made.append(Stored(**entry, case=case, renames=renames, body=(folder / entry["file"]).read_bytes()))
    return made


def snapshot(provider: Provider) -> dict[str, list[dict[str, object]]]:
    """What expected.json holds: the printed lines of each case."""
    return {case.name: list(lines(provider, case.read())) for case in cases_of(provider)}


def written(shot: dict[str, list[dict[str, object]]]) -> str:
    """A snapshot as text, one line an observation, so that a difference reads well."""
    parts = []
    for name, rows in shot.items():
        body = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        parts.append(f" {json.dumps(name)}: [\n{body}\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def said(reading: Reading) -> set[tuple[object, ...]]:
    """What a reading states, without the places it was seen at."""
    facts: set[tuple[object, ...]] = set()
    for each in reading.observations:
        amount = getattr(each, "node_amount", getattr(each, "amount", None))
        rest = tuple(getattr(each, name, None) for name in ("default", "status", "step_seconds", "minimum_seconds"))
        facts.add((each.key, amount, rest))
    return facts


def of_page(reading: Reading) -> list[object]:
    """Offers and fees that come from a page, not from a dated table."""
    return [each for each in (*reading.offers, *reading.fees) if each.stated is None]


def renamed(stored: Stored) -> Iterator[tuple[str, Stored]]:
    """The page with each of its fields renamed everywhere, one at a time."""
    if not stored.is_json:
        for text in stored.renames:
            yield text, replace(stored, body=stored.body.replace(text.encode(), b"Something else"))
        return
    value = json.loads(stored.body)
    for key in sorted(_keys(value)):
        yield key, replace(stored, body=_dump(_mapped(value, lambda name, key=key: f"{name}_renamed" if name == key else name)))


def without_lists(stored: Stored) -> Stored:
    """The page with every list empty."""

    def empty(value: Any) -> Any:
        if isinstance(value, list):
            return []
        return {name: empty(each) for name, each in value.items()} if isinstance(value, dict) else value

    return replace(stored, body=_dump(empty(json.loads(stored.body))))


def turned(stored: Stored) -> Stored:
    """The page with every list and every object in reverse order."""

    def turn(value: Any) -> Any:
        if isinstance(value, list):
            return [turn(each) for each in reversed(value)]
        return {name: turn(each) for name, each in reversed(value.items())} if isinstance(value, dict) else value

    return replace(stored, body=_dump(turn(json.loads(stored.body))))


def other_currency(stored: Stored) -> Stored | None:
    """The page with every sign of a currency exchanged; None when it names none."""
    text = stored.body.decode()
    for one, other in (
        ("USD", "XTS"),
        ("usd", "xts"),
        ("EUR", "XTS"),
        ("CNY", "XTS"),
        ("$", "₿"),
        ("€", "₿"),
        ("¥", "₿"),
        ("￥", "₿"),
        ("元", "₿"),
    ):
        text = text.replace(one, other)
    body = text.encode()
    return None if body == stored.body else replace(stored, body=body)


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | set().union(*map(_keys, value.values()), set())
    return set().union(*map(_keys, value), set()) if isinstance(value, list) else set()


def _mapped(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {rename(name): _mapped(each, rename) for name, each in value.items()}
    return [_mapped(each, rename) for each in value] if isinstance(value, list) else value


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
