"""How a page's bytes become fields: bounded JSON, JSON inside scripts, streamed CSV, and the record that is read by emptying it.

A field is *taken out* of its record. A required one that is absent refuses the record; what is left at the end is reported. So a field
that a provider renames, adds or drops makes a noise the same day.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import BinaryIO, NoReturn, TypeVar

from app.domain.money import Money
from scrapers import names, numbers

T = TypeVar("T")

MOST_BYTES = 32_000_000
"""What one page may weigh when it is read as a whole; larger ones have to be streamed."""


class RefusedError(Exception):
    """A record, or a page when it is raised outside a record, that is not taken."""

    def __init__(self, reason: str, detail: str, pointer: str = "", page: str = "") -> None:
        super().__init__(f"{reason} at {pointer or 'the page'}: {detail}")
        self.reason = reason
        self.detail = detail
        self.pointer = pointer
        self.page = page


class DamagedPageError(RefusedError):
    """A page that was cut off or is not what it is taken for; nothing of it may be used."""


def refuse(reason: str, detail: str, pointer: str = "", page: str = "") -> NoReturn:
    """Refuse a record, or the whole answer when it is called outside a record.

    Raises:
        RefusedError: always.
    """
    raise RefusedError(reason, detail, pointer, page)


def damaged(reason: str, detail: str, pointer: str = "", page: str = "") -> NoReturn:
    """Refuse the whole answer.

    Raises:
        DamagedPageError: always.
    """
    raise DamagedPageError(reason, detail, pointer, page)


class Record:
    """One row of a page. ``take`` and its kin remove a field; ``leftovers`` tells what nobody removed."""

    def __init__(self, fields: Mapping[str, object], pointer: str, page: str) -> None:
        self._fields = dict(fields)
        self._children: list[Record] = []
        self.pointer = pointer
        self.page = page

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._fields.get(name) is not None

    def take(self, name: str) -> object:
        """Remove a field and give it as it is.

        Raises:
            RefusedError: missing_field, also when it is null.
        """
        value = self._fields.pop(name, None)
        if value is None:
            self.refuse("missing_field", f"{name} is required", name)
        return value

    def may(self, name: str) -> object | None:
        """Remove a field that may be absent or null."""
        return self._fields.pop(name, None)

    def text(self, name: str) -> str:
        """A required text that is not empty, blanks brought to one space."""
        value = self.take(name)
        if not isinstance(value, str) or not (text := numbers.plain(value)):
            self.refuse("wrong_type", f"{name} is no text", name)
        return text

    def may_text(self, name: str) -> str | None:
        """A text that may be absent, null or empty (None)."""
        value = self.may(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.refuse("wrong_type", f"{name} is no text", name)
        return numbers.plain(value) or None

    def flag(self, name: str) -> bool:
        """A required truth value."""
        value = self.take(name)
        if not isinstance(value, bool):
            self.refuse("wrong_type", f"{name} is neither true nor false", name)
        return value

    def number(self, name: str, *, grouping: str = "") -> Decimal:
        """A required figure, as a JSON number or as plain decimal text."""
        value = self.take(name)
        return self._number(name, lambda: numbers.amount(value, grouping=grouping))

    def may_number(self, name: str, *, grouping: str = "") -> Decimal | None:
        """A figure that may be absent or null."""
        if self.has(name):
            return self.number(name, grouping=grouping)
        self.ignore(name)
        return None

    def whole(self, name: str) -> int:
        """A required whole figure, such as a count."""
        value = self.take(name)
        return self._number(name, lambda: numbers.whole(value))

    def may_whole(self, name: str) -> int | None:
        """A whole figure that may be absent or null."""
        if self.has(name):
            return self.whole(name)
        self.ignore(name)
        return None

    def written(self, name: str, form: str, *, grouping: str = "") -> Decimal:
        """A required figure inside a text of exactly this form, such as ``"{} GiB"``."""
        value = self.take(name)
        return self._number(name, lambda: numbers.written(value, form, grouping=grouping))

    def size_gb(self, name: str, *, behind: str = "") -> Decimal:
        """A required size with its unit, in GB; ``behind`` is a word that follows it, such as "SSD"."""
        value = numbers.plain(self.take(name)).removesuffix(behind)
        return self._number(name, lambda: numbers.size_gb(value))

    def money(
        self,
        name: str,
        currency: str,
        *,
        form: str | None = None,
        grouping: str = "",
        per: int = 1,
        times: int = 1,
        free: bool = False,
        to_nano: bool = False,
    ) -> Money:
        """A required price; see ``numbers.money`` and, for ``form``, ``numbers.written``."""
        value = self.take(name)

        def read() -> Money:
            figure = numbers.amount(value, grouping=grouping) if form is None else numbers.written(value, form, grouping=grouping)
            return numbers.money(figure, currency, per=per, times=times, free=free, to_nano=to_nano)

        return self._number(name, read)

    def gpu(self, name: str, *, memory_gb: float | Decimal | None = None) -> str:
        """The canonical card that the field names, never the nearest.

        Raises:
            RefusedError: unknown_gpu, also when the stated memory contradicts the name.
        """
        text = self.text(name)
        return self.card(text, memory_gb=memory_gb, name=name)

    def card(self, text: str, *, memory_gb: float | Decimal | None = None, name: str | None = None) -> str:
        """The canonical card of a text that was put together from fields."""
        card = names.gpu_name(text, None if memory_gb is None else float(memory_gb))
        if card is None:
            memory = "" if memory_gb is None else f" with {memory_gb} GB"
            self.refuse("unknown_gpu", f"{text[:80]!r}{memory} is no card that is known", name)
        return card

    def record(self, name: str) -> Record:
        """A required object inside this one; its leftovers count as this one's."""
        return self._child(self.take(name), f"{self.pointer}/{name}", name)

    def may_record(self, name: str) -> Record | None:
        """An object that may be absent or null."""
        if self.has(name):
            return self.record(name)
        self.ignore(name)
        return None

    def records(self, name: str) -> list[Record]:
        """A required list of objects."""
        value = self.take(name)
        if not isinstance(value, list):
            self.refuse("wrong_type", f"{name} is no list", name)
        return [self._child(each, f"{self.pointer}/{name}/{index}", name) for index, each in enumerate(value)]

    def list_of_text(self, name: str) -> list[str]:
        """A required list of texts."""
        value = self.take(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.refuse("wrong_type", f"{name} is no list of texts", name)
        return [numbers.plain(each) for each in value]

    def ignore(self, *names: str) -> None:
        """Leave fields out on purpose."""
        for name in names:
            self._fields.pop(name, None)

    def only(self, *names: str) -> None:
        """Leave out all fields but these on purpose: for very wide records, whose new columns are no news."""
        for name in set(self._fields) - set(names):
            del self._fields[name]

    def drop(self) -> None:
        """Leave the whole record out on purpose: it is no subject of ours."""
        self._fields.clear()
        self._children.clear()

    def field_names(self) -> tuple[str, ...]:
        """Names of the fields that are still in it, in the source's order."""
        return tuple(self._fields)

    def leftovers(self) -> tuple[str, ...]:
        """Names of the fields that nobody took, with dots into objects."""
        found = [*self._fields]
        for child in self._children:
            stem = re.sub(r"/\d+(?=/|$)", "", child.pointer.removeprefix(self.pointer)).strip("/").replace("/", ".")
            found += [f"{stem}.{name}" for name in child.leftovers()]
        return tuple(dict.fromkeys(found))

    def refuse(self, reason: str, detail: str, name: str | None = None) -> NoReturn:
        """Refuse this record.

        Raises:
            RefusedError: always.
        """
        refuse(reason, detail, self.pointer if name is None else self._where(name), self.page)

    def _number(self, name: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except numbers.NumberError as error:
            refuse(error.reason, f"{name}: {error.detail}", self._where(name), self.page)

    def _where(self, name: str) -> str:
        """A JSON pointer, or the row's CSS path and the heading in brackets."""
        return f"{self.pointer}/{name}" if self.pointer.startswith("/") or not self.pointer else f"{self.pointer} [{name}]"

    def _child(self, value: object, pointer: str, name: str) -> Record:
        if not isinstance(value, dict):
            self.refuse("wrong_type", f"{name} is no object", name)
        child = Record(value, pointer, self.page)
        self._children.append(child)
        return child


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value of a page and where it stands (RFC 6901 pointer)."""

    value: object
    pointer: str
    page: str

    def at(self, pointer: str) -> Json:
        """The value under ``pointer``.

        Raises:
            RefusedError: missing_field; outside a record that refuses the page.
        """
        value = self.value
        for part in pointer.strip("/").split("/") if pointer.strip("/") else ():
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                refuse("missing_field", f"nothing at {part}", f"{self.pointer}{pointer}", self.page)
        return Json(value, f"{self.pointer}{pointer.rstrip('/')}", self.page)

    def record(self, pointer: str = "") -> Record:
        """The object under ``pointer``."""
        found = self.at(pointer)
        if not isinstance(found.value, dict):
            refuse("wrong_type", "not an object", found.pointer, self.page)
        return Record(found.value, found.pointer, self.page)

    def each(self, pointer: str = "") -> Iterator[Record]:
        """The objects of the list under ``pointer``."""
        found = self.at(pointer)
        if not isinstance(found.value, list):
            refuse("wrong_type", "not a list", found.pointer, self.page)
        for index in range(len(found.value)):
            yield found.record(f"/{index}")

    def named(self, pointer: str = "") -> Iterator[tuple[str, Record]]:
        """Names and objects of an object of objects under ``pointer``."""
        found = self.at(pointer)
        if not isinstance(found.value, dict):
            refuse("wrong_type", "not an object", found.pointer, self.page)
        for name, value in found.value.items():
            if not isinstance(value, dict):
                refuse("wrong_type", "not an object", f"{found.pointer}/{name}", self.page)
            yield name, Record(value, f"{found.pointer}/{name}", self.page)


@dataclass(frozen=True, slots=True)
class Page:
    """What one fetch brought. ``name`` is its kind in the declaration, ``key`` tells pages of a kind apart (by default the URL)."""

    name: str
    url: str
    opener: Callable[[], BinaryIO]
    key: str = field(default="")

    @classmethod
    def of(cls, name: str, url: str, body: bytes, key: str = "") -> Page:
        """A page held in memory."""
        return cls(name, url, lambda: io.BytesIO(body), key)

    @property
    def id(self) -> str:
        """What observations name as their page."""
        return self.key or self.url

    def body(self) -> bytes:
        """All bytes, bounded."""
        with self.opener() as stream:
            body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            damaged("too_large", f"more than {MOST_BYTES} bytes", page=self.id)
        return body

    def text(self) -> str:
        """The whole page as UTF-8 text."""
        try:
            return self.body().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            damaged("not_utf8", str(error)[:80], page=self.id)

    def json(self) -> Json:
        """The page as JSON; fractions are exact Decimals."""
        return Json(loads(self.text(), self.id), "", self.id)

    def jsonp(self) -> Json:
        """JSON wrapped in one call or one assignment: ``callback({…});``, ``var plans = […];``."""
        match = re.fullmatch(r"\s*(?:/\*.*?\*/\s*)?[\w$.\s]{1,80}?\s*[=(]\s*([\[{].*[\]}])\s*\)?\s*;?\s*", self.text(), re.DOTALL)
        if match is None:
            damaged("damaged_page", "not one call or assignment around JSON", page=self.id)
        return Json(loads(match[1], self.id), "", self.id)

    def json_after(self, marker: str) -> Json:
        """The JSON value that begins right behind ``marker`` inside a page, such as ``window.plansData =``.

        Raises:
            RefusedError: the marker is not there exactly once, or no JSON follows.
        """
        text = self.text()
        if (times := text.count(marker)) != 1:
            refuse("missing_field", f"{marker!r} occurs {times} times", page=self.id)
        return Json(loads_at(text, text.index(marker) + len(marker), self.id), f"[{marker.strip()}]", self.id)

    def csv(self, *, first_heading: str) -> Iterator[Record]:
        """Rows of a CSV, streamed, below the heading line that begins with ``first_heading``; lines above it are a preamble.

        Raises:
            DamagedPageError: no such heading, a row with another number of columns, or no line end at the end.
        """
        with self.opener() as stream:
            lines = _Lines(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
            rows = csv.reader(lines, strict=True)
            try:
                headings = next((row for row in rows if row and row[0] == first_heading), None)
                if headings is None:
                    damaged("damaged_page", f"no heading line that begins with {first_heading}", page=self.id)
                for row in rows:
                    if len(row) != len(headings):
                        damaged("cut_off", f"line {rows.line_num} has {len(row)} of {len(headings)} columns", page=self.id)
                    yield Record(dict(zip(headings, row, strict=True)), f"/{rows.line_num}", self.id)
            except (csv.Error, UnicodeDecodeError) as error:
                damaged("damaged_page", str(error)[:80], page=self.id)
            if not lines.last.endswith("\n"):
                damaged("cut_off", "the last line has no end", page=self.id)


class _Lines:
    """Lines of a stream; remembers the last one."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._stream = stream
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.last = line
            yield line


def _no_constant(text: str) -> NoReturn:
    msg = f"{text} is no JSON number"
    raise ValueError(msg)


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)


def loads(text: str, page: str) -> object:
    """JSON with exact fractions, without NaN and Infinity.

    Raises:
        DamagedPageError: no JSON, or cut off.
    """
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError, ArithmeticError) as error:
        damaged("damaged_page", f"no JSON: {str(error)[:80]}", page=page)
    return value


def loads_at(text: str, start: int, page: str) -> object:
    """The JSON value that begins at ``start``, whatever follows it."""
    while start < len(text) and text[start].isspace():
        start += 1
    try:
        value: object = _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError, ArithmeticError) as error:
        damaged("damaged_page", f"no JSON: {str(error)[:80]}", page=page)
    return value
