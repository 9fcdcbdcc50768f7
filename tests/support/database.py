"""Fixtures for tests that need a database: each such test runs on SQLite and on PostgreSQL.

A conftest.py takes them over with ``from tests.support.database import *``. Each test gets a database of its own, copied from one that the
real migrations made.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.migrate import migrate
from tests.support.postgres import MISSING, REQUIRED, Server, find_binaries, run_server

__all__ = ["anyio_backend", "database_url", "empty_database_url", "engine", "postgres_server", "postgres_template", "sqlite_template"]

_TEMPLATE = "template_trainfare"
_numbers = count(1)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The session's server. Without the binaries: skipped with a loud warning, or failed where they are required."""
    binaries = find_binaries()
    if binaries is None:
        if REQUIRED:
            pytest.fail(MISSING)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(MISSING, stacklevel=1)
        pytest.skip(MISSING)
    with run_server(binaries) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres_server: Server) -> str:
    """Name of a migrated database to copy."""
    postgres_server.create(_TEMPLATE)
    migrate(Settings(database_url=postgres_server.url(_TEMPLATE)))
    return _TEMPLATE


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file to copy."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    migrate(Settings(database_url=f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any schema."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}"
        return
    server: Server = request.getfixturevalue("postgres_server")
    name = f"empty_{next(_numbers)}"
    server.create(name)
    yield server.url(name)
    server.drop(name)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated, empty database."""
    if request.param == "sqlite":
        path = tmp_path / "test.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite+aiosqlite:///{path}"
        return
    server: Server = request.getfixturevalue("postgres_server")
    name = f"test_{next(_numbers)}"
    server.create(name, template=request.getfixturevalue("postgres_template"))
    yield server.url(name)
    server.drop(name)


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    """An engine on the test's own database."""
    made = create_store_engine(Settings(database_url=database_url))
    yield made
    await made.dispose()
