"""How a provider is declared: what to fetch, how often, what a healthy answer looks like, and the pure function that reads it.

A provider is one module of ``scrapers/providers`` with one ``PROVIDER``. Nothing else is edited to add one; docs/add-a-provider.md shows
how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal
from urllib.parse import urlsplit

from app.domain.market import FeeKind, ProviderInfo
from app.domain.units import HOURS_PER_MONTH
from scrapers.numbers import NumberError
from scrapers.read import Page, RefusedError, refuse
from scrapers.seen import (
    GPU_DAY,
    GPU_HOUR,
    GPU_MINUTE,
    GPU_MONTH,
    GPU_SECOND,
    GPU_TERM,
    GPU_WEEK,
    NODE_DAY,
    NODE_HOUR,
    NODE_MINUTE,
    NODE_MONTH,
    NODE_SECOND,
    NODE_TERM,
    NODE_WEEK,
    Notice,
    Observation,
    Per,
    Reading,
    Rejection,
    Stated,
    Term,
)
from scrapers.sight import Sight, digest_of

__all__ = [
    "GPU_DAY",
    "GPU_HOUR",
    "GPU_MINUTE",
    "GPU_MONTH",
    "GPU_SECOND",
    "GPU_TERM",
    "GPU_WEEK",
    "NODE_DAY",
    "NODE_HOUR",
    "NODE_MINUTE",
    "NODE_MONTH",
    "NODE_SECOND",
    "NODE_TERM",
    "NODE_WEEK",
    "Basis",
    "Confidence",
    "Expect",
    "Fetch",
    "Notice",
    "Observation",
    "Page",
    "PageKind",
    "Pages",
    "Per",
    "Provider",
    "Reading",
    "Rejection",
    "Sight",
    "Stated",
    "Term",
    "digest_of",
]

Basis = Literal["public API", "page", "dated table"]
Confidence = Literal["seen live", "documented", "reconstructed"]
"""``seen live``: the answer was captured from the provider. ``documented``: its shape is the provider's own document. ``reconstructed``:
put together from other people's code."""
Tier = Literal["bronze", "silver", "gold"]

