"""How long it takes to load a market of many offers from a SQLite file."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from app.catalog.snapshot import load_market
from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.migrate import migrate
from app.store.observations import publish
from tests.support.builders import AS_OF, GPUS, OBSERVED_AT, a_source, a_tariff, an_offer, records


def measure_load(rows: int, timer: Callable[[], float] = time.perf_counter) -> float:
    """Seconds to load ``rows`` offers with one tariff each, the best of three; ``timer`` may count CPU time instead."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database_url=f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}")
        migrate(settings)
        return asyncio.run(_measure(settings, rows, timer))


async def _measure(settings: Settings, rows: int, timer: Callable[[], float]) -> float:
    names = sorted(GPUS)
    offers = [
        an_offer(provider=f"provider-{n % 31}", region=f"region-{n % 97}", sku=f"sku-{n}", gpu=names[n % len(names)]) for n in range(rows)
    ]
    sources = [a_source(observed_at=OBSERVED_AT - timedelta(hours=hours)) for hours in range(500)]
    tariffs = [a_tariff(offer, source=sources[n % len(sources)]) for n, offer in enumerate(offers)]
    engine = create_store_engine(settings)
    try:
        await publish(engine, records(offers=offers, tariffs=tariffs), now=AS_OF)
        seconds = []
        for _ in range(3):
            started = timer()
            market = await load_market(engine, gpus=GPUS, as_of=AS_OF)
            seconds.append(timer() - started)
            assert len(market.offers) == len(market.tariffs) == rows
        return min(seconds)
    finally:
        await engine.dispose()


if __name__ == "__main__":
    print(f"100,000 offers with a tariff each: {measure_load(100_000):.2f} s")
