"""The names that a request may use (providers, regions, cards, currencies, countries) and what is near a name that is not among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from babel import Locale

from app.api.problems import Fault
from app.api.wire import printable
from app.domain.near import did_you_mean

_SEPARATORS = re.compile(r"[^A-Z0-9.]+")
_MEMORY = re.compile(r"(\d+) ?GB")
_MAKERS = frozenset({"NVIDIA", "AMD", "INTEL", "HUAWEI", "GOOGLE", "AWS", "GEFORCE", "TESLA"})
_NOT_COUNTRIES = frozenset({"EU", "EZ", "UN", "QO", "XA", "XB", "ZZ"})
COUNTRIES = frozenset(filter(re.compile("[A-Z]{2}").fullmatch, map(str, Locale("en").territories))) - _NOT_COUNTRIES
"""ISO 3166 two-letter codes, from the Unicode locale data without its groupings and test codes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a family of cards was understood: what the request said at ``pointer`` and which cards that means."""

    pointer: str
    given: str
    read_as: tuple[str, ...]


@dataclass
class Findings:
    """What reading a request turned up."""

    faults: list[Fault] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    def unknown(self, pointer: str, what: str, given: str, known: Iterable[str]) -> None:
        """Note that ``given`` is no known ``what``, with the names that are near it."""
        detail = f"No {what} is called {printable(given)!r}.{did_you_mean(given, known)}"
        self.faults.append(Fault(pointer=pointer, code=f"unknown_{what}", detail=detail))


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a card's name: ``RTX4090-24GB`` and ``rtx 4090 24 GB`` are both RTX, 4090, 24GB."""
    text = _SEPARATORS.sub(" ", name.upper())
    text = re.sub(r"\bRTX(?=\w)", "RTX ", text)
    text = re.sub(r"\bPRO (?=\d)", "PRO", text)
    text = _MEMORY.sub(r" \1GB", text)
    return tuple(part for part in text.split() if part not in _MAKERS)


@dataclass(frozen=True, slots=True)
class Cards:
    """The canonical names of all known cards."""

    names: tuple[str, ...]

    def family(self, given: str, pointer: str, findings: Findings) -> tuple[str, ...]:
        """The cards that ``given`` means: one card, or a family whose parts all stand in the card's name.

        ``A100`` is every A100, ``A100-80GB`` every A100 of 80 GB, ``4090`` every RTX4090. What differs is noted as a reading.
        """
        found = expand(given, self.names)
        if not found:
            families = {name.split("-")[0] for name in self.names}
            findings.unknown(pointer, "gpu", given, families.union(self.names))
        elif found != (given,):
            findings.readings.append(Reading(pointer, given, found))
        return found

    def one(self, given: str, pointer: str, findings: Findings) -> str:
        """The one card that ``given`` means; a family of several is a fault that lists them."""
        if given in self.names:
            return given
        found = expand(given, self.names)
        if len(found) > 1:
            detail = f"{printable(given)!r} names several cards; say which: {', '.join(found)}"
            findings.faults.append(Fault(pointer=pointer, code="ambiguous_gpu", detail=detail))
            return given
        return next(iter(self.family(given, pointer, findings)), given)


@dataclass(frozen=True)
class Vocabulary:
    """Everything that has a name in one market.

    ``regions`` holds each provider's regions. ``currencies`` are those that can be converted.
    """

    providers: tuple[str, ...]
    regions: Mapping[str, frozenset[str]]
    cards: Cards
    currencies: frozenset[str]

    @cached_property
    def _regions_by_folded(self) -> dict[str, str]:
        return {name.casefold(): name for names in self.regions.values() for name in sorted(names)}

    @cached_property
    def _providers_by_folded(self) -> dict[str, str]:
        return {name.casefold(): name for name in self.providers}

    def provider(self, given: str, pointer: str, findings: Findings) -> str:
        """The provider's id."""
        found = self._providers_by_folded.get(given.casefold())
        if found is None:
            findings.unknown(pointer, "provider", given, self.providers)
        return found or given

    def region(self, given: str, pointer: str, findings: Findings, *, provider: str | None = None) -> str:
        """The region as its provider writes it; with ``provider``, one of that provider's."""
        if provider is None:
            found = self._regions_by_folded.get(given.casefold())
            known: Iterable[str] = self._regions_by_folded.values()
        else:
            own = self.regions.get(provider, frozenset())
            found = next((name for name in sorted(own) if name.casefold() == given.casefold()), None)
            known = own
        if found is None:
            findings.unknown(pointer, "region", given, known)
        return found or given

    def currency(self, given: str, pointer: str, findings: Findings) -> str:
        """A currency for which there is a rate."""
        if not self.currencies:
            detail = "No exchange rate is known as of the instant asked for."
            findings.faults.append(Fault(pointer=pointer, code="no_exchange_rate", detail=detail))
        elif given not in self.currencies:
            findings.unknown(pointer, "currency", given, self.currencies)
        return given

    def country(self, given: str, pointer: str, findings: Findings) -> str:
        """An ISO 3166 two-letter code, in capitals."""
        code = given.upper()
        if code not in COUNTRIES:
            findings.unknown(pointer, "country", given, COUNTRIES)
        return code


def expand(given: str, gpus: Sequence[str]) -> tuple[str, ...]:
    """The canonical names among ``gpus`` that ``given`` means, in their order; empty when there is none.

    A name means every card that has all its parts (never a part of a part: ``A10`` is no ``A100``), else every card whose name begins with
    it when both are written without separators (``gaudi 2``, ``4070 Ti SUPER``).
    """
    wanted = _parts(given)
    if not wanted or all(_MEMORY.fullmatch(part) for part in wanted):
        return ()
    by_parts = tuple(name for name in gpus if all(_has(_parts(name), part) for part in wanted))
    if by_parts:
        return by_parts
    joined = "".join(wanted)
    return tuple(name for name in gpus if joined in _beginnings(_parts(name)))


def _has(own: tuple[str, ...], part: str) -> bool:
    return part in own or (part == "SXM" and any(re.fullmatch(r"SXM\d", item) for item in own))


def _beginnings(own: tuple[str, ...]) -> set[str]:
    starts = (own, own[1:]) if own[0] == "RTX" else (own,)
    return {"".join(parts[:count]) for parts in starts for count in range(1, len(parts) + 1)}
