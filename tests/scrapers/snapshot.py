"""``python -m tests.scrapers.snapshot ID``: write ``expected.json`` of a provider. Read it before you commit it."""

from __future__ import annotations

import sys

from scrapers.providers import providers
from tests.scrapers.cases import FIXTURES, snapshot, written

if __name__ == "__main__":
    for name in sys.argv[1:]:
        shot = snapshot(providers()[name])
        (FIXTURES / name / "expected.json").write_text(written(shot), encoding="utf-8")
        print(name, {case: len(rows) for case, rows in shot.items()})
