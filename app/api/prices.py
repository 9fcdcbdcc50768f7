"""``GET /prices/history``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from app.api.caching import cacheable, written
from app.api.names import Findings
from app.api.paging import DEFAULT_LIMIT, Cursor, Filter, Limit, decode, encode
from app.api.problems import InvalidRequestError, documented
from app.api.service import Here, View
from app.api.wire import MoneyOut
from app.api.wire_market import IntervalOut, PriceHistoryOut, PriceQuantilesOut
from app.domain.market import HistoricPrice, PurchaseOption
from app.store.queries import price_intervals, price_readings

router = APIRouter(tags=["market"])
_READINGS_A_READ = 5000
_PERCENTILES = (10, 50, 90)


@router.get("/prices/history", response_model=PriceHistoryOut, responses=documented(422))
async def list_price_history(
    request: Request,
    here: Here,
    view: View,
    provider: Annotated[str, Query(max_length=100, description="A provider's id.")],
    sku: Filter = None,
    region: Filter = None,
    purchase_option: PurchaseOption | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Prices of a provider over the time they held, and monthly quantiles of archived readings per GPU-hour (above all spot)."""
    findings = Findings()
    wanted = view.vocabulary.provider(provider, "?provider", findings)
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    filters = ["prices", wanted, sku, region, purchase_option]
    after = 0 if cursor is None else int(decode(cursor, filters, (0,))[0])
    found = await price_intervals(
        here.engine,
        as_of=view.market.as_of,
        provider=wanted,
        region=region,
        sku=sku,
        option=purchase_option,
        after_id=after,
        limit=limit + 1,
    )
    shown = found[:limit]
    answer = PriceHistoryOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=view.oldest_age_hours([interval.source for interval in shown]),
        next_cursor=encode((shown[-1].id,), filters) if len(found) > limit else None,
        items=[IntervalOut.model_validate(interval) for interval in shown],
        quantiles=[] if cursor else monthly_quantiles(await _readings(here, wanted, region, sku, purchase_option)),
    )
    return cacheable(request, written(answer))


async def _readings(here: Here, provider: str, region: str | None, sku: str | None, option: PurchaseOption | None) -> list[HistoricPrice]:
    """All readings that match, up to the end of the archive."""
    found: list[HistoricPrice] = []
    after = None
    while True:
        rows = await price_readings(
            here.engine, provider=provider, region=region, sku=sku, option=option, after=after, limit=_READINGS_A_READ
        )
        found.extend(reading for _, reading in rows)
        if len(rows) < _READINGS_A_READ:
            return found
        number, last = rows[-1]
        after = (last.day, number)


def monthly_quantiles(readings: Iterable[HistoricPrice]) -> list[PriceQuantilesOut]:
    """Quantiles of the price of one GPU-hour by card, purchase option, currency and month, in that order."""
    groups: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for reading in readings:
        key = (reading.gpu, reading.option, reading.price_per_gpu_hour.currency, f"{reading.day:%Y-%m}")
        groups[key].append(reading.price_per_gpu_hour.nano)
    result = []
    for (gpu, option, currency, month), nanos in sorted(groups.items()):
        low, middle, high = (
            MoneyOut(amount=f"{value / 1e9:.6f}", currency=currency)
            for value in np.percentile(np.array(nanos, dtype=np.float64), _PERCENTILES)
        )
        result.append(PriceQuantilesOut(gpu=gpu, option=option, month=month, readings=len(nanos), p10=low, p50=middle, p90=high))
    return result
