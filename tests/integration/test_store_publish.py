"""Publishing: what is written, what is not, and what moves the catalogue's version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.market import Tariff
from app.domain.market_records import MarketRecords
from app.store.engine import write
from app.store.observations import ConflictingRecordsError, PublishResult, publish
from app.store.queries import catalog_state
from app.store.seed import digest_of, seed
from app.store.tables import FeeRow, OfferRow, OfferShapeRow, PriceReadingRow, RateRow, ScheduleRow, TariffRow, table_of
from tests.support.builders import (
    AS_OF,
    OBSERVED_AT,
    a_fee,
    a_quota,
    a_rate,
    a_reading,
    a_source,
    a_stock,
    a_tariff,
    an_offer,
    records,
)

LATER = OBSERVED_AT + timedelta(days=2)
FULL = records(quotas=[a_quota()], stock=[a_stock()], history=[a_reading()])


async def told(engine: AsyncEngine, what: MarketRecords, **over: Any) -> PublishResult:
    return await publish(engine, what, now=over.pop("now", AS_OF), **over)


async def rows(engine: AsyncEngine, model: Any) -> Sequence[Any]:
    table = table_of(model)
    async with engine.connect() as connection:
        return (await connection.execute(select(table).order_by(table.c.id))).all()


def seen(amount: str, *, days: int = 0, **over: Any) -> MarketRecords:
    """The default records with another price, read ``days`` later."""
    tariff: Tariff = a_tariff(amount=amount, source=a_source(observed_at=OBSERVED_AT + timedelta(days=days)), **over)
    return records(tariffs=[tariff])


async def test_the_first_publication_writes_every_record(engine: AsyncEngine) -> None:
    result = await told(engine, FULL)
    written = {name: count.rows_added for name, count in result.counts.items()}
    assert written == {
        "provider": 1,
        "offer_shape": 1,
        "tariff": 1,
        "fee": 1,
        "quota": 1,
        "stock": 1,
        "billing_rule": 1,
        "fx_rate": 2,
        "price_reading": 1,
    }
    assert result.catalog_version == 1


async def test_the_same_records_again_write_nothing_and_keep_the_version(engine: AsyncEngine) -> None:
    await told(engine, FULL)
    again = await told(engine, FULL, now=AS_OF + timedelta(hours=1))
    assert (again.rows_added, again.moved, again.catalog_version) == (0, False, 1)
    assert (await catalog_state(engine)).moved_at == AS_OF


async def test_an_unchanged_later_reading_adds_no_row_but_dates_the_check(engine: AsyncEngine) -> None:
    await told(engine, seen("16.00"))
    result = await told(engine, seen("16.00", days=2))
    (row,) = await rows(engine, TariffRow)
    assert (row.observed_at, row.checked_at) == (OBSERVED_AT, LATER)
    assert (result.rows_added, result.catalog_version) == (0, 2)


async def test_a_change_closes_one_row_and_opens_another_at_the_same_instant(engine: AsyncEngine) -> None:
    await told(engine, seen("16.00"))
    await told(engine, seen("18.00", days=2))
    old, new = await rows(engine, TariffRow)
    assert (old.amount_nano, old.valid_from, old.valid_to, old.closed_at) == (16_000_000_000, None, LATER, AS_OF)
    assert (new.amount_nano, new.valid_from, new.valid_to) == (18_000_000_000, LATER, None)


async def test_a_correction_retracts_and_records_anew(engine: AsyncEngine) -> None:
    await told(engine, seen("16.00"))
    await told(engine, seen("1.60"), now=AS_OF + timedelta(hours=1))
    wrong, right = await rows(engine, TariffRow)
    assert (wrong.amount_nano, wrong.retracted_at) == (16_000_000_000, AS_OF + timedelta(hours=1))
    assert (right.amount_nano, right.valid_from, right.retracted_at) == (1_600_000_000, None, None)


async def test_an_older_reading_changes_nothing(engine: AsyncEngine) -> None:
    await told(engine, seen("16.00", days=2))
    result = await told(engine, seen("12.00"))
    assert (result.counts["tariff"].older, result.rows_added) == (1, 0)


async def test_what_a_publication_leaves_out_stays_in_force(engine: AsyncEngine) -> None:
    await told(engine, FULL)
    await told(engine, records(tariffs=[], fees=[], rates=[]))
    (row,) = await rows(engine, TariffRow)
    assert row.valid_to is None


async def test_two_purchase_options_of_one_offer_do_not_replace_each_other(engine: AsyncEngine) -> None:
    await told(engine, records(tariffs=[a_tariff(), a_tariff(amount="5", option="spot")]))
    assert [row.valid_to for row in await rows(engine, TariffRow)] == [None, None]


async def test_two_prices_of_one_thing_at_one_time_are_refused_and_nothing_is_written(engine: AsyncEngine) -> None:
    with pytest.raises(ConflictingRecordsError, match="tariff"):
        await told(engine, records(tariffs=[a_tariff(amount="16"), a_tariff(amount="2")]))
    assert await rows(engine, OfferRow) == []
    assert (await catalog_state(engine)).version == 0


async def test_the_order_of_the_records_does_not_matter(engine: AsyncEngine) -> None:
    old, new = seen("16.00").tariffs[0], seen("18.00", days=2).tariffs[0]
    await told(engine, records(tariffs=[new, old]))
    by_start = {row.valid_from: row.amount_nano for row in await rows(engine, TariffRow)}
    assert by_start == {None: 16_000_000_000, LATER: 18_000_000_000}


async def test_better_figures_of_an_offer_replace_the_old_ones_and_keep_its_identity(engine: AsyncEngine) -> None:
    await told(engine, records(offers=[an_offer(inter_node_gbit_s=None)]))
    await told(engine, records(offers=[an_offer(inter_node_gbit_s=3200.0)]))
    assert len(await rows(engine, OfferRow)) == 1
    old, new = await rows(engine, OfferShapeRow)
    assert (old.inter_node_gbit_s, new.inter_node_gbit_s) == (None, 3200.0)
    assert (old.retracted_at, new.retracted_at) == (AS_OF, None)


async def test_an_unknown_fee_stays_unknown_and_a_stated_zero_stays_zero(engine: AsyncEngine) -> None:
    await told(engine, records(fees=[a_fee(None, sku="charged"), a_fee("0", sku="free")]))
    assert {row.sku: row.amount_nano for row in await rows(engine, FeeRow)} == {"charged": None, "free": 0}


async def test_a_tariff_of_an_offer_nobody_knows_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(KeyError):
        await told(engine, records(tariffs=[a_tariff(an_offer(sku="unheard-of"))]))


async def test_a_corrected_rate_replaces_that_of_the_same_day_exactly(engine: AsyncEngine) -> None:
    await told(engine, records(rates=[a_rate(rate="7.70000000001")]))
    result = await told(engine, records(rates=[a_rate(rate="7.70000000002")]))
    assert result.counts["fx_rate"].rows_retracted == 1
    assert [row.rate for row in await rows(engine, RateRow) if row.retracted_at is None] == ["7.70000000002"]


async def test_a_reading_of_an_archive_is_kept_once(engine: AsyncEngine) -> None:
    await told(engine, records(history=[a_reading(), a_reading("2.10")]))
    await told(engine, records(history=[a_reading("2.10"), a_reading("2.20")]))
    assert [row.amount_nano for row in await rows(engine, PriceReadingRow)] == [2_000_000_000, 2_100_000_000, 2_200_000_000]


async def test_publishers_at_the_same_time_queue(engine: AsyncEngine) -> None:
    async with anyio.create_task_group() as group:
        for number in range(6):
            offer = an_offer(provider=f"p{number}")
            group.start_soon(told, engine, records(offers=[offer], fees=[], billing_rules=[], rates=[]))
    assert (await catalog_state(engine)).version == 6
    assert len(await rows(engine, TariffRow)) == 6


@pytest.mark.parametrize(
    "change",
    [{"amount_nano": 0}, {"amount_nano": -1}, {"valid_to": OBSERVED_AT, "valid_from": OBSERVED_AT}, {"minimum_gpus": 0}],
)
async def test_the_database_itself_refuses_a_price_that_makes_no_sense(engine: AsyncEngine, change: dict[str, object]) -> None:
    await told(engine, FULL)
    with pytest.raises(IntegrityError):
        async with write(engine) as connection:
            await connection.execute(update(table_of(TariffRow)).values(**change))


async def test_the_database_itself_refuses_a_second_open_row_of_one_key(engine: AsyncEngine) -> None:
    await told(engine, FULL)
    (row,) = await rows(engine, TariffRow)
    copy = {name: value for name, value in row._mapping.items() if name != "id"}
    with pytest.raises(IntegrityError):
        async with write(engine) as connection:
            await connection.execute(insert(table_of(TariffRow)).values(**copy))


async def put_schedule(engine: AsyncEngine, due: datetime, fault: Exception | None = None) -> None:
    async with write(engine) as connection:
        await connection.execute(insert(table_of(ScheduleRow)).values(provider="acme", next_due=due, token=0, failures=0))
        if fault:
            raise fault


async def test_a_time_without_a_zone_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(StatementError, match="timezone"):
        await put_schedule(engine, AS_OF.replace(tzinfo=None))


async def test_a_block_that_raises_writes_nothing(engine: AsyncEngine) -> None:
    with pytest.raises(RuntimeError, match="half-way"):
        await put_schedule(engine, AS_OF, RuntimeError("half-way"))
    async with engine.connect() as connection:
        assert (await connection.execute(select(table_of(ScheduleRow)))).all() == []


class TestSeed:
    async def test_the_data_set_is_loaded_once(self, engine: AsyncEngine) -> None:
        assert [await seed(engine, FULL), await seed(engine, FULL)] == [True, False]
        assert (await catalog_state(engine)).version == 1

    async def test_a_new_data_set_updates_the_old_one(self, engine: AsyncEngine) -> None:
        await seed(engine, seen("16.00"))
        assert await seed(engine, seen("18.00", days=2))
        assert len(await rows(engine, TariffRow)) == 2

    async def test_a_collected_price_outlives_a_new_data_set(self, engine: AsyncEngine) -> None:
        await seed(engine, seen("16.00"))
        await told(engine, seen("18.00", days=2))
        await seed(engine, seen("15.00", days=1))
        assert [row.amount_nano for row in await rows(engine, TariffRow) if row.valid_to is None] == [18_000_000_000]

    async def test_replicas_that_start_together_load_it_once(self, engine: AsyncEngine) -> None:
        loaded: list[bool] = []

        async def load() -> None:
            loaded.append(await seed(engine, FULL))

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(load)
        assert sorted(loaded) == [False, False, False, True]

    def test_the_digest_does_not_depend_on_the_order(self) -> None:
        both = [an_offer(), an_offer(sku="other")]
        assert digest_of(records(offers=both)) == digest_of(records(offers=both[::-1]))

    def test_the_digest_sees_every_figure(self) -> None:
        assert digest_of(FULL) != digest_of(replace(FULL, stock=(a_stock(status="unavailable"),)))
