"""The market that is read from the database."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random

import numpy as np
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.catalog.columns import market_from_records
from app.catalog.snapshot import load_market
from app.domain.market_columns import Market
from app.domain.market_records import MarketRecords
from app.store.engine import write
from app.store.observations import publish
from app.store.tables import OfferRow, table_of
from tests.perf.load_bench import measure_load
from tests.support.builders import (
    AS_OF,
    GPUS,
    OBSERVED_AT,
    a_billing_rule,
    a_fee,
    a_quota,
    a_rate,
    a_source,
    a_stock,
    a_tariff,
    an_offer,
    records,
)
from tests.support.markets import assert_equal_markets

OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
READ_IN_AUGUST = a_source(observed_at=datetime(2026, 8, 22, tzinfo=UTC))
NEBIUS = an_offer(provider="nebius", region="global", sku="NVIDIA HGX H100", gpu="H100-SXM5-80GB", gpus_per_node=1)


def varied(offers: int) -> MarketRecords:
    """Many offers with gaps, several purchase options and dates, in a shuffled order."""
    dice = Random(7)  # noqa: S311
    names = sorted(GPUS)
    made = [
        an_offer(
            provider=f"provider-{n % 7}",
            region=f"Région {n % 5}" if n % 3 else "",
            country=dice.choice(["US", "FR", None]),
            sku=f"SKU-{n}" if n % 2 else f"sku {n}",
            gpu=dice.choice(names),
            gpus_per_node=dice.choice([1, 4, 8]),
            vcpus=dice.choice([None, 12.5, 96.0]),
            ram_gb=dice.choice([None, 512.0]),
            local_nvme_gb=dice.choice([None, 0.0, 3840.0]),
            intra_node_link=dice.choice(["pcie", "nvlink", "none"]),
            inter_node_gbit_s=dice.choice([None, 3200.0]),
            maximum_nodes=dice.choice([None, 4]),
            upstream=dice.choice([None, "aws"]),
            component=n % 11 == 0,
            note=f"note {n}",
        )
        for n in range(offers)
    ]
    tariffs = [
        a_tariff(
            offer,
            amount=f"{n + 1}.{n:03d}",
            currency=dice.choice(["USD", "CNY", "EUR"]),
            option=option,
            unit=unit,
            term_unit=term_unit,
            term_count=term_count,
            upfront=upfront,
            kind=dice.choice(["list", "observed", "quote"]),
            valid_from=dice.choice([None, OCTOBER, AS_OF + timedelta(days=1)]),
            source=a_source(observed_at=dice.choice([None, OBSERVED_AT - timedelta(minutes=n)]), date_precision="day", evidence=f"ev_{n}"),
        )
        for n, offer in enumerate(made)
        for option, unit, term_unit, term_count, upfront in (
            ("on_demand", "node_hour", None, None, "none"),
            ("spot", "node_hour", None, None, "none"),
            ("reserved", "node_term", "year", 1, "all"),
            ("reserved", "node_month", "month", None, "none"),
            ("capacity_block", "node_day", "day", 7, "all"),
        )[: 1 + n % 5]
    ]
    dice.shuffle(made)
    dice.shuffle(tariffs)
    return records(
        offers=made,
        tariffs=tariffs,
        fees=[a_fee(None, sku="x"), a_fee("0.05", tier_from_gb=50.0), a_fee("0.09", tier_to_gb=50.0, free_gb=100.0)],
        quotas=[a_quota(default=None, code="Q-2"), a_quota()],
        stock=[a_stock(made[0]), a_stock(made[1], status="unavailable")],
        billing_rules=[a_billing_rule(option="spot", step_seconds=60), a_billing_rule()],
        rates=[a_rate("USD", "1.1550"), a_rate(day=date(2026, 10, 29)), a_rate(), a_rate(day=date(2026, 11, 30))],
    )


async def published(engine: AsyncEngine, *batches: MarketRecords) -> None:
    for batch in batches:
        await publish(engine, batch, now=AS_OF)


def amounts(market: Market) -> Sequence[float]:
    return [float(amount) for amount in market.tariffs.amount]


async def test_it_equals_the_market_of_the_published_records(engine: AsyncEngine) -> None:
    what = varied(300)
    await published(engine, what)
    loaded = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert_equal_markets(loaded, market_from_records(what, gpus=GPUS, as_of=AS_OF))
    assert loaded.catalog_version == 1
    assert 0 < len(loaded.tariffs) < len(what.tariffs)


async def test_it_does_not_depend_on_the_order_of_publication(engine: AsyncEngine) -> None:
    what = varied(60)
    await published(engine, *(replace(what, offers=what.offers[n::3], tariffs=(), stock=()) for n in (2, 0, 1)), what)
    assert_equal_markets(await load_market(engine, gpus=GPUS, as_of=AS_OF), market_from_records(what, gpus=GPUS, as_of=AS_OF))


async def test_an_announced_price_holds_from_its_day_on(engine: AsyncEngine) -> None:
    until = a_tariff(NEBIUS, "3.85", valid_to=OCTOBER, source=READ_IN_AUGUST)
    then = a_tariff(NEBIUS, "4.50", valid_from=OCTOBER, source=READ_IN_AUGUST)
    await published(engine, records(offers=[NEBIUS], tariffs=[then, until]))
    before = await load_market(engine, gpus=GPUS, as_of=OCTOBER - timedelta(seconds=1))
    after = await load_market(engine, gpus=GPUS, as_of=OCTOBER)
    assert (amounts(before), amounts(after)) == ([3.85], [4.50])


async def test_an_announcement_published_later_ends_the_present_price_then(engine: AsyncEngine) -> None:
    present = a_tariff(NEBIUS, "3.85", source=READ_IN_AUGUST)
    then = a_tariff(NEBIUS, "4.50", valid_from=OCTOBER, source=READ_IN_AUGUST)
    await published(engine, records(offers=[NEBIUS], tariffs=[present]), records(offers=[NEBIUS], tariffs=[then]))
    before = await load_market(engine, gpus=GPUS, as_of=OCTOBER - timedelta(seconds=1))
    after = await load_market(engine, gpus=GPUS, as_of=OCTOBER)
    assert (amounts(before), amounts(after)) == ([3.85], [4.50])


async def test_the_past_stays_readable_after_a_change(engine: AsyncEngine) -> None:
    new = a_tariff(amount="18", source=a_source(observed_at=OBSERVED_AT + timedelta(days=2)))
    await published(engine, records(), records(tariffs=[new]))
    past = await load_market(engine, gpus=GPUS, as_of=OBSERVED_AT)
    now = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert (amounts(past), amounts(now)) == ([16.0], [18.0])


async def test_as_known_then_a_later_correction_does_not_count(engine: AsyncEngine) -> None:
    await publish(engine, records(), now=AS_OF)
    await publish(engine, records(tariffs=[a_tariff(amount="1.6")]), now=AS_OF + timedelta(hours=2))
    then = await load_market(engine, gpus=GPUS, as_of=AS_OF, known_at=AS_OF + timedelta(hours=1))
    now = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert (amounts(then), amounts(now)) == ([16.0], [1.6])


async def test_as_known_then_a_change_learnt_later_does_not_count(engine: AsyncEngine) -> None:
    late = a_tariff(amount="18", valid_from=OCTOBER, source=a_source(observed_at=OBSERVED_AT + timedelta(days=1)))
    await publish(engine, records(), now=AS_OF)
    await publish(engine, records(tariffs=[late]), now=AS_OF + timedelta(hours=2))
    then = await load_market(engine, gpus=GPUS, as_of=AS_OF, known_at=AS_OF + timedelta(hours=1))
    assert amounts(then) == [16.0]


async def test_nothing_is_known_before_the_first_publication(engine: AsyncEngine) -> None:
    await published(engine, records())
    market = await load_market(engine, gpus=GPUS, as_of=AS_OF, known_at=AS_OF - timedelta(seconds=1))
    assert (len(market.offers), len(market.tariffs), market.fees) == (0, 0, ())


async def test_a_price_is_as_old_as_its_latest_reading(engine: AsyncEngine) -> None:
    again = a_tariff(source=a_source(observed_at=OBSERVED_AT + timedelta(days=2)))
    await published(engine, records(), records(tariffs=[again]))
    market = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert market.tariff_at(0).source.observed_at == OBSERVED_AT + timedelta(days=2)
    past = await load_market(engine, gpus=GPUS, as_of=OBSERVED_AT + timedelta(days=1))
    assert past.tariff_at(0).source.observed_at == OBSERVED_AT


async def test_a_retired_offer_and_its_prices_are_left_out(engine: AsyncEngine) -> None:
    gone, kept = an_offer(sku="gone"), an_offer(sku="kept")
    await published(engine, records(offers=[gone, kept]))
    async with write(engine) as connection:
        table = table_of(OfferRow)
        await connection.execute(update(table).where(table.c.sku == "gone").values(retired_at=AS_OF))
    market = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert [market.offer_at(0).sku, len(market.offers), len(market.tariffs)] == ["kept", 1, 1]


async def test_an_offer_that_is_sold_again_comes_back(engine: AsyncEngine) -> None:
    await published(engine, records())
    async with write(engine) as connection:
        await connection.execute(update(table_of(OfferRow)).values(retired_at=AS_OF))
    await published(engine, records())
    assert len((await load_market(engine, gpus=GPUS, as_of=AS_OF)).offers) == 1


async def test_without_an_instant_the_clock_is_asked(engine: AsyncEngine) -> None:
    assert (await load_market(engine, gpus=GPUS, clock=lambda: AS_OF)).as_of == AS_OF


async def test_an_empty_database_is_an_empty_market(engine: AsyncEngine) -> None:
    market = await load_market(engine, gpus=GPUS, as_of=AS_OF)
    assert (len(market.offers), len(market.tariffs), market.catalog_version) == (0, 0, 0)
    assert market.offers.vcpus.dtype == np.float64


def test_twenty_thousand_offers_load_in_a_fifth_of_what_a_hundred_thousand_may_take() -> None:
    assert measure_load(20_000, time.process_time) <= 2.0 / 5
