"""``GET /providers``."""

from __future__ import annotations

import numpy as np
from fastapi import APIRouter, Request, Response

from app.api.caching import cacheable, written
from app.api.paging import DEFAULT_LIMIT, Cursor, Limit, page
from app.api.problems import documented
from app.api.service import Here, View
from app.api.view import MarketView
from app.api.wire_market import ProviderOut, ProvidersOut
from app.domain.market import ProviderInfo
from app.store.engine import read
from app.store.facts import read_provider_infos

router = APIRouter(tags=["market"])


@router.get("/providers", response_model=ProvidersOut, responses=documented(422))
async def list_providers(request: Request, here: Here, view: View, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """Platforms, and how much and how fresh is what is known of each."""
    async with read(here.engine) as connection:
        infos = await read_provider_infos(connection, view.market.as_of)
    items, next_cursor = page(infos, key=lambda info: (info.id,), shape=("",), filters=["providers"], limit=limit, cursor=cursor)
    shown = [provider_out(view, info) for info in items]
    answer = ProvidersOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=max(
            (item.oldest_price_age_hours for item in shown if item.oldest_price_age_hours is not None), default=None
        ),
        next_cursor=next_cursor,
        items=shown,
    )
    return cacheable(request, written(answer))


def provider_out(view: MarketView, info: ProviderInfo) -> ProviderOut:
    """One provider with what the market holds of it."""
    market = view.market
    code = market.providers.index(info.id) if info.id in market.providers else -1
    own = market.offers.provider == code
    observed = market.tariffs.observed_hours[own[market.tariffs.offer]]
    dated = observed[~np.isnan(observed)]
    newest, oldest = (float(dated.max()), float(dated.min())) if len(dated) else (None, None)
    return ProviderOut(
        id=info.id,
        name=info.name,
        name_zh=info.name_zh,
        kind=info.kind,
        homepage=info.homepage,
        offers=int(own.sum()),
        prices=len(observed),
        gpus=[market.gpus[gpu].name for gpu in np.unique(market.offers.gpu[own])],
        newest_price_at=view.instant(newest),
        newest_price_age_hours=view.age_at(newest),
        oldest_price_age_hours=view.age_at(oldest),
        prices_without_date=len(observed) - len(dated),
    )
