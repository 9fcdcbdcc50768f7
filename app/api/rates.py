"""``GET /fx``."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.api.caching import cacheable, written
from app.api.paging import DEFAULT_LIMIT, Cursor, Limit, page
from app.api.problems import documented
from app.api.service import View
from app.api.wire_market import RateOut, RatesOut

router = APIRouter(tags=["market"])


@router.get("/fx", response_model=RatesOut, responses=documented(422))
async def list_rates(request: Request, view: View, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """The rates in use as of the instant, as their source publishes them; crosses are worked out from two of them."""
    items, next_cursor = page(
        view.market.rates,
        key=lambda rate: (rate.base, rate.quote, rate.day.isoformat(), rate.source),
        shape=("", "", "", ""),
        filters=["fx"],
        limit=limit,
        cursor=cursor,
    )
    answer = RatesOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=None,
        next_cursor=next_cursor,
        items=[RateOut.model_validate(rate) for rate in items],
    )
    return cacheable(request, written(answer))
