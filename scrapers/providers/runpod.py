"""RunPod: one GraphQL answer lists all cards, priced per GPU and hour in USD, without a key.

The REST catalogue (key) says the same and adds stock; when it was fetched it is used instead, since GraphQL ends in early 2027.

Two clouds: "secure" (data centres) and "community" (other people's machines). A price of 0 means that the cloud does not have the card.
The spot fields repeat the on-demand price and spot is gone from the documentation: they are not read. Fees stand only in prose: a dated
table.
"""

from __future__ import annotations

import json
from datetime import date

from app.domain.money import Money
from scrapers.base import GPU_HOUR, Expect, Fetch, PageKind, Pages, Provider, Sight, Stated
from scrapers.read import Record

CLOUDS = {"secure": "SECURE", "community": "COMMUNITY"}
LEVELS = frozenset({"NONE", "LOW", "MEDIUM", "HIGH"})
NOT_CARDS = frozenset({"unknown"})

QUERY = """query { gpuTypes { id displayName memoryInGb securePrice communityPrice maxGpuCountSecureCloud maxGpuCountCommunityCloud } }"""


def parse(pages: Pages, see: Sight) -> None:
    """Prices from the catalogue when it was fetched, else from GraphQL; fees from the documentation."""
    if pages.has("catalog"):
        for page in pages.all("catalog"):
            for row in page.json().each("/gpus"):
                with see.record(row):
                    catalog_gpu(row, see)
    else:
        for page in pages.all("gpuTypes"):
            for row in page.json().each("/data/gpuTypes"):
                with see.record(row):
                    gpu_type(row, see)
    if pages.has("catalog") or pages.has("gpuTypes"):
        fees(see)


def gpu_type(row: Record, see: Sight) -> None:
    """A card of the GraphQL answer."""
    if row.text("id") in NOT_CARDS:
        row.drop()
        return
    card = row.gpu("displayName", memory_gb=row.number("memoryInGb"))
    most = {"secure": row.may_whole("maxGpuCountSecureCloud"), "community": row.may_whole("maxGpuCountCommunityCloud")}
    for cloud in CLOUDS:
        offers(row, see, card, cloud, price_of(row, f"{cloud}Price"), most[cloud])
    row.ignore("secureSpotPrice", "communitySpotPrice")


def catalog_gpu(row: Record, see: Sight) -> None:
    """A card of the REST catalogue, with its stock over all data centres (the level in each one is left out: prices have no place)."""
    row.ignore("id", "pool", "manufacturer", "secure", "community", "dataCenters")
    card = row.gpu("name", memory_gb=row.number("memory"))
    prices, most = row.record("price"), row.record("maxCount")
    prices.ignore("serverless")
    offered = [offers(row, see, card, cloud, price_of(prices, cloud), most.may_whole(cloud)) for cloud in CLOUDS]
    level = row.may_text("availability")
    if level is not None and level not in LEVELS:
        row.refuse("unknown_word", f"availability {level!r}", "availability")
    if level is not None and offered[0]:
        see.stock(row, sku=sku_of(card, "secure", 1), region="all", gpus=1, available=level != "NONE")


def price_of(row: Record, name: str) -> Money:
    """A price per GPU and hour, USD; 0 stands for "not in this cloud"."""
    return row.money(name, "USD", free=True)


def offers(row: Record, see: Sight, card: str, cloud: str, price: Money, most: int | None) -> bool:
    """One offer for each usual number of GPUs in a pod: the price is per GPU, so all cost the same a GPU. False when there is none."""
    if not price.nano:
        see.reject(row, "not_offered", f"{card} has a price of 0 in the {cloud} cloud")
        return False
    for gpus in (1, 2, 4, 8):
        if gpus == 1 or (most is not None and gpus <= most):
            see.offer(
                row,
                sku=sku_of(card, cloud, gpus),
                region="all",
                gpu=card,
                gpus=gpus,
                price=price,
                per=GPU_HOUR,
                note=f"{cloud} cloud",
            )
    return True


def sku_of(card: str, cloud: str, gpus: int) -> str:
    """A name of our own: RunPod names cards, not machines."""
    return f"{gpus}x_{card}_{CLOUDS[cloud]}"


PODS = Stated("https://docs.runpod.io/pods/pricing", date(2026, 8, 20))
VOLUMES = Stated("https://docs.runpod.io/storage/network-volumes", date(2026, 8, 20))
CLUSTERS = Stated("https://docs.runpod.io/instant-clusters", date(2026, 8, 20))
LIMITS = Stated("https://docs.runpod.io/serverless/pricing", date(2026, 8, 20))


def fees(see: Sight) -> None:
    """What the documentation states, as read on the dates above. USD per GB and month."""
    see.fee(PODS, kind="block_storage", sku="container disk, running pod", unit="GB_month", price=usd("0.10"), note="only while running")
    see.fee(PODS, kind="block_storage", sku="volume disk, running pod", unit="GB_month", price=usd("0.10"))
    see.fee(PODS, kind="stopped_disk", sku="volume disk, stopped pod", unit="GB_month", price=usd("0.20"))
    see.fee(PODS, kind="stopped_disk", sku="container disk, stopped pod", unit="GB_month", price=usd("0"))
    see.fee(PODS, kind="egress_internet", sku="data transfer out", unit="GB", price=usd("0"))
    see.fee(PODS, kind="ingress_internet", sku="data transfer in", unit="GB", price=usd("0"))
    standard = "network volume, standard"
    see.fee(VOLUMES, kind="file_storage", sku=standard, unit="GB_month", price=usd("0.07"), tier_to_gb=1000)
    see.fee(VOLUMES, kind="file_storage", sku=standard, unit="GB_month", price=usd("0.05"), tier_from_gb=1000)
    see.fee(VOLUMES, kind="file_storage", sku="network volume, high performance", unit="GB_month", price=None, note="no price is published")
    see.billing(PODS, step_seconds=1, minimum_seconds=1)
    see.quota(LIMITS, name="spend limit per hour, all resources", unit="usd", default=80, approval="support request")
    see.quota(
        CLUSTERS,
        name="self-serve cluster nodes",
        unit="instance",
        default=8,
        scope="cluster",
        gpu_family="A100, H100, H200, B200",
        approval="support request",
    )


def usd(amount: str) -> Money:
    """Money of the dated table."""
    return Money.of(amount, "USD")


PROVIDER = Provider(
    id="runpod",
    name="RunPod",
    kind="gpu_cloud",
    homepage="https://www.runpod.io",
    pages=(
        PageKind("gpuTypes", marks=('"gpuTypes"', '"securePrice"', '"memoryInGb"')),
        PageKind("catalog", marks=('"gpus"', '"price"', '"secure"', '"memory"')),
    ),
    start=(
        Fetch(
            "gpuTypes",
            "https://api.runpod.io/graphql",
            method="POST",
            headers=(("Content-Type", "application/json"),),
            body=json.dumps({"query": QUERY}),
        ),
        Fetch(
            "catalog",
            "https://api.runpod.io/v2/catalog/gpus?include=AVAILABILITY&product=POD",
            headers=(("Authorization", "Bearer {RUNPOD_API_KEY}"),),
        ),
    ),
    parse=parse,
    expect=Expect(
        offers=(10, 400),
        gpus=frozenset({"H100-SXM5-80GB", "RTX4090-24GB"}),
        fees=frozenset({"block_storage", "stopped_disk", "file_storage", "egress_internet", "ingress_internet"}),
    ),
    currency="USD",
    basis="public API",
    confidence="seen live",
    every_hours=6,
    tier="silver",
)
