"""The real application over a small market in a fresh SQLite file, spoken to over HTTP without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx

from app.domain.market_records import MarketRecords
from app.main import create_app
from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.migrate import migrate
from app.store.seed import seed
from tests.support.builders import AS_OF


@asynccontextmanager
async def service(folder: Path, records: MarketRecords, now: datetime = AS_OF) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application whose market is ``records`` and whose clock stands at ``now``."""
    settings = Settings(database_url=f"sqlite+aiosqlite:///{folder / 'service.db'}")
    await anyio.to_thread.run_sync(migrate, settings)
    engine = create_store_engine(settings)
    try:
        await seed(engine, records, clock=lambda: now)
    finally:
        await engine.dispose()
    app = create_app(settings, clock=lambda: now)
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://trainfare.test") as client:
        yield client


async def answered(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a request that must succeed."""
    response = await client.post(path, json=body)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found
