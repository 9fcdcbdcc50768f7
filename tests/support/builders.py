"""Small market records for tests: each builder gives a sound default, and a test states only what matters to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from app.catalog.columns import market_from_records
from app.domain.gpus import Gpu
from app.domain.market import BillingRule, Fee, HistoricPrice, Offer, ProviderInfo, Quota, Rate, Source, Stock, Tariff
from app.domain.market_columns import Market
from app.domain.market_records import MarketRecords
from app.domain.money import Money

OBSERVED_AT = datetime(2026, 10, 30, 12, tzinfo=UTC)
AS_OF = datetime(2026, 11, 2, 12, tzinfo=UTC)

_A100 = Gpu(
    name="A100-SXM4-80GB",
    vendor="NVIDIA",
    architecture="Ampere",
    form_factor="SXM",
    memory_gb=80.0,
    usable_memory_gb=85.0,
    memory_bandwidth_gb_s=2039.0,
    fp32_tflops=19.5,
    tf32_tflops=156.0,
    fp16_tflops=312.0,
    bf16_tflops=312.0,
    fp8_tflops=None,
    link="NVLink 3",
    link_gb_s=600.0,
    pcie_generation=4,
    tdp_w=400.0,
    release_year=2020,
    source_url="https://gpu.example/a100",
)
GPUS: Mapping[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        _A100,
        replace(
            _A100,
            name="H100-SXM5-80GB",
            architecture="Hopper",
            memory_bandwidth_gb_s=3350.0,
            fp32_tflops=67.0,
            tf32_tflops=494.5,
            fp16_tflops=989.5,
            bf16_tflops=989.5,
            fp8_tflops=1979.0,
            link="NVLink 4",
            link_gb_s=900.0,
            pcie_generation=5,
            tdp_w=700.0,
            release_year=2022,
        ),
        replace(
            _A100,
            name="L4-24GB",
            architecture="Ada",
            form_factor="PCIe",
            memory_gb=24.0,
            usable_memory_gb=24.1,
            memory_bandwidth_gb_s=300.0,
            fp32_tflops=30.3,
            tf32_tflops=60.0,
            fp16_tflops=121.0,
            bf16_tflops=121.0,
            fp8_tflops=242.5,
            link="none",
            link_gb_s=0.0,
            tdp_w=72.0,
            release_year=2023,
        ),
    )
}
"""Three cards, enough for tests about markets; tests about GPU figures read app/data instead."""


def a_gpu(**over: Any) -> Gpu:
    return replace(_A100, **over)


def a_source(**over: Any) -> Source:
    default = Source(name="acme price list", url="https://acme.example/pricing", observed_at=OBSERVED_AT, date_precision="day")
    return replace(default, **over)


def an_offer(**over: Any) -> Offer:
    """An 8 × A100 node of the provider "acme" in "us-1", 96 vCPUs, 1,152 GB RAM, 800 Gbit/s."""
    default = Offer(
        provider="acme",
        region="us-1",
        country="US",
        sku="a100x8",
        gpu="A100-SXM4-80GB",
        gpus_per_node=8,
        gpu_memory_gb=80.0,
        vcpus=96.0,
        ram_gb=1152.0,
        local_nvme_gb=None,
        intra_node_link="nvlink",
        inter_node_gbit_s=800.0,
        maximum_nodes=None,
        upstream=None,
        component=False,
    )
    return replace(default, **over)


def a_tariff(offer: Offer | None = None, amount: str = "16.00", currency: str = "USD", **over: Any) -> Tariff:
    """On demand, by the node-hour, valid always as far as known."""
    default = Tariff(
        offer=(offer or an_offer()).key,
        option="on_demand",
        amount=Money.of(amount, currency),
        unit="node_hour",
        term_unit=None,
        term_count=None,
        upfront="none",
        minimum_gpus=1,
        kind="list",
        valid_from=None,
        valid_to=None,
        source=a_source(),
    )
    return replace(default, **over)


def a_fee(amount: str | None = "0.10", currency: str = "USD", **over: Any) -> Fee:
    """Block storage at 0.10 USD per GB-month, one open tier, nothing free."""
    default = Fee(
        provider="acme",
        region="all",
        kind="block_storage",
        sku="ssd",
        unit="GB_month",
        amount=None if amount is None else Money.of(amount, currency),
        tier_from_gb=0.0,
        tier_to_gb=None,
        free_gb=0.0,
        source=a_source(),
    )
    return replace(default, **over)


def a_quota(**over: Any) -> Quota:
    default = Quota(
        provider="acme",
        scope="account",
        code="Q-1",
        name="GPUs of a new account",
        gpu_family="all",
        unit="gpu",
        default=Decimal(8),
        approval="one day",
        source=a_source(),
    )
    return replace(default, **over)


def a_stock(offer: Offer | None = None, **over: Any) -> Stock:
    default = Stock(offer=(offer or an_offer()).key, status="available", source=a_source())
    return replace(default, **over)


def a_rate(quote: str = "CNY", rate: str = "7.7000", **over: Any) -> Rate:
    """An ECB reference rate: one EUR in ``quote``."""
    default = Rate(base="EUR", quote=quote, rate=Decimal(rate), day=date(2026, 10, 30), source="ECB")
    return replace(default, **over)


def a_billing_rule(**over: Any) -> BillingRule:
    default = BillingRule(provider="acme", option=None, step_seconds=1, minimum_seconds=60, source=a_source())
    return replace(default, **over)


def a_reading(amount: str = "2.00", currency: str = "USD", **over: Any) -> HistoricPrice:
    default = HistoricPrice(
        day=date(2026, 1, 5),
        provider="acme",
        region="us-1",
        sku="a100x8",
        gpu="A100-SXM4-80GB",
        gpus_per_node=8,
        option="on_demand",
        price_per_gpu_hour=Money.of(amount, currency),
        source="archive.example",
    )
    return replace(default, **over)


def a_provider(id: str = "acme", **over: Any) -> ProviderInfo:  # noqa: A002
    default = ProviderInfo(id=id, name=id.title(), kind="gpu_cloud", homepage=f"https://{id}.example")
    return replace(default, **over)


def records(
    *,
    offers: Iterable[Offer] | None = None,
    tariffs: Iterable[Tariff] | None = None,
    fees: Iterable[Fee] | None = None,
    quotas: Iterable[Quota] = (),
    stock: Iterable[Stock] = (),
    billing_rules: Iterable[BillingRule] | None = None,
    rates: Iterable[Rate] | None = None,
    history: Iterable[HistoricPrice] = (),
    providers: Iterable[ProviderInfo] | None = None,
) -> MarketRecords:
    """One offer with one tariff, one fee, one billing rule and the USD and CNY rates, unless told otherwise.

    Offers given without tariffs get one on-demand tariff each; providers follow from the offers.
    """
    all_offers = tuple([an_offer()] if offers is None else offers)
    all_providers = tuple(
        [a_provider(name) for name in sorted({offer.provider for offer in all_offers})] if providers is None else providers
    )
    return MarketRecords(
        providers=all_providers,
        offers=all_offers,
        tariffs=tuple([a_tariff(offer) for offer in all_offers] if tariffs is None else tariffs),
        fees=tuple([a_fee()] if fees is None else fees),
        quotas=tuple(quotas),
        stock=tuple(stock),
        billing_rules=tuple([a_billing_rule()] if billing_rules is None else billing_rules),
        rates=tuple([a_rate("USD", "1.1550"), a_rate()] if rates is None else rates),
        history=tuple(history),
    )


def a_market(*, gpus: Mapping[str, Gpu] = GPUS, as_of: datetime = AS_OF, catalog_version: int = 1, **parts: Any) -> Market:
    """The market of ``records(**parts)`` as of ``as_of``."""
    return market_from_records(records(**parts), gpus=gpus, as_of=as_of, catalog_version=catalog_version)
