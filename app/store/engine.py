"""Engines for SQLite and PostgreSQL, and the one way to open a write transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from app.settings import Settings

StoreEngine = AsyncEngine
"""The engine, for those who only pass it on."""
STORE_FAILURES = (SQLAlchemyError, OSError)
"""What a database that does not answer raises."""
_IDLE_IN_TRANSACTION_SECONDS = 60


class UnsupportedDatabaseError(ValueError):
    """The address names a database other than SQLite and PostgreSQL."""


DATABASE_FAILURES = (*STORE_FAILURES, UnsupportedDatabaseError)
"""What an address that cannot be used raises, at start."""


def create_store_engine(settings: Settings) -> AsyncEngine:
    """The engine of the running service. The caller disposes of it.

    Raises:
        UnsupportedDatabaseError: neither SQLite nor PostgreSQL.
    """
    url = _async_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        _make_folder(url)
        engine = create_async_engine(url)
        prepare_sqlite(engine.sync_engine)
        return engine
    return create_async_engine(
        url,
        pool_size=settings.database_pool_size,
        max_overflow=settings.database_pool_size,
        pool_pre_ping=True,
        connect_args={
            "options": f"-c statement_timeout={settings.statement_timeout_seconds}s"
            f" -c idle_in_transaction_session_timeout={_IDLE_IN_TRANSACTION_SECONDS}s -c timezone=UTC"
        },
    )


def create_sync_engine(database_url: str) -> Engine:
    """An unpooled synchronous engine for migrations.

    Raises:
        UnsupportedDatabaseError: neither SQLite nor PostgreSQL.
    """
    url = _async_url(database_url)
    if url.get_backend_name() == "sqlite":
        _make_folder(url)
        return create_engine(url.set(drivername="sqlite"), poolclass=NullPool)
    return create_engine(url, poolclass=NullPool)


@asynccontextmanager
async def write(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that may write: committed at the end of the block, rolled back when the block raises.

    On SQLite it takes the write lock at once (``BEGIN IMMEDIATE``); a reading transaction that turns into a writing one could fail instead.
    """
    async with engine.execution_options(trainfare_write=True).begin() as connection:
        yield connection


@asynccontextmanager
async def read(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction whose reads all see the same state, whatever is published meanwhile. What is written in it is not kept."""
    if engine.dialect.name == "postgresql":
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    async with engine.connect() as connection:
        yield connection


def prepare_sqlite(engine: Engine) -> None:
    """Set the pragmas on every connection and take over ``BEGIN``, which the driver would otherwise delay until the first write."""

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get("trainfare_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _async_url(database_url: str) -> URL:
    """The address with the driver that is used here, whatever driver it names."""
    url = make_url(database_url)
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
    backend = url.get_backend_name()
    if backend not in drivers:
        msg = f"TRAINFARE_DATABASE_URL must name sqlite or postgresql, got {backend!r}"
        raise UnsupportedDatabaseError(msg)
    return url.set(drivername=drivers[backend])


def _make_folder(url: URL) -> None:
    """Create the folder of a SQLite file."""
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
