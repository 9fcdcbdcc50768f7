"""Bring a database to the schema of this release, and check that it is there.

The migrations lie in ``migrations/`` beside ``app/`` in the project's root. The software is installed from its checkout
(``pip install -e .``, as the Makefile does), so that folder is found from this file; a wheel alone has no migrations, and says so.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import AsyncEngine

from app.settings import Settings

MIGRATIONS = Path(__file__).parents[2] / "migrations"


class MigrationsMissingError(RuntimeError):
    """The folder of migrations is not where the project's root has it."""


class SchemaError(RuntimeError):
    """The database has another schema than this release needs."""


def migration_config(database_url: str) -> Config:
    """The Alembic configuration for one database, without any file.

    Raises:
        MigrationsMissingError: the software runs outside its project folder.
    """
    if not (MIGRATIONS / "env.py").is_file():
        msg = f"no migrations at {MIGRATIONS}: run from an installed checkout of the project"
        raise MigrationsMissingError(msg)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["database_url"] = database_url
    return config


def migrate(settings: Settings) -> None:
    """Create or upgrade the schema to the newest revision. Safe to run from several processes at once."""
    command.upgrade(migration_config(settings.database_url), "head")


def newest_revision(settings: Settings) -> str:
    """The revision this release needs."""
    head = ScriptDirectory.from_config(migration_config(settings.database_url)).get_current_head()
    if head is None:
        msg = f"no revision in {MIGRATIONS}"
        raise MigrationsMissingError(msg)
    return head


async def present_revision(engine: AsyncEngine) -> str | None:
    """The revision of the database, None when it was never migrated."""
    async with engine.connect() as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


async def require_newest_revision(engine: AsyncEngine, settings: Settings) -> None:
    """Refuse a database that was not migrated, or that belongs to another release.

    Raises:
        SchemaError: says which revision was found and what to run.
    """
    present, newest = await present_revision(engine), newest_revision(settings)
    if present != newest:
        msg = f"the database is at revision {present or 'none'}, this release needs {newest}: run `trainfare migrate`"
        raise SchemaError(msg)
