"""Tables and scripts of HTML pages. Kept apart from ``scrapers.read`` so that only pages in HTML load the HTML library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapers.numbers import plain
from scrapers.read import Json, Page, Record, damaged, loads, refuse

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_PAIRED = ("html", "body", "main", "section", "table", "tr", "script")
_MOST_SPAN = 200


def soup(page: Page) -> BeautifulSoup:
    """The page as a tree.

    Raises:
        DamagedPageError: a paired element is not closed, which is what a body looks like that was cut off.
    """
    text = page.text()
    for name in _PAIRED:
        opened, closed = (len(re.findall(rf"<{sign}{name}(?=[\s>])", text, re.IGNORECASE)) for sign in ("", "/"))
        if opened != closed:
            damaged("cut_off", f"{opened} <{name}> and {closed} </{name}>", page=page.id)
    if not text.rstrip().endswith(">"):
        damaged("cut_off", "the page does not end with a tag", page=page.id)
    from bs4 import BeautifulSoup  # noqa: PLC0415 - a tenth of a second that a discovery of the providers must not cost

    return BeautifulSoup(text, "lxml")


def text_of(tag: Tag) -> str:
    """The text of an element on one line."""
    return plain(tag.get_text(" "))


def css_path(tag: Tag) -> str:
    """A CSS selector of this one element, from the nearest ancestor that has an id."""
    steps: list[str] = []
    at: Tag | None = tag
    while at is not None and at.name not in {"html", "body", "[document]"}:
        if isinstance(name := at.get("id"), str) and re.fullmatch(r"[A-Za-z][\w-]*", name):
            steps.append(f"#{name}")
            break
        steps.append(f"{at.name}:nth-of-type({1 + len(at.find_previous_siblings(at.name))})")
        at = at.parent
    return " > ".join(reversed(steps))


def one(root: Tag, selector: str, page: Page) -> Tag:
    """The only element that a selector finds.

    Raises:
        RefusedError: none or several; outside a record that refuses the page.
    """
    found = root.select(selector)
    if len(found) != 1:
        refuse("missing_field", f"{len(found)} elements instead of one", selector, page.id)
    return found[0]


def script_json(root: Tag, selector: str, page: Page) -> Json:
    """The JSON inside the only script that a selector finds, such as ``script#__NEXT_DATA__``."""
    tag = one(root, selector, page)
    return Json(loads(tag.get_text(), page.id), f"[{selector}]", page.id)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page: its headings and its rows as records by heading, cells that span several rows or columns repeated.

    A second column of the same heading is called ``heading (2)``. ``above`` is the nearest heading text before the table.
    """

    tag: Tag
    page: str
    headings: tuple[str, ...]

    @property
    def above(self) -> str:
        """Text of the nearest h1–h5 before the table, empty when there is none."""
        found = self.tag.find_previous(["h1", "h2", "h3", "h4", "h5"])
        return "" if found is None else text_of(found)

    def records(self) -> Iterator[Record]:
        """Rows below the headings. Cells without a heading are called ``(5)`` by their place; absent cells are missing fields."""
        for row, cells in _grid(self.tag)[1:]:
            names = [*self.headings, *(f"({place})" for place in range(len(self.headings) + 1, len(cells) + 1))]
            yield Record(dict(zip(names, cells, strict=False)), css_path(row), self.page)


def tables(root: Tag, page: Page) -> list[Table]:
    """All tables of two rows or more, in the order of the page; the first row gives the headings."""
    found = []
    for tag in root.find_all("table"):
        grid = _grid(tag)
        if len(grid) > 1:
            found.append(Table(tag, page.id, _distinct(grid[0][1])))
    return found


def tables_with(root: Tag, page: Page, *headings: str) -> list[Table]:
    """The tables that have all these headings; at least one.

    Raises:
        RefusedError: none has; outside a record that refuses the page.
    """
    found = [table for table in tables(root, page) if set(headings) <= set(table.headings)]
    if not found:
        refuse("missing_field", f"no table with the headings {', '.join(headings)}", "table", page.id)
    return found


def _distinct(headings: list[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    result = []
    for heading in headings:
        seen[heading] = seen.get(heading, 0) + 1
        result.append(heading if seen[heading] == 1 else f"{heading} ({seen[heading]})")
    return tuple(result)


def _grid(table: Tag) -> list[tuple[Tag, list[str]]]:
    """Rows of a table as texts, spans written out."""
    hanging: dict[int, tuple[int, str]] = {}
    grid = []
    for row in table.find_all("tr"):
        if row.find_parent("table") is not table:
            continue
        cells: list[str] = []
        kept: dict[int, tuple[int, str]] = {}

        for cell in [*row.find_all(["td", "th"], recursive=False), None]:
            while (column := len(cells)) in hanging:
                left, text = hanging.pop(column)
                cells.append(text)
                if left > 1:
                    kept[column] = (left - 1, text)
            if cell is None:
                break
            text = text_of(cell)
            for _ in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan")) > 1:
                    kept[len(cells)] = (down - 1, text)
                cells.append(text)
        hanging = kept
        grid.append((row, cells))
    return grid


def _span(cell: Tag, name: str) -> int:
    value = cell.get(name)
    return min(_MOST_SPAN, int(value)) if isinstance(value, str) and value.isdigit() and int(value) > 0 else 1
