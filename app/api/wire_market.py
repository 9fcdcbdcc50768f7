"""Browsing the market: offers, fees, quotas, rates, price history, as JSON. Prices are exact; every figure keeps its source and date."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from app.api.wire import Exact, Figure, Instant, MoneyOut, Out, Rests


class SourceOut(Out):
    """Where a figure was read."""

    name: str
    """Name of the source."""
    url: str
    """Its address."""
    observed_at: Instant | None
    """When it was read; null: the source states no date."""
    date_precision: str
    """day, month, year or unknown."""
    evidence: str | None
    """Key of the stored evidence."""


class TariffOut(Out):
    """The price of one machine under one purchase option."""

    option: str
    """on_demand, spot, reserved or capacity_block."""
    amount: MoneyOut
    """Exact price of one machine and one ``unit``."""
    unit: str
    """node_hour, node_day, node_week, node_month or node_term."""
    term_unit: str | None
    """Unit of the commitment; null: none."""
    term_count: int | None
    """Its length in that unit; null: none, or unknown."""
    upfront: Literal["none", "all"]
    """What share is paid at once."""
    minimum_gpus: int
    """Smallest purchase, GPUs."""
    kind: str
    """list, observed, floor, quote or history; only ``list`` and ``observed`` rank by default."""
    valid_from: Instant | None
    """Since when it holds; null: always as far as known."""
    valid_to: Instant | None
    """Until when it holds; null: no end is known."""
    source: SourceOut
    """Where it was read."""
    note: str
    """What the source adds."""


class MarketOfferOut(Out):
    """A thing for rent with its prices in force."""

    provider: str
    """Provider's id."""
    region: str
    """Region as the provider writes it."""
    country: str | None
    """ISO 3166 code; null when the region names no country."""
    sku: str
    """The provider's name of the machine."""
    gpu: str
    """Card."""
    gpus_per_node: int
    """Cards in one machine."""
    gpu_memory_gb: Figure
    """Memory of one card, GB."""
    vcpus: Figure | None
    """Virtual processors; null: unknown."""
    ram_gb: Figure | None
    """Memory of the machine, GB; null: unknown."""
    local_nvme_gb: Figure | None
    """Local disks, GB; null: unknown."""
    intra_node_link: str
    """How its cards are joined."""
    inter_node_gbit_s: Figure | None
    """Network of the machine, Gbit/s; null: unknown."""
    maximum_nodes: int | None
    """Most machines that can be rented at once; null: unknown."""
    upstream: str | None
    """The platform behind a broker."""
    component: bool
    """A card without its machine: it never ranks alone."""
    stock: Literal["available", "unavailable", "unknown"]
    """What the provider publishes."""
    note: str
    """What the source adds."""
    prices: list[TariffOut]
    """Prices in force, of the options asked for."""


class FeeOut(Out):
    """A fee beside the price of the machine. Tiers are marginal."""

    provider: str
    """Provider's id."""
    region: str
    """Region, or ``all``."""
    kind: str
    """What is charged."""
    sku: str
    """The provider's name of it."""
    unit: str
    """Unit of the amount; GB = 10^9 bytes."""
    amount: MoneyOut | None
    """Exact fee of one unit; null: charged, but the figure is unknown."""
    tier_from_gb: Figure
    """The tier begins here."""
    tier_to_gb: Figure | None
    """The tier ends here; null: open."""
    free_gb: Figure
    """Free allowance a month and account."""
    source: SourceOut
    """Where it was read."""
    note: str
    """What the source adds."""


class QuotaOut(Out):
    """What a new account may rent."""

    provider: str
    """Provider's id."""
    scope: str
    """Where it holds."""
    code: str
    """The provider's key of it."""
    name: str
    """The provider's name of it."""
    gpu_family: str
    """Cards that it counts."""
    unit: str
    """vcpu, gpu, instance or usd."""
    default: Exact | None
    """What a new account has; null: not published."""
    approval: str
    """How a raise is approved."""
    source: SourceOut
    """Where it was read."""
    note: str
    """What the source adds."""


class RateOut(Out):
    """One unit of ``base`` is worth ``rate`` units of ``quote``."""

    base: str
    """Currency of the unit."""
    quote: str
    """Currency that it is worth."""
    rate: Exact
    """The exact rate as published."""
    day: date
    """Its day."""
    source: str
    """Who publishes it."""


class PageOut(Rests):
    """A page of a list that rests on prices."""

    next_cursor: str | None
    """Give it as ``cursor`` for the next page; null at the end."""


class OffersOut(PageOut):
    """Offers in order of provider, region, sku and size."""

    items: list[MarketOfferOut]
    """The offers."""


class FeesOut(PageOut):
    """Fees in order of provider, region, kind, name, unit and tier."""

    items: list[FeeOut]
    """The fees."""


class QuotasOut(PageOut):
    """Quotas in order of provider, scope and code."""

    items: list[QuotaOut]
    """The quotas."""


class RatesOut(PageOut):
    """Rates in order of currencies."""

    items: list[RateOut]
    """The rates."""


