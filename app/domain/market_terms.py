"""What a market says in one currency, worked out once: billing rules, rates, quotas, fees, prices an hour. Independent of any job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.billing import BillingTable, billing_table, period_hours
from app.domain.drift import DriftTable, drift_table
from app.domain.fees import FeeBook
from app.domain.fx import factors
from app.domain.hardware import Bools, Floats, Ints
from app.domain.interruptions import spot_rates
from app.domain.market_columns import Market
from app.domain.quota import QuotaTable, quota_table
from app.domain.remembered import Remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketTerms:
    """Per tariff row the price of a node-hour in the target currency (NaN unknown), the period and the smallest purchase.

    ``period_hours`` is 0 for metered tariffs.
    """

    currency: str
    price_per_node_hour: Floats
    period_hours: Floats
    minimum_nodes: Ints
    billing: BillingTable
    fees: FeeBook
    quotas: QuotaTable
    spot_rate: Floats
    spot_rate_own: Bools
    drift: DriftTable
    kinds: tuple[str, ...]


_terms: Remembered[MarketTerms] = Remembered()


def market_terms(market: Market, currency: str, assumptions: Assumptions) -> MarketTerms:
    """The terms of ``market`` in ``currency``.

    Raises:
        ExchangeError: a fee has to be assumed in USD and no rate leads to ``currency``.
    """
    return _terms.get((market, currency, assumptions), lambda: _work_out(market, currency, assumptions))


def _work_out(market: Market, currency: str, assumptions: Assumptions) -> MarketTerms:
    tariffs = market.tariffs
    worth = factors(market.rates, market.currencies, currency)
    spot_rate, own = spot_rates(market, assumptions)
    with np.errstate(invalid="ignore"):
        price = tariffs.amount / tariffs.unit_hours * worth[tariffs.currency]
    return MarketTerms(
        currency=currency,
        price_per_node_hour=price,
        period_hours=period_hours(tariffs.term_hours, tariffs.unit_hours),
        minimum_nodes=-(-tariffs.minimum_gpus // market.offers.gpus_per_node[tariffs.offer]),
        billing=billing_table(market, assumptions),
        fees=FeeBook(market, currency, assumptions),
        quotas=quota_table(market),
        spot_rate=spot_rate,
        spot_rate_own=own,
        drift=drift_table(market, assumptions),
        kinds=tuple(market.provider_kinds.get(provider, "other") for provider in market.providers),
    )