_MARKS_WITHIN = 2_000_000
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CREDENTIAL = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class PageKind:
    """A kind of page that ``parse`` knows by ``name``.

    ``marks`` are texts that every healthy page of the kind contains (within its first 2 MB) and an error page does not: names of the fields
    that matter. ``required``: without such a page nothing of the answer may be published.
    """

    name: str
    marks: tuple[str, ...]
    required: bool = False

    def __post_init__(self) -> None:
        if not self.marks or not all(self.marks):
            msg = f"page kind {self.name} needs marks"
            raise ValueError(msg)

    def matches(self, head: str) -> bool:
        """Whether the beginning of a page has all the marks."""
        return all(mark in head for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request. ``page`` names the kind of page that it brings.

    Credentials stand by name in braces in the URL, in header values or in the body (``"Bearer {ACME_TOKEN}"``) and are filled in by the
    fetcher alone; a fetch whose credentials are not set is left out. ``robots``: ask robots.txt first (pages for people). ``accept`` is the
    Accept header. ``most_bytes`` bounds the body.
    """

    page: str
    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    accept: str = "application/json"
    robots: bool = False
    most_bytes: int = 32_000_000

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme != "https":
            msg = f"{self.url} is not https"
            raise ValueError(msg)

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the credentials in it."""
        texts = (self.url, self.body or "", *(value for _, value in self.headers))
        return tuple(sorted({name for text in texts for name in _CREDENTIAL.findall(text)}))

    @property
    def host(self) -> str:
        """The host that is asked."""
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What a healthy answer gives. A failed minimum stops publication; a failed maximum is only reported.

    ``offers``: least and most offers with a price. ``gpus``: cards that are always there. ``price_band``: lowest and highest price per
    GPU-hour in the provider's currency. ``fees``: kinds of fees that this source states; one that is missing is unknown, never zero.
    """

    offers: tuple[int, int]
    gpus: frozenset[str] = frozenset()
    price_band: tuple[Decimal, Decimal] = (Decimal("0.01"), Decimal(40))
    fees: frozenset[FeeKind] = frozenset()


class Pages:
    """The pages of one collection, by kind, in an order that does not depend on how they came."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = tuple(sorted(pages, key=lambda page: (page.name, page.id)))

    def all(self, name: str) -> tuple[Page, ...]:
        """The pages of a kind; none when it was not fetched."""
        return tuple(page for page in self._pages if page.name == name)

    def has(self, name: str) -> bool:
        """Whether there is a page of the kind."""
        return bool(self.all(name))

    def one(self, name: str) -> Page:
        """The only page of a kind.

        Raises:
            RefusedError: missing_page or several; outside a record that refuses the whole answer.
        """
        found = self.all(name)
        if len(found) != 1:
            refuse("missing_page", f"{len(found)} pages of kind {name} instead of one", page=name)
        return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider's declaration.

    ``pages`` names the kinds of pages, ``start`` what is asked first, ``follow`` what a page leads to (next pages, pages of regions).
    ``every_hours``: interval of collection. ``pace_per_second``: most requests a second to one host. ``month_hours``: hours of the
    provider's own month. ``hosts``: hosts that redirects may lead to besides the ones asked. ``exempt``: why something that its tier asks
    for is not there.
    """

    id: str
    name: str
    kind: Literal["hyperscaler", "gpu_cloud", "marketplace", "broker", "china", "other"]
    homepage: str
    pages: tuple[PageKind, ...]
    start: tuple[Fetch, ...]
    parse: Callable[[Pages, Sight], None]
    expect: Expect
    currency: str
    basis: Basis
    confidence: Confidence
    every_hours: float
    pace_per_second: float = 1.0
    follow: Callable[[Page], Iterable[Fetch]] | None = None
    tier: Tier = "bronze"
    exempt: str = ""
    name_zh: str = ""
    month_hours: float = HOURS_PER_MONTH
    hosts: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        problems = [
            (not _ID.fullmatch(self.id), "the id is not lower case with single hyphens"),
            (not self.pages, "no page is declared"),
            (len({kind.name for kind in self.pages}) != len(self.pages), "two page kinds have one name"),
            (not {fetch.page for fetch in self.start} <= {kind.name for kind in self.pages}, "a fetch brings a page of no declared kind"),
            (self.every_hours <= 0 or self.pace_per_second <= 0, "interval and pace are positive"),
            (self.expect.offers[0] > self.expect.offers[1], "the expected minimum is above the maximum"),
        ]
        for wrong, what in problems:
            if wrong:
                msg = f"provider {self.id}: {what}"
                raise ValueError(msg)

    @property
    def info(self) -> ProviderInfo:
        """The platform as a record of the market."""
        return ProviderInfo(id=self.id, name=self.name, kind=self.kind, homepage=self.homepage, name_zh=self.name_zh)

    @property
    def needs(self) -> tuple[str, ...]:
        """Credentials that some fetch asks for."""
        return tuple(sorted({name for fetch in self.start for name in fetch.needs}))

    @property
    def runs_without_credentials(self) -> bool:
        """Whether anything can be fetched without credentials."""
        return any(not fetch.needs for fetch in self.start)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Hosts that may be asked or redirected to."""
        return self.hosts | {fetch.host for fetch in self.start}

    def kind_of(self, body: bytes) -> str | None:
        """The page kind that a stored page is, by its marks; the most telling one when several fit."""
        head = body[:_MARKS_WITHIN].decode("utf-8", errors="replace")
        fitting = [kind for kind in self.pages if kind.matches(head)]
        return max(fitting, key=lambda kind: sum(map(len, kind.marks))).name if fitting else None

    def read(self, pages: Iterable[Page]) -> Reading:
        """Read the pages of one collection. The same pages in any order give the same reading.

        A page that is damaged, is not of its kind or lacks a field outside its records refuses the whole answer: nothing is seen then.
        """
        given = Pages(pages)
        missing = [
            Rejection(kind.name, "", "missing_page", f"no page of kind {kind.name}", whole=True)
            for kind in self.pages
            if kind.required and not given.has(kind.name)
        ]
        try:
            for kind in self.pages:
                for page in given.all(kind.name):
                    _check_marks(kind, page)
            sight = Sight()
            self.parse(given, sight)
        except RefusedError as error:
            return _nothing(missing, Rejection(error.page, error.pointer, error.reason, error.detail, whole=True))
        except NumberError as error:
            return _nothing(missing, Rejection("", "", error.reason, error.detail, whole=True))
        except Exception as error:  # noqa: BLE001 - one broken scraper must not take the others with it
            return _nothing(missing, Rejection("", "", "scraper_fault", f"{type(error).__name__}: {str(error)[:200]}", whole=True))
        seen = sight.reading()
        unstated = sorted(self.expect.fees - {fee.kind for fee in seen.fees})
        notices = (*seen.notices, *(Notice("", "", "fee_not_stated", f"no {kind} was stated") for kind in unstated))
        return Reading(observations=seen.observations, rejections=(*missing, *seen.rejections), notices=notices)


def _check_marks(kind: PageKind, page: Page) -> None:
    with page.opener() as stream:
        head = stream.read(_MARKS_WITHIN).decode("utf-8", errors="replace")
    absent = [mark for mark in kind.marks if mark not in head]
    if absent:
        refuse("not_this_page", f"a page of kind {kind.name} without {', '.join(absent)}", page=page.id)


def _nothing(missing: list[Rejection], rejection: Rejection) -> Reading:
    return Reading(observations=(), rejections=(*missing, rejection), notices=())
