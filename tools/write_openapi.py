"""Write openapi/openapi.json from the application: sorted, so that a change shows as a change."""

from __future__ import annotations

import json
from pathlib import Path

from app.main import create_app
from app.settings import Settings

DOCUMENT = Path(__file__).resolve().parents[1] / "openapi" / "openapi.json"


def document() -> str:
    """The OpenAPI document as committed."""
    return json.dumps(create_app(Settings()).openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"wrote {DOCUMENT}")
