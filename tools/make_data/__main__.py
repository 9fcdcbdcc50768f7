"""``python -m tools.make_data FACTS_DIR``: write app/data anew. The same facts give the same bytes."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tools.make_data import tables
from tools.make_data.build import DataSet, build
from tools.make_data.report import report

OUT = Path(__file__).resolve().parents[2] / "app" / "data"


def files_of(data: DataSet) -> dict[str, str]:
    """The text of every file, by name."""
    ids = tables.Ids(data.origins)
    records = data.records
    texts = {
        "billing_rules.csv": tables.billing_rules(records.billing_rules, ids),
        "fees.csv": tables.fees(records.fees, ids),
        "gpus.csv": tables.gpus(data.gpus),
        "history.csv": tables.history(records.history),
        "offers.csv": tables.offers(records.offers, data.offer_sources, ids),
        "providers.csv": tables.providers(records.providers),
        "quotas.csv": tables.quotas(records.quotas, ids),
        "rates.csv": tables.rates(records.rates),
        "regions.csv": tables.regions(data.regions),
        "sources.csv": tables.sources(ids),
        "stock.csv": tables.stock(records.stock, ids),
        "tariffs.csv": tables.tariffs(records.tariffs, ids),
    }
    texts["SOURCES.md"] = report(data)
    return texts


def main(arguments: list[str]) -> int:
    """Write all files; 2 when the folder is not given or is none."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m tools.make_data FACTS_DIR", file=sys.stderr)
        return 2
    facts = Path(arguments[0])
    texts = files_of(build(facts))
    OUT.mkdir(exist_ok=True)
    for name, text in sorted(texts.items()):
        (OUT / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {text.count(chr(10)) - 1} rows, {len(text.encode()):,} bytes")
    if find_spec("tools.make_data.models"):
        import_module("tools.make_data.models").write(facts, OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
