"""Run migrations on SQLite or PostgreSQL, one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import context
from sqlalchemy import Connection, Engine, event, text

from app.settings import Settings
from app.store.engine import create_sync_engine
from app.store.tables import METADATA

_LOCK = 7_268_342_415  # any number, the same in every release: the key of the advisory lock
_LOCK_TIMEOUT = "4s"
_STATEMENT_TIMEOUT = "5s"


class ForeignKeyError(RuntimeError):
    """A migration on SQLite left rows that point nowhere."""


@contextmanager
def one_at_a_time(engine: Engine) -> Iterator[None]:
    """Hold the session lock on a connection of its own; a lock of the transaction would end with an autocommit block."""
    if engine.dialect.name != "postgresql":
        yield
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


def prepare_sqlite(engine: Engine) -> None:
    """Foreign keys off (rebuilding a parent table would fail or empty its children), and the write lock from the first statement on."""

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: object, _: object) -> None:
        connection.isolation_level = None  # type: ignore[attr-defined]
        for pragma in ("busy_timeout=30000", "journal_mode=WAL", "foreign_keys=OFF"):
            connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def run_on(connection: Connection) -> None:
    """All steps in one transaction: a failed migration leaves nothing behind."""
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
            connection.execute(text(f"SET LOCAL statement_timeout = '{_STATEMENT_TIMEOUT}'"))
        context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True, transactional_ddl=True)
        context.run_migrations()
        if connection.dialect.name == "sqlite" and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first()):
            msg = f"rows without their parent, the first in table {broken[0]!r}"
            raise ForeignKeyError(msg)


def run() -> None:
    """Connect to the database of the configuration, or else of the settings."""
    url = context.config.attributes.get("database_url") or Settings().database_url
    engine = create_sync_engine(url)
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine)
    try:
        with one_at_a_time(engine), engine.connect() as connection:
            run_on(connection)
    finally:
        engine.dispose()


run()
