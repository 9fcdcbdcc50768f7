"""What an operator may set: environment variables with the prefix ``TRAINFARE_``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of one process. Every field ``x`` is read from ``TRAINFARE_X``; an unknown name is ignored, a bad value stops the start."""

    model_config = SettingsConfigDict(env_prefix="TRAINFARE_", frozen=True)

    database_url: str = "sqlite+aiosqlite:///./var/trainfare.db"
    """SQLAlchemy address: ``sqlite+aiosqlite:///path`` or ``postgresql+psycopg://user@host/name``."""

    host: str = "127.0.0.1"
    """Address to listen on."""

    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port to listen on; 0 lets the system choose."""

    database_pool_size: Annotated[int, Field(ge=1, le=100)] = 5
    """Connections kept open to PostgreSQL by one process; as many again may be opened under load."""

    statement_timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 30
    """Longest time of one SQL statement on PostgreSQL."""

    embedded_data: bool = True
    """Load the data set that ships with the software when the server starts."""
