"""Undated prices that a dated list proves old: they are kept, as history, and rank no longer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.domain.market import Offer, Tariff
from app.domain.units import HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_WEEK
from tools.make_data.tally import Tally

_FILE = "prices-catalog.csv"
_SAME = 0.02
"""Prices per GPU this close are the same list: rounding, and machines sold a little above or below their cards."""
_RESALE_DISCOUNT = 0.10
"""A broker buys wholesale; further below its upstream's own list than this, the figure is from before the list."""
_HOURS = {"node_hour": 1.0, "node_day": HOURS_PER_DAY, "node_week": HOURS_PER_WEEK, "node_month": HOURS_PER_MONTH}
_Key = tuple[str, str, str, str]


def outdated(offers: Iterable[Offer], tariffs: Iterable[Tariff], kinds: Mapping[str, str], tally: Tally) -> list[Tariff]:
    """``tariffs`` in order, with those that a dated list proves old marked ``history``.

    A GPU cloud asks one price a GPU everywhere: an undated machine whose price per GPU is none of its provider's dated ones is older than
    they are. A broker's undated price far below the dated list of the platform behind it is older than that list. Hyperscalers price by
    region and are left alone.
    """
    by_key = {offer.key: offer for offer in offers}
    rows = list(tariffs)
    dated: dict[_Key, list[float]] = defaultdict(list)
    for tariff in rows:
        offer, price = by_key[tariff.offer], _per_gpu_hour(tariff)
        if price is not None and tariff.source.observed_at is not None and tariff.valid_to is None and tariff.kind == "list":
            dated[offer.provider, offer.gpu, tariff.option, tariff.amount.currency].append(price)

    def old(tariff: Tariff) -> bool:
        offer, price = by_key[tariff.offer], _per_gpu_hour(tariff)
        if price is None or tariff.source.observed_at is not None or tariff.kind != "observed":
            return False
        if offer.upstream is not None:
            lists = dated.get((offer.upstream, offer.gpu, tariff.option, tariff.amount.currency), [])
            return bool(lists) and price < min(lists) * (1.0 - _RESALE_DISCOUNT)
        lists = dated.get((offer.provider, offer.gpu, tariff.option, tariff.amount.currency), [])
        return kinds.get(offer.provider) == "gpu_cloud" and bool(lists) and all(abs(price / known - 1.0) > _SAME for known in lists)

    judged: list[Tariff] = []
    for tariff in rows:
        if old(tariff):
            resale = by_key[tariff.offer].upstream is not None
            tally.treat(
                _FILE,
                "undated resale far below its upstream's dated list: history"
                if resale
                else "undated price beside a newer dated list: history",
            )
            judged.append(replace(tariff, kind="history"))
        else:
            judged.append(tariff)
    return judged


def _per_gpu_hour(tariff: Tariff) -> float | None:
    """Price of one GPU-hour in the tariff's currency; None where the unit is no span of time."""
    hours = _HOURS.get(tariff.unit)
    return None if hours is None else float(tariff.amount.decimal) / hours / tariff.offer[3]
