"""What is read row by row."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.money import Money
from app.store.engine import write
from app.store.observations import publish
from app.store.queries import (
    catalog_state,
    collect_runs,
    price_intervals,
    price_readings,
    quarantined,
    read_recommendation,
    store_recommendation,
)
from app.store.tables import CollectRunRow, QuarantineRow, table_of
from tests.support.builders import AS_OF, OBSERVED_AT, a_reading, a_source, a_tariff, an_offer, records


async def put(engine: AsyncEngine, model: Any, *rows: dict[str, Any]) -> None:
    async with write(engine) as connection:
        await connection.execute(insert(table_of(model)), list(rows))


async def store(engine: AsyncEngine, body: bytes) -> None:
    await store_recommendation(engine, id="rec_1", catalog_version=3, created_at=AS_OF, request="{}", body=body)


def a_run(provider: str, outcome: str = "published", **over: Any) -> dict[str, Any]:
    default = {
        "provider": provider,
        "started_at": AS_OF,
        "outcome": outcome,
        "observations": 3,
        "rejections": 1,
        "rows_written": 2,
        "pages": ["plans"],
        "detail": "",
        "code_version": "0.1.0",
    }
    return default | over


def refused(pointer: str, **over: Any) -> dict[str, Any]:
    default = {
        "provider": "acme",
        "scope": "record",
        "reason": "price_jump",
        "pointer": pointer,
        "detail": "×100",
        "first_seen_at": AS_OF,
        "last_seen_at": AS_OF,
        "resolved_at": None,
    }
    return default | over


async def test_an_answer_comes_back_byte_for_byte(engine: AsyncEngine) -> None:
    body = '{"why": ["更便宜"]}\x00'.encode()
    await store(engine, body)
    assert await read_recommendation(engine, "rec_1") == body


async def test_an_answer_stored_twice_stays_as_it_was(engine: AsyncEngine) -> None:
    await store(engine, b"first")
    await store(engine, b"second")
    assert await read_recommendation(engine, "rec_1") == b"first"


async def test_an_unknown_answer_is_none(engine: AsyncEngine) -> None:
    assert await read_recommendation(engine, "rec_2") is None


async def test_a_new_catalogue_is_at_version_zero_and_never_moved(engine: AsyncEngine) -> None:
    state = await catalog_state(engine)
    assert (state.version, state.moved_at) == (0, None)


class TestPriceIntervals:
    async def test_a_change_shows_as_two_neighbouring_intervals(self, engine: AsyncEngine) -> None:
        changed = OBSERVED_AT + timedelta(days=2)
        await publish(engine, records(), now=AS_OF)
        await publish(engine, records(tariffs=[a_tariff(amount="18", source=a_source(observed_at=changed))]), now=AS_OF)
        one, two = await price_intervals(engine, as_of=AS_OF)
        assert (one.amount, one.valid_from, one.valid_to) == (Money.of("16", "USD"), None, changed)
        assert (two.amount, two.valid_from, two.valid_to) == (Money.of("18", "USD"), changed, None)
        assert (two.gpu, two.gpus_per_node, two.source.url) == ("A100-SXM4-80GB", 8, "https://acme.example/pricing")

    async def test_a_retracted_price_is_not_shown(self, engine: AsyncEngine) -> None:
        await publish(engine, records(), now=AS_OF)
        await publish(engine, records(tariffs=[a_tariff(amount="1.6")]), now=AS_OF)
        assert [interval.amount for interval in await price_intervals(engine, as_of=AS_OF)] == [Money.of("1.6", "USD")]

    async def test_what_starts_later_is_not_shown(self, engine: AsyncEngine) -> None:
        await publish(engine, records(tariffs=[a_tariff(valid_from=AS_OF + timedelta(days=1))]), now=AS_OF)
        assert await price_intervals(engine, as_of=AS_OF) == []

    async def test_filters_and_pages(self, engine: AsyncEngine) -> None:
        offers = [an_offer(sku=f"s{n}", region="eu" if n % 2 else "us") for n in range(5)]
        spot = [a_tariff(offer, option="spot") for offer in offers]
        await publish(engine, records(offers=offers, tariffs=[*spot, a_tariff(offers[0])]), now=AS_OF)
        first = await price_intervals(engine, as_of=AS_OF, provider="acme", region="us", option="spot", limit=2)
        rest = await price_intervals(engine, as_of=AS_OF, provider="acme", region="us", option="spot", limit=2, after_id=first[-1].id)
        assert [interval.sku for interval in (*first, *rest)] == ["s0", "s2", "s4"]
        assert await price_intervals(engine, as_of=AS_OF, sku="unheard-of") == []


async def test_readings_come_by_day_and_continue_after_the_last(engine: AsyncEngine) -> None:
    readings = [a_reading(f"2.0{n}", day=date(2026, 1, 1 + n // 2)) for n in range(4)]
    await publish(engine, records(history=reversed(readings)), now=AS_OF)
    first = await price_readings(engine, provider="acme", limit=3)
    number, last = first[-1]
    rest = await price_readings(engine, provider="acme", after=(last.day, number))
    assert sorted(str(reading.price_per_gpu_hour) for _, reading in (*first, *rest)) == ["2.00", "2.01", "2.02", "2.03"]
    assert await price_readings(engine, option="spot") == []


async def test_runs_come_newest_first(engine: AsyncEngine) -> None:
    await put(engine, CollectRunRow, a_run("acme"), a_run("zeta", "failed"), a_run("acme", "failed"))
    runs = await collect_runs(engine)
    assert [(run.provider, run.outcome, run.pages) for run in runs] == [
        ("acme", "failed", ("plans",)),
        ("zeta", "failed", ("plans",)),
        ("acme", "published", ("plans",)),
    ]
    assert [run.id for run in await collect_runs(engine, provider="acme", before_id=runs[0].id)] == [runs[2].id]
    assert len(await collect_runs(engine, outcome="failed", limit=1)) == 1


async def test_quarantine_tells_open_from_resolved(engine: AsyncEngine) -> None:
    await put(engine, QuarantineRow, refused("/a"), refused("/b", resolved_at=AS_OF))
    assert [found.pointer for found in await quarantined(engine)] == ["/b", "/a"]
    assert [found.pointer for found in await quarantined(engine, resolved=False)] == ["/a"]
    assert [found.pointer for found in await quarantined(engine, resolved=True, reason="price_jump")] == ["/b"]
    newest = (await quarantined(engine))[0]
    assert [found.pointer for found in await quarantined(engine, provider="acme", before_id=newest.id)] == ["/a"]
