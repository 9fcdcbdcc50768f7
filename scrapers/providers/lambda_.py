"""Lambda: a pricing page in USD, and an API (key) that also knows where there is room now.

The page states prices per GPU and hour, by number of GPUs in the machine (tabs 8x, 4x, 2x, 1x), and cluster rates. The API states whole
machines in cents; when it was fetched it is used for machines instead. No stop state, no traffic fees, billed by the minute.
"""

from __future__ import annotations

import re
from datetime import date

from app.domain.money import Money
from scrapers.base import GPU_HOUR, NODE_HOUR, Expect, Fetch, PageKind, Pages, Provider, Sight, Stated, Term
from scrapers.html import Table, soup, tables_with
from scrapers.numbers import GIB_IN_GB
from scrapers.read import Page, Record, RefusedError, refuse

PRICE = "PRICE/GPU/HR*"
CLUSTER_GPUS_A_NODE = 8
CLUSTER_CARDS = {"NVIDIA HGX B200": "B200-SXM-180GB", "NVIDIA H100": "H100-SXM5-80GB"}


def parse(pages: Pages, see: Sight) -> None:
    """Machines from the API when it was fetched, else from the page; clusters from the page; fees from the documentation."""
    for page in pages.all("types"):
        for name, row in page.json().named("/data"):
            with see.record(row):
                instance_type(name, row, see)
    for page in pages.all("pricing"):
        root = soup(page)
        for table in tables_with(root, page, "Plan", "GPU COUNT", PRICE):
            for row in table.records():
                with see.record(row):
                    cluster(row, see)
        for table in tables_with(root, page, "Plan", "VRAM/GPU", PRICE):
            if not pages.has("types"):
                gpus = gpus_of_tab(table, page)
                for row in table.records():
                    with see.record(row):
                        machine(row, gpus, see)
    fees(see)


def instance_type(name: str, row: Record, see: Sight) -> None:
    """A machine of the API: price of the whole machine in cents an hour, the same everywhere; sizes in GiB; an empty list is "sold out"."""
    places = [place.text("name") for place in ignoring(row.records("regions_with_capacity_available"), "description")]
    kind = row.record("instance_type")
    specs = kind.record("specs")
    gpus = specs.whole("gpus")
    if not gpus:
        row.drop()
        return
    if kind.text("name") != name:
        kind.refuse("contradiction", f"the type {name} calls itself otherwise", "name")
    kind.ignore("description")
    card, memory_gb = card_of(kind)
    price = kind.money("price_cents_per_hour", "USD", per=100)
    see.offer(
        row,
        sku=name,
        region="all",
        gpu=card,
        gpus=gpus,
        price=price,
        per=NODE_HOUR,
        gpu_memory_gb=memory_gb,
        vcpus=specs.whole("vcpus"),
        ram_gb=specs.number("memory_gib") * GIB_IN_GB,
        local_nvme_gb=specs.number("storage_gib") * GIB_IN_GB,
        note="no stop state: only terminate; tax extra",
    )
    see.stock(row, sku=name, region="all", gpus=gpus, available=bool(places))


def ignoring(rows: list[Record], *names: str) -> list[Record]:
    """The same rows without fields that are left out on purpose."""
    for row in rows:
        row.ignore(*names)
    return rows


def card_of(kind: Record) -> tuple[str, float]:
    """Card and memory of a description such as "H100 (80 GB SXM5)"."""
    text = kind.text("gpu_description")
    match = re.fullmatch(r"(?P<card>[\w ]+) \((?P<memory>\d{1,3}) GB(?P<form> PCIe| SXM\d?)?\)", text)
    if match is None:
        kind.refuse("wrong_form", f"{text[:60]!r} does not read like a card", "gpu_description")
    memory_gb = float(match["memory"])
    try:
        return kind.card(f"{match['card']}{match['form'] or ''}", memory_gb=memory_gb), memory_gb
    except RefusedError:
        return kind.card(match["card"], memory_gb=memory_gb), memory_gb


