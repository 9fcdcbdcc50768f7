"""The contract that every provider keeps, read from its declaration and its stored pages. Nothing here names a provider."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.market import Source
from app.domain.quality import judge, refuses_batch
from scrapers.base import Page, Provider
from scrapers.names import CARD_MEMORY_GB
from scrapers.providers import module_of, providers
from scrapers.records import price_points, records_of, rules_of
from tests.scrapers.cases import (
    FIXTURES,
    Case,
    Stored,
    cases,
    cases_of,
    of_page,
    other_currency,
    renamed,
    said,
    snapshot,
    stored_pages,
    turned,
    without_lists,
    written,
)
from tests.support.facts import FACTS

ROOT = Path(__file__).resolve().parents[2]
PROVIDERS = list(providers().values())
CASES = cases()
PAGES = [(case, stored) for case in CASES for stored in case.stored]
OTHER_FOLDERS = {"ovhcloud": "ovh", "voltagepark": "voltage-park"}

each_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)
each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_page = pytest.mark.parametrize(("case", "stored"), PAGES, ids=[f"{case}-{stored.file}" for case, stored in PAGES])


def test_discovery_is_quick() -> None:
    code = (
        "import time, scrapers.base; from scrapers.providers import providers\n"
        "start = time.perf_counter(); providers(); print(time.perf_counter() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout) for _ in range(3)
    ]
    assert min(times) < 0.05


class TestDeclaration:
    @each_provider
    def test_it_stands_in_a_module_of_its_name_that_says_what_the_page_is(self, provider: Provider) -> None:
        module = sys.modules[f"scrapers.providers.{module_of(provider.id)}"]
        assert provider.parse.__module__ == module.__name__
        assert len((module.__doc__ or "").strip()) > 60

    @each_provider
    def test_its_module_knows_nothing_but_the_words_of_a_scraper(self, provider: Provider) -> None:
        text = (ROOT / "scrapers" / "providers" / f"{module_of(provider.id)}.py").read_text(encoding="utf-8")
        imports = [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]
        ours = {name for name in imports if name.startswith(("app", "scrapers", "tests", "tools"))}
        assert ours <= {"scrapers.base", "scrapers.read", "scrapers.numbers", "scrapers.names", "scrapers.html"} | {
            name for name in ours if name.startswith("app.domain")
        }
        assert not {"os", "io", "socket", "urllib.request", "httpx", "random", "time", "bs4"} & set(imports)

    @each_provider
    def test_it_is_polite(self, provider: Provider) -> None:
        assert provider.every_hours >= 1
        assert provider.pace_per_second <= 2
        for fetch in provider.start:
            assert fetch.robots or "html" not in fetch.accept, f"{fetch.url} is a page for people: ask robots.txt first"

    @each_provider
    def test_it_has_pages_with_their_origin(self, provider: Provider) -> None:
        stored = stored_pages(provider.id)
        assert stored, f"no fixtures of {provider.id}"
        assert {each.page for each in stored} == {kind.name for kind in provider.pages}, "every kind of page has a stored one"
        for each in stored:
            assert each.url.startswith("https://")
            assert each.provenance
            assert each.figures
            assert each.is_json or each.renames, f"{each.file}: name the headings that the scraper needs, so that they can be renamed"
            assert all(text.encode() in each.body for text in each.renames)


class TestHealthyPages:
    @each_provider
    def test_it_sees_what_its_author_read(self, provider: Provider) -> None:
        path = FIXTURES / provider.id / "expected.json"
        expected = json.loads(path.read_text(encoding="utf-8"))
        assert json.loads(written(snapshot(provider))) == expected, (
            f"read the difference, then: python -m tests.scrapers.snapshot {provider.id}"
        )

    @each_case
    def test_nothing_is_refused_as_a_whole_and_every_field_is_read_or_left_out_on_purpose(self, case: Case) -> None:
        reading = case.read()
        assert not reading.refused, reading.rejections
        assert [notice for notice in reading.notices if notice.reason == "unread_field"] == []
        assert reading.observations

    @each_provider
    def test_its_expectations_hold(self, provider: Provider) -> None:
        case = cases_of(provider)[0]
        reading = case.read()
        findings = judge(price_points(provider, reading), {}, rules_of(provider))
        assert [finding for finding in findings if finding.severity != "warn"] == []
        assert {fee.kind for fee in reading.fees} >= provider.expect.fees

    @each_case
    def test_cards_are_known_and_countries_are_codes(self, case: Case) -> None:
        for offer in case.read().offers:
            assert offer.gpu in CARD_MEMORY_GB
            assert offer.country is None or (len(offer.country) == 2 and offer.country.isupper())

    @each_case
    def test_its_observations_become_records_that_hold_together(self, case: Case) -> None:
        read_at = datetime(2026, 8, 22, tzinfo=UTC)
        sources = {
            stored.as_page().id: Source(name="a", url=stored.url, observed_at=read_at, date_precision="day") for stored in case.stored
        }
        reading = case.read()
        records = records_of(case.provider, reading, sources)
        keys = {offer.key for offer in records.offers}
        assert len(records.tariffs) == len(reading.offers)
        assert {tariff.offer for tariff in records.tariffs} == keys
        assert {stock.offer for stock in records.stock} <= keys

    @each_case
    def test_each_page_is_recognised_by_its_marks(self, case: Case) -> None:
        assert [case.provider.kind_of(stored.body) for stored in case.stored] == [stored.page for stored in case.stored]

    @each_case
    def test_reading_twice_or_in_another_order_gives_the_same(self, case: Case) -> None:
        first = case.read()
        assert case.read() == first
        assert replace_order(case).read() == first
        for stored in case.stored:
            if stored.is_json:
                assert said(case.read(turned(stored))) == said(first)


class TestDamagedPages:
    @each_page
    @pytest.mark.parametrize("share", [0.35, 0.6, 0.95])
    def test_a_page_that_was_cut_off_is_refused_as_a_whole(self, case: Case, stored: Stored, share: float) -> None:
        reading = case.read(replace(stored, body=stored.body[: int(len(stored.body) * share)]))
        assert reading.refused
        assert reading.observations == ()

    @each_page
    @pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"<html><body><h1>503 Service Unavailable</h1></body></html>"])
    def test_a_page_of_an_error_is_refused_as_a_whole(self, case: Case, stored: Stored, body: bytes) -> None:
        reading = case.read(replace(stored, body=body))
        assert reading.refused
        assert reading.observations == ()

    @each_page
    def test_a_renamed_field_is_reported_and_never_changes_a_figure(self, case: Case, stored: Stored) -> None:
        healthy = case.read()
        for name, changed in renamed(stored):
            reading = case.read(changed)
            assert said(reading) <= said(healthy), name
            if said(reading) != said(healthy):
                news = {(each.reason, each.detail) for each in (*reading.rejections, *reading.notices)}
                assert news - {(each.reason, each.detail) for each in (*healthy.rejections, *healthy.notices)}, f"{name} went unnoticed"

    @each_page
    def test_another_currency_is_never_taken(self, case: Case, stored: Stored) -> None:
        changed = other_currency(stored)
        if changed is not None and not stored.currency_unread:
            page = changed.as_page().id
            assert [each for each in of_page(case.read(changed)) if getattr(each, "page", "") == page] == []

    @each_page
    def test_empty_lists_give_no_price_and_stop_publication(self, case: Case, stored: Stored) -> None:
        if not stored.is_json or not case.read().offers:
            pytest.skip("no lists in it, or no prices")
        reading = case.read(without_lists(stored))
        points = price_points(case.provider, reading)
        if points:
            pytest.skip("its prices stand in no list")
        assert reading.refused or refuses_batch(judge(points, {}, rules_of(case.provider)))

    @each_page
    def test_a_page_that_is_no_utf_8_is_refused(self, case: Case, stored: Stored) -> None:
        reading = case.read(replace(stored, body=stored.body[:-1] + b"\xff\xfe" + stored.body[-1:]))
        assert reading.refused


def replace_order(case: Case) -> Case:
    return replace(case, stored=tuple(reversed(case.stored)))


def answers() -> list[tuple[Provider, Path]]:
    if FACTS is None:
        return []
    folder = FACTS.parent / "payloads"
    return [
        (provider, path)
        for provider in PROVIDERS
        for path in sorted((folder / OTHER_FOLDERS.get(provider.id, provider.id)).glob("*"))
        if path.is_file()
    ]


@pytest.mark.parametrize(("provider", "path"), answers(), ids=lambda each: each.name if isinstance(each, Path) else each.id)
def test_a_stored_answer_of_others_gives_rows_or_named_refusals(provider: Provider, path: Path) -> None:
    body = path.read_bytes()
    kind = provider.kind_of(body)
    if kind is None:
        pytest.skip("no page of this scraper")
    reading = provider.read([Page.of(kind, str(path), body)])
    assert "scraper_fault" not in {each.reason for each in reading.rejections}
    assert reading.observations or reading.rejections
