"""A bundle of market records as they are shipped or collected, before they are stored."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.market import BillingRule, Fee, HistoricPrice, Offer, ProviderInfo, Quota, Rate, Stock, Tariff


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketRecords:
    """Everything that is known of the market, as records."""

    providers: tuple[ProviderInfo, ...]
    offers: tuple[Offer, ...]
    tariffs: tuple[Tariff, ...]
    fees: tuple[Fee, ...]
    quotas: tuple[Quota, ...]
    stock: tuple[Stock, ...]
    billing_rules: tuple[BillingRule, ...]
    rates: tuple[Rate, ...]
    history: tuple[HistoricPrice, ...]