def gpus_of_tab(table: Table, page: Page) -> int:
    """How many GPUs the machines of a table have: what is written on the tab that shows its panel."""
    panel = table.tag.find_parent(attrs={"role": "tabpanel"})
    name = None if panel is None else panel.get("id")
    root = list(table.tag.parents)[-1]
    labels = [tab.get_text(strip=True) for tab in root.select(f'[role="tab"][aria-controls="{name}"]')] if name else []
    match = re.fullmatch(r"([1-9]\d?)x", labels[0]) if len(labels) == 1 else None
    if match is None:
        refuse("missing_field", f"no tab says how many GPUs the table has: {labels}", "table", page.id)
    return int(match[1])


def machine(row: Record, gpus: int, see: Sight) -> None:
    """A machine of the page: price per GPU and hour."""
    plan, memory_gb = row.text("Plan"), row.size_gb("VRAM/GPU")
    see.offer(
        row,
        sku=f"{gpus}x {plan} {memory_gb.normalize():f} GB",
        region="all",
        gpu=row.card(plan, memory_gb=memory_gb, name="Plan"),
        gpus=gpus,
        price=row.money(PRICE, "USD", form="${}"),
        per=GPU_HOUR,
        gpu_memory_gb=memory_gb,
        vcpus=row.whole("vCPUs"),
        ram_gb=row.size_gb("RAM"),
        local_nvme_gb=row.size_gb("STORAGE", behind=" SSD"),
        note="no stop state: only terminate; tax extra",
    )


def cluster(row: Record, see: Sight) -> None:
    """A rate of a cluster: per GPU and hour, committed for two weeks at least; longer terms are on request."""
    row.ignore("Action", "(5)")
    plan, count = row.text("Plan"), row.text("GPU COUNT")
    if plan not in CLUSTER_CARDS:
        row.refuse("unknown_gpu", f"{plan[:60]!r} is no cluster that is known", "Plan")
    term = {"2 weeks – 1 year": Term("week", 2), "1 year+": Term("year", 1)}.get(row.text("DURATION"))
    if term is None:
        row.refuse("unknown_word", "a term that is not known", "DURATION")
    see.offer(
        row,
        sku=f"1-Click Cluster {plan.removeprefix('NVIDIA ')}",
        region="all",
        gpu=CLUSTER_CARDS[plan],
        gpus=CLUSTER_GPUS_A_NODE,
        price=row.money(PRICE, "USD", form="${}"),
        per=GPU_HOUR,
        option="reserved",
        term=term,
        minimum_gpus=int(count.removesuffix("+")) if count.removesuffix("+").isdigit() else row.refuse("not_a_number", count, "GPU COUNT"),
        note="cluster rate from two weeks to one year; weekly bills",
    )


BILLING = Stated("https://docs.lambda.ai/public-cloud/billing/", date(2026, 8, 1))


def fees(see: Sight) -> None:
    """What the documentation states, as read on the date above."""
    see.fee(BILLING, kind="file_storage", sku="filesystem (NFS)", unit="GiB_month", price=Money.of("0.20", "USD"))
    see.fee(BILLING, kind="egress_internet", sku="instances and filesystems", unit="GB", price=Money.of("0", "USD"))
    see.fee(BILLING, kind="ingress_internet", sku="instances and filesystems", unit="GB", price=Money.of("0", "USD"))
    see.billing(BILLING, step_seconds=60, minimum_seconds=60, note="from passing health checks to termination")
    see.quota(BILLING, name="card pre-authorisation", unit="usd", default=10, approval="at once")
    see.quota(BILLING, name="instances of an account", unit="instance", default=None, note="not published")


PROVIDER = Provider(
    id="lambda",
    name="Lambda",
    kind="gpu_cloud",
    homepage="https://lambda.ai",
    pages=(
        PageKind("types", marks=('"price_cents_per_hour"', '"regions_with_capacity_available"', '"specs"')),
        PageKind("pricing", marks=("VRAM/GPU", "GPU COUNT", PRICE)),
    ),
    start=(
        Fetch("pricing", "https://lambda.ai/pricing", accept="text/html", robots=True),
        Fetch("types", "https://cloud.lambda.ai/api/v1/instance-types", headers=(("Authorization", "Bearer {LAMBDA_API_KEY}"),)),
    ),
    parse=parse,
    expect=Expect(
        offers=(4, 150),
        gpus=frozenset({"H100-SXM5-80GB"}),
        fees=frozenset({"file_storage", "egress_internet", "ingress_internet"}),
    ),
    currency="USD",
    basis="page",
    confidence="seen live",
    every_hours=12,
    tier="silver",
)
