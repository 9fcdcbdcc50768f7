"""Where the folder of facts is, when this checkout has one beside it. Tests that need it skip without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = Path(os.environ.get("TRAINFARE_FACTS", _ROOT.parent / "shared" / "facts"))

FACTS: Path | None = _FOLDER if _FOLDER.is_dir() else None

needs_facts = pytest.mark.skipif(FACTS is None, reason="the folder of facts is not beside this checkout")
