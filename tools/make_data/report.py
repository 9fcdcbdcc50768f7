"""SOURCES.md: what is shipped, from whom, under which terms, and what was left out or treated, with counts."""

from __future__ import annotations

import textwrap
from collections import Counter

from app.domain.market import PurchaseOption
from tools.make_data.age import HISTORY_BEFORE
from tools.make_data.build import DataSet

_WIDTH = 140
_INTRO = """# The embedded data set

Written by `make data` (`tools/make_data`); do not edit by hand. `models.csv`, `calibration.toml` and `assumptions.toml` have makers of
their own.

Read it with three rules in mind:

- A row's `source` is an id of `sources.csv` (name, address, terms of reuse). `observed` is the day the figure was read or published;
  `date_precision` says
  how exact that is. A month or a year stands as its first day, so that no price looks fresher than it is; an unknown date is empty and
  stays unknown.
- `kind` says what a price is worth: `list` (dated list of the provider), `observed` (read elsewhere or without a date), `floor` (lowest
  bid of an auction),
  `quote` (listed, but only by contract or not to be ordered), `history` (only an old figure is known). Only
  `list` and
  `observed` rank.
- The prices end between August and October 2026 (see the newest dates below). They are a starting point, not today's market.
"""

_RULES = f"""## Rules

- **Old.** A figure that cannot date from {HISTORY_BEFORE:%Y-%m-%d} or later is `history`; so are undated sources that lie far behind
  the living catalogue
  (its generations v5, v6 and v9, and its Hyperstack file).
- **Newest wins.** A list price for all regions, or per GPU without a size, is carried to the machines the catalogue knows of that
  platform, card and
  product. Of several figures of one tariff the newest dated one is in force from its day (undated ones count as oldest), and the
  older one's interval ends there. Equal figures renew the date from the day of the later reading on. On one day the dearer figure is kept.
- **Proved old.** Beside a dated list of a GPU cloud, an undated machine of it at another price a GPU is `history`; so is a broker's undated
  price more than a tenth below the dated list of the platform behind it.
- **Announced rates** hold from their day and end the rate before them. Azure's effective date is the start of a meter and opens no
  interval.
- **Rates per GPU** are multiplied exactly by the GPUs of the machine. A list rate for an HGX board is given for one GPU and for the
  board of eight.
- **Sums for a whole term** stay sums (`node_term`). A commitment without a stated length has no `term_count`.
- **Components.** A GPU priced without its machine (Google's `SKU:` rows) is an offer with `component`.
- **Left out as prices**: placeholders, prices for members, example values, fractions of a card, caps on a monthly bill, rows without a
  source.
- **Memory** is the card's. A name that fits several cards, or contradicts the memory beside it, is left out.
- **Links.** See `tools/make_data/links.py`: inside a machine from the card's form and the machine's name, between machines only where
  documented.
- **Country** where the region names one; AutoDL and Compshare have sites in mainland China only.
- **Fees.** GB is 10^9 bytes. GiB prices are divided by 1.073741824 and rounded to 10^-9; what a source calls GB is taken as GB. Tiers
  are marginal and
  count from the first GB, the free part (`free_gb`, per month and account) included. Unit `machine_hour` without amount: a stopped
  machine keeps its full
  rate. An empty amount is a stated charge whose figure was not found; a zero is a stated zero. Disks sold by size are given per GB at
  that size.
  Fees for an area are written for each region here that lies in it.
- **Not shipped**: compilations by third parties without a licence, or under share-alike terms. A platform's own published prices are
  facts and are
  shipped whoever mirrors them.
- **Platform ids.** `ovh` is `ovhcloud`, `voltage-park` is `voltagepark`. `alibaba` (international site, USD) and `aliyun` (China site,
  CNY) stay apart: other
  accounts, regions and lists.
- **Usable memory** of a card: see `tools/make_data/usable_memory.py`.
"""


def report(data: DataSet) -> str:
    """The text of SOURCES.md."""
    parts = [_wrapped(_INTRO), _shipped(data), _wrapped(_RULES), _treated(data), _left_out(data), _wrapped(_terms(data))]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _wrapped(text: str) -> str:
    """The same Markdown with its paragraphs and list items filled to one width."""
    items: list[str] = []
    for line in text.splitlines():
        if not items or not line or not items[-1] or line.startswith(("- ", "#")) or items[-1].startswith("#"):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    filled = (
        textwrap.fill(item, _WIDTH, subsequent_indent="  " if item.startswith("- ") else "", break_long_words=False, break_on_hyphens=False)
        for item in items
    )
    return "\n".join(filled)


def _shipped(data: DataSet) -> str:
    records = data.records
    options: tuple[PurchaseOption, ...] = ("on_demand", "spot", "reserved", "capacity_block")
    platforms = len({offer.provider for offer in records.offers})
    summary = (
        f"{len(records.offers):,} offers and {len(records.tariffs):,} tariffs of {platforms} platforms, {len(records.fees)} fees, "
        f"{len(records.quotas)} quotas, {len(records.billing_rules)} billing rules, {len(data.gpus)} cards, "
        f"{len(records.rates)} exchange rates, {len(records.history):,} readings of price history."
    )
    lines = [
        "## What is shipped",
        "",
        summary,
        "",
        "| platform | offers | on demand | spot | reserved | capacity block | of these history | newest date |",
        "|---|---|---|---|---|---|---|---|",
    ]
    offers = Counter(offer.provider for offer in records.offers)
    tariffs = Counter((tariff.offer[0], tariff.option) for tariff in records.tariffs)
    old = Counter(tariff.offer[0] for tariff in records.tariffs if tariff.kind == "history")
    for provider in sorted(offers):
        days = [t.source.observed_at for t in records.tariffs if t.offer[0] == provider and t.source.observed_at is not None]
        newest = f"{max(days):%Y-%m-%d}" if days else "unknown"
        counts = " | ".join(str(tariffs[provider, option]) for option in options)
        lines.append(f"| {provider} | {offers[provider]} | {counts} | {old[provider]} | {newest} |")
    return "\n".join(lines) + "\n"


def _treated(data: DataSet) -> str:
    lines = ["## Treated by rule", "", "| file | rule | rows or figures |", "|---|---|---|"]
    lines += [f"| {file} | {rule} | {count} |" for (file, rule), count in sorted(data.tally.treated.items())]
    return "\n".join(lines) + "\n"


def _left_out(data: DataSet) -> str:
    lines = ["## Left out", "", "| file | reason | rows |", "|---|---|---|"]
    lines += [f"| {file} | {reason} | {count} |" for (file, reason), count in sorted(data.tally.left_out.items()) if count]
    lines += ["", "Rows read: " + ", ".join(f"{file} {count:,}" for file, count in sorted(data.tally.read.items())) + "."]
    return "\n".join(lines) + "\n"


def _terms(data: DataSet) -> str:
    by_licence: dict[str, list[str]] = {}
    for origin in data.origins:
        by_licence.setdefault(origin.licence, []).append(origin.name.split(" (")[0])
    lines = ["## Terms of reuse", "", "Exchange rates: European Central Bank, reuse with the source named.", ""]
    lines += [f"- **{licence}**: {', '.join(sorted(set(names)))}" for licence, names in sorted(by_licence.items())]
    return "\n".join(lines) + "\n"
