"""Database fixtures."""

from __future__ import annotations

from tests.support.database import *  # noqa: F403
