"""``GET /fees`` and ``GET /quotas``."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.api.caching import cacheable, written
from app.api.names import Findings
from app.api.paging import DEFAULT_LIMIT, Cursor, Filter, Limit, numbered, page
from app.api.problems import InvalidRequestError, documented
from app.api.service import View
from app.api.view import EVERY_REGION, MarketView
from app.api.wire_market import FeeOut, FeesOut, QuotaOut, QuotasOut
from app.domain.market import Fee, FeeKind, Quota

router = APIRouter(tags=["market"])


@router.get("/fees", response_model=FeesOut, responses=documented(422))
async def list_fees(
    request: Request,
    view: View,
    provider: Filter = None,
    region: Filter = None,
    kind: FeeKind | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Fees beside the price of the machine. With ``region``, also those that hold in every region."""
    wanted = _provider(view, provider)
    found = [
        fee
        for fee in view.market.fees
        if wanted in {None, fee.provider} and kind in {None, fee.kind} and (region is None or fee.region in {region, EVERY_REGION})
    ]
    items, next_cursor = page(
        numbered(found, _fee_key),
        key=lambda item: item[0],
        shape=("", "", "", "", "", "", 0),
        filters=["fees", wanted, region, kind],
        limit=limit,
        cursor=cursor,
    )
    fees = [fee for _, fee in items]
    answer = FeesOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=view.oldest_age_hours([fee.source for fee in fees]),
        next_cursor=next_cursor,
        items=[FeeOut.model_validate(fee) for fee in fees],
    )
    return cacheable(request, written(answer))


@router.get("/quotas", response_model=QuotasOut, responses=documented(422))
async def list_quotas(
    request: Request, view: View, provider: Filter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """What a new account may rent."""
    wanted = _provider(view, provider)
    items, next_cursor = page(
        numbered([quota for quota in view.market.quotas if wanted in {None, quota.provider}], _quota_key),
        key=lambda item: item[0],
        shape=("", "", "", "", "", "", 0),
        filters=["quotas", wanted],
        limit=limit,
        cursor=cursor,
    )
    quotas = [quota for _, quota in items]
    answer = QuotasOut(
        as_of=view.market.as_of,
        catalog_version=view.market.catalog_version,
        oldest_price_age_hours=view.oldest_age_hours([quota.source for quota in quotas]),
        next_cursor=next_cursor,
        items=[QuotaOut.model_validate(quota) for quota in quotas],
    )
    return cacheable(request, written(answer))


def _provider(view: MarketView, given: str | None) -> str | None:
    if given is None:
        return None
    findings = Findings()
    found = view.vocabulary.provider(given, "?provider", findings)
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    return found


def _fee_key(fee: Fee) -> tuple[str, ...]:
    return (fee.provider, fee.region, fee.kind, fee.sku, fee.unit, f"{fee.tier_from_gb:020.6f}")


def _quota_key(quota: Quota) -> tuple[str, ...]:
    return (quota.provider, quota.scope, quota.code, quota.name, quota.gpu_family, quota.unit)
