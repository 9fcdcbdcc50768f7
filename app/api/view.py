"""One market with what the API derives from it once: the names in it and where each offer's tariffs stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from app.api.names import Cards, Vocabulary
from app.domain.hardware import Ints
from app.domain.market import Source
from app.domain.market_columns import Market
from app.domain.units import SECONDS_PER_HOUR

EVERY_REGION = "all"


@dataclass(frozen=True)
class MarketView:
    """A market as the API and the command line look at it."""

    market: Market
    cards: Cards
    """All known cards, also those that nobody offers."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every name that a request may use."""
        market = self.market
        regions: dict[str, set[str]] = {provider: set() for provider in (*market.provider_kinds, *market.providers)}
        for provider, region in market.places:
            regions[provider].add(region)
        for fee in market.fees:
            if fee.region != EVERY_REGION:
                regions.setdefault(fee.provider, set()).add(fee.region)
        currencies = {rate.base for rate in market.rates} | {rate.quote for rate in market.rates}
        return Vocabulary(
            providers=tuple(sorted(regions)),
            regions={provider: frozenset(names) for provider, names in regions.items()},
            cards=self.cards,
            currencies=frozenset(currencies),
        )

    @cached_property
    def first_tariff(self) -> Ints:
        """Row of the first tariff of each offer, and one row past the end; tariffs are sorted by offer."""
        return np.searchsorted(self.market.tariffs.offer, np.arange(len(self.market.offers) + 1))

    def age_hours(self, source: Source) -> float | None:
        """Age of a reading at the market's instant; None when its date is unknown."""
        if source.observed_at is None:
            return None
        return (self.market.as_of - source.observed_at).total_seconds() / SECONDS_PER_HOUR

    def age_at(self, hours: float | None) -> float | None:
        """Age of what was read ``hours`` after the epoch."""
        return None if hours is None else self.market.as_of.timestamp() / SECONDS_PER_HOUR - hours

    def instant(self, hours: float | None) -> datetime | None:
        """``hours`` after the epoch as an instant."""
        return None if hours is None else datetime.fromtimestamp(round(hours * SECONDS_PER_HOUR), UTC)

    def oldest_age_hours(self, sources: Sequence[Source]) -> float | None:
        """Age of the oldest dated reading among ``sources``."""
        ages = [age for source in sources if (age := self.age_hours(source)) is not None]
        return max(ages, default=None)
