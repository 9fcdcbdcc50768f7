"""One running app over the shipped data, on SQLite, with the clock stopped; shared by all contract tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest
import structlog
from fastapi import FastAPI

from app.catalog.embedded import load_embedded, load_history
from app.main import create_app
from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.migrate import migrate
from app.store.seed import seed

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def plain_logs() -> None:
    """The development default draws every local variable of a traceback, which takes seconds here."""
    structlog.configure(processors=[structlog.processors.JSONRenderer(default=repr)])


@pytest.fixture(scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FastAPI]:
    from dataclasses import replace

    settings = Settings(database_url=f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('contract') / 'contract.db'}")
    migrate(settings)
    engine = create_store_engine(settings)
    await seed(engine, replace(load_embedded(), history=load_history()), clock=lambda: NOW)
    await engine.dispose()
    made = create_app(settings, clock=lambda: NOW)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture(scope="session")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Raises what the app raises: a test that provokes a 500 fails."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://trainfare") as made:
        yield made
