"""The schema comes from the migrations alone, on both databases."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from app.settings import Settings
from app.store.engine import create_store_engine, create_sync_engine
from app.store.migrate import SchemaError, migrate, migration_config, newest_revision, require_newest_revision
from app.store.tables import METADATA
from tests.support.postgres import Server


def tables_of(url: str) -> set[str]:
    engine: Engine = create_sync_engine(url)
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def test_there_is_one_newest_revision() -> None:
    assert len(ScriptDirectory.from_config(migration_config("sqlite://")).get_heads()) == 1


def test_the_schema_goes_up_and_down_and_up_again(empty_database_url: str) -> None:
    config = migration_config(empty_database_url)
    command.upgrade(config, "head")
    assert tables_of(empty_database_url) == {*METADATA.tables, "alembic_version"}
    command.downgrade(config, "base")
    assert tables_of(empty_database_url) == {"alembic_version"}
    command.upgrade(config, "head")
    assert tables_of(empty_database_url) == {*METADATA.tables, "alembic_version"}


def test_the_migrations_give_the_schema_of_the_tables(database_url: str) -> None:
    command.check(migration_config(database_url))


def test_migrating_twice_changes_nothing(empty_database_url: str) -> None:
    settings = Settings(database_url=empty_database_url)
    migrate(settings)
    migrate(settings)
    assert "tariff" in tables_of(empty_database_url)


def test_four_replicas_may_migrate_at_once(empty_database_url: str) -> None:
    program = "from app.settings import Settings; from app.store.migrate import migrate; migrate(Settings())"
    replicas = [
        subprocess.Popen(
            [sys.executable, "-c", program], env={"TRAINFARE_DATABASE_URL": empty_database_url}, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    faults = [replica.communicate(timeout=60)[1] for replica in replicas]
    assert [replica.returncode for replica in replicas] == [0, 0, 0, 0], faults


async def test_a_server_refuses_a_database_that_was_never_migrated(empty_database_url: str) -> None:
    settings = Settings(database_url=empty_database_url)
    engine = create_store_engine(settings)
    with pytest.raises(SchemaError, match="trainfare migrate"):
        await require_newest_revision(engine, settings)
    await engine.dispose()


async def test_a_server_refuses_the_schema_of_another_release(database_url: str) -> None:
    settings = Settings(database_url=database_url)
    sync = create_sync_engine(database_url)
    with sync.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'later'"))
    sync.dispose()
    engine = create_store_engine(settings)
    with pytest.raises(SchemaError, match="later"):
        await require_newest_revision(engine, settings)
    await engine.dispose()


async def test_a_server_accepts_a_migrated_database(database_url: str) -> None:
    settings = Settings(database_url=database_url)
    engine = create_store_engine(settings)
    await require_newest_revision(engine, settings)
    await engine.dispose()


def test_a_waiting_migration_ends_when_the_lock_is_free(postgres_server: Server) -> None:
    postgres_server.create("locked")
    url = postgres_server.url("locked")
    holder = create_sync_engine(url)
    program = "from app.settings import Settings; from app.store.migrate import migrate; migrate(Settings())"
    with holder.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(7268342415)"))
        waiting = subprocess.Popen([sys.executable, "-c", program], env={"TRAINFARE_DATABASE_URL": url})
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=2)
        assert tables_of(url) == set()
        connection.execute(text("SELECT pg_advisory_unlock(7268342415)"))
        assert waiting.wait(timeout=60) == 0
    assert "tariff" in tables_of(url)
    holder.dispose()
    postgres_server.drop("locked")


def test_the_newest_revision_is_the_one_in_the_database(database_url: str) -> None:
    engine = create_sync_engine(database_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == newest_revision(Settings())
    engine.dispose()


async def test_sqlite_runs_with_a_write_ahead_log_and_foreign_keys(sqlite_template: object) -> None:
    engine = create_store_engine(Settings(database_url=f"sqlite+aiosqlite:///{sqlite_template}"))
    async with engine.connect() as connection:
        assert (await connection.exec_driver_sql("PRAGMA journal_mode")).scalar_one() == "wal"
        assert (await connection.exec_driver_sql("PRAGMA foreign_keys")).scalar_one() == 1
        assert (await connection.exec_driver_sql("PRAGMA busy_timeout")).scalar_one() == 5000
    await engine.dispose()
    assert sqlite3.sqlite_version_info >= (3, 35)
