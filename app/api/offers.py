"""``GET /offers``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from app.api.caching import cacheable, written
from app.api.names import Findings
from app.api.paging import DEFAULT_LIMIT, Cursor, Filter, Limit, page
from app.api.problems import InvalidRequestError, documented
from app.api.service import View
from app.api.view import MarketView
from app.api.wire_market import MarketOfferOut, OffersOut, TariffOut
from app.domain.hardware import Bools
from app.domain.market import PURCHASE_OPTIONS, PurchaseOption, Tariff

router = APIRouter(tags=["market"])
_STOCK = {1: "available", 0: "unavailable", -1: "unknown"}


@router.get("/offers", response_model=OffersOut, responses=documented(422))
async def list_offers(
    request: Request,
    view: View,
    provider: Filter = None,
    region: Filter = None,
    country: Filter = None,
    gpu: Filter = None,
    gpus_per_node: Annotated[int | None, Query(ge=1, le=1024)] = None,
    purchase_option: PurchaseOption | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Things for rent with their prices in force. ``gpu`` is a card or a family; ``purchase_option`` asks for such a price."""
    chosen = offer_rows(
        view, provider=provider, region=region, country=country, gpu=gpu, gpus_per_node=gpus_per_node, purchase_option=purchase_option
    )
    rows, next_cursor = page(
        chosen,
        key=lambda row: view.market.offer_at(row).key,
        shape=("", "", "", 0),
        filters=["offers", provider, region, country, gpu, gpus_per_node, purchase_option],
        limit=limit,
        cursor=cursor,
    )
    answer = OffersOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=view.oldest_age_hours([tariff.source for row in rows for tariff in _tariffs(view, row, purchase_option)]),
        next_cursor=next_cursor,
        items=offers_out(view, rows, purchase_option),
    )
    return cacheable(request, written(answer))


def offer_rows(
    view: MarketView,
    *,
    provider: str | None = None,
    region: str | None = None,
    country: str | None = None,
    gpu: str | None = None,
    gpus_per_node: int | None = None,
    purchase_option: PurchaseOption | None = None,
) -> list[int]:
    """Rows of the offers that pass every filter given, in order of their keys.

    Raises:
        InvalidRequestError: a filter names something unknown.
    """
    chosen = _chosen(view, provider=provider, region=region, country=country, gpu=gpu)
    if gpus_per_node is not None:
        chosen &= view.market.offers.gpus_per_node == gpus_per_node
    if purchase_option is not None:
        tariffs = view.market.tariffs
        chosen &= np.isin(np.arange(len(chosen)), tariffs.offer[tariffs.option == PURCHASE_OPTIONS.index(purchase_option)])
    return [int(row) for row in np.flatnonzero(chosen)]


def offers_out(view: MarketView, rows: Sequence[int], purchase_option: PurchaseOption | None) -> list[MarketOfferOut]:
    """The offers at ``rows`` with their prices in force, of one purchase option if it is given."""
    return [_item(view, row, _tariffs(view, row, purchase_option)) for row in rows]


def _chosen(view: MarketView, *, provider: str | None, region: str | None, country: str | None, gpu: str | None) -> Bools:
    market, vocabulary, findings = view.market, view.vocabulary, Findings()
    chosen = np.ones(len(market.offers), dtype=np.bool_)
    if provider is not None:
        wanted = vocabulary.provider(provider, "?provider", findings)
        chosen &= np.array([name == wanted for name in market.providers], dtype=np.bool_)[market.offers.provider]
    if region is not None:
        wanted = vocabulary.region(region, "?region", findings)
        chosen &= np.array([name == wanted for _, name in market.places], dtype=np.bool_)[market.offers.place]
    if country is not None:
        wanted = vocabulary.country(country, "?country", findings)
        chosen &= np.array([*(name == wanted for name in market.countries), False], dtype=np.bool_)[market.offers.country]
    if gpu is not None:
        cards = set(vocabulary.cards.family(gpu, "?gpu", findings))
        chosen &= np.array([card.name in cards for card in market.gpus], dtype=np.bool_)[market.offers.gpu]
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    return chosen


def _tariffs(view: MarketView, row: int, option: PurchaseOption | None) -> list[Tariff]:
    first, end = view.first_tariff[row : row + 2].tolist()
    found = (view.market.tariff_at(position) for position in range(first, end))
    return [tariff for tariff in found if option is None or tariff.option == option]


def _item(view: MarketView, row: int, tariffs: list[Tariff]) -> MarketOfferOut:
    offer = view.market.offer_at(row)
    facts = {name: getattr(offer, name) for name in MarketOfferOut.model_fields if hasattr(offer, name)}
    prices = [TariffOut.model_validate(tariff) for tariff in tariffs]
    return MarketOfferOut(**facts, stock=_STOCK[int(view.market.offers.in_stock[row])], prices=prices)