class ProviderOut(Out):
    """A platform, with what is known of it at the moment."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    name_zh: str
    """Its name in Chinese, where it has one of its own."""
    kind: str
    """hyperscaler, gpu_cloud, marketplace, broker, china or other."""
    homepage: str
    """Its address."""
    offers: int
    """Offers known."""
    prices: int
    """Prices in force."""
    gpus: list[str]
    """Cards offered."""
    newest_price_at: Instant | None
    """When the newest price was read; null: no price with a date."""
    newest_price_age_hours: Figure | None
    """Its age at ``as_of``."""
    oldest_price_age_hours: Figure | None
    """Age of the oldest price in force."""
    prices_without_date: int
    """Prices whose source states no date."""


class ProvidersOut(PageOut):
    """Providers in order of their ids."""

    items: list[ProviderOut]
    """The providers."""


class GpuOut(Out):
    """A card. Rates are dense, with FP32 accumulation; null: not supported or not known."""

    name: str
    """Canonical name."""
    vendor: str
    """Maker."""
    architecture: str
    """Generation."""
    form_factor: str
    """SXM, PCIe, OAM, consumer, …"""
    memory_gb: Figure
    """Memory, GB."""
    usable_memory_gb: Figure
    """What a process can allocate, GB."""
    memory_bandwidth_gb_s: Figure
    """Memory bandwidth, GB/s."""
    fp32_tflops: Figure | None
    """Dense FP32, TFLOP/s."""
    tf32_tflops: Figure | None
    """Dense TF32, TFLOP/s."""
    fp16_tflops: Figure | None
    """Dense FP16, TFLOP/s."""
    bf16_tflops: Figure | None
    """Dense BF16, TFLOP/s."""
    fp8_tflops: Figure | None
    """Dense FP8, TFLOP/s."""
    link: str
    """Its own link."""
    link_gb_s: Figure
    """Speed of that link, both directions together, GB/s; 0: it has none."""
    pcie_generation: int
    """PCI Express generation."""
    tdp_w: Figure | None
    """Power, watts."""
    release_year: int
    """Year of release."""
    source_url: str
    """Where the figures were read."""
    note: str
    """What should be known of them."""


class GpusOut(Out):
    """Cards in order of their names."""

    items: list[GpuOut]
    """The cards."""
    next_cursor: str | None
    """Give it as ``cursor`` for the next page; null at the end."""


class PresetOut(Out):
    """A well-known model. Parameters in billions."""

    preset: str
    """Name to give as ``model.preset``."""
    hf_id: str
    """Its name on the model hub."""
    family: str
    """Its family."""
    parameters_b: Figure
    """Parameters, all experts together."""
    active_parameters_b: Figure
    """Parameters that touch one token."""
    layers: int
    """Layers."""
    hidden_size: int
    """Width."""
    attention_heads: int
    """Query heads."""
    kv_heads: int
    """Key and value heads."""
    vocabulary_size: int
    """Tokens in the vocabulary."""
    experts: int
    """Routed experts a layer; 0: a dense model."""
    max_position: int | None
    """Longest sequence that it was made for."""
    year: int
    """Year of release."""
    source: str
    """Where the figures were read."""


class PresetsOut(Out):
    """Presets in order of their names."""

    items: list[PresetOut]
    """The presets."""
    next_cursor: str | None
    """Give it as ``cursor`` for the next page; null at the end."""


class IntervalOut(Out):
    """A price and when it held."""

    provider: str
    """Provider's id."""
    region: str
    """Region."""
    sku: str
    """Machine."""
    gpu: str
    """Card."""
    gpus_per_node: int
    """Cards in one machine."""
    option: str
    """Purchase option."""
    amount: MoneyOut
    """Exact price of one machine and one ``unit``."""
    unit: str
    """node_hour, node_day, node_week, node_month or node_term."""
    term_unit: str | None
    """Unit of the commitment; null: none."""
    term_count: int | None
    """Its length in that unit; null: none, or unknown."""
    kind: str
    """list, observed, floor, quote or history."""
    valid_from: Instant | None
    """Since when it held; null: always as far as known."""
    valid_to: Instant | None
    """Until when; null: it still holds."""
    recorded_at: Instant
    """When it entered the catalogue."""
    source: SourceOut
    """Where it was read."""


class PriceQuantilesOut(Out):
    """A month of an archive's readings of the price of one GPU-hour."""

    gpu: str
    """Card."""
    option: str
    """Purchase option."""
    month: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}$")
    """Year and month."""
    readings: int
    """How many readings."""
    p10: MoneyOut
    """One in ten was cheaper."""
    p50: MoneyOut
    """The median."""
    p90: MoneyOut
    """One in ten was dearer."""


class PriceHistoryOut(PageOut):
    """Prices in the order of their recording."""

    items: list[IntervalOut]
    """The prices."""
    quantiles: list[PriceQuantilesOut]
    """Monthly quantiles of the archive's readings, on the first page only."""
