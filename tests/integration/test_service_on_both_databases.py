"""The API over SQLite and over PostgreSQL: the published market decides the bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from app.api.view import MarketView
from app.api.wire_request import RecommendIn
from app.catalog.columns import market_from_records
from app.catalog.embedded import load_embedded, load_history
from app.main import create_app
from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.seed import seed
from app.wiring import Advisor
from tests.contract.questions import QUESTION

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(database_url=database_url)
    engine = create_store_engine(settings)
    await seed(engine, replace(load_embedded(), history=load_history()[:50]), clock=lambda: NOW)
    await engine.dispose()
    app = create_app(settings, clock=lambda: NOW)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://trainfare") as made:
        yield made


async def test_an_answer_has_the_bytes_of_the_market_that_was_published(client: httpx.AsyncClient) -> None:
    advisor = Advisor.load()
    market = market_from_records(load_embedded(), gpus=advisor.knowledge.gpus, as_of=NOW, catalog_version=1)
    expected = advisor.advise(RecommendIn.model_validate(QUESTION), MarketView(market, advisor.cards))
    answer = await client.post("/recommend", json=QUESTION)
    assert answer.content == expected.body
    assert (await client.get(answer.headers["location"])).content == expected.body


async def test_every_list_is_served(client: httpx.AsyncClient) -> None:
    for path in ("/offers", "/fees", "/quotas", "/providers", "/fx", "/prices/history?provider=gcp", "/runs", "/quarantine"):
        answer = await client.get(path)
        assert answer.status_code == 200, answer.text
        assert "items" in answer.json()
