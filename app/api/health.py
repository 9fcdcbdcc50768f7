"""``GET /healthz``, ``/readyz`` and ``/metrics``."""

from __future__ import annotations

from typing import Literal

import structlog
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException

from app.api.problems import documented
from app.api.service import Here
from app.api.wire import Out
from app.store.engine import STORE_FAILURES

router = APIRouter(tags=["operation"])
_LOG = structlog.get_logger("trainfare.api")


class Health(Out):
    """The process answers."""

    status: Literal["ok"] = "ok"
    """Always ok."""


class Readiness(Out):
    """The database answers and a market is loaded."""

    status: Literal["ready"] = "ready"
    """Always ready."""
    catalog_version: int
    """Version of the stored catalogue."""
    offers: int
    """Offers in memory."""
    prices: int
    """Prices in force."""


@router.get("/healthz")
async def get_health() -> Health:
    """Is the process alive?"""
    return Health()


@router.get("/readyz", responses=documented(503))
async def get_readiness(here: Here) -> Readiness:
    """Can it answer? The database is reachable and the market of the moment is in memory."""
    try:
        market = (await here.view()).market
    except STORE_FAILURES as error:
        _LOG.warning("not_ready", error=type(error).__name__)
        raise HTTPException(503, "The database does not answer.") from error
    return Readiness(catalog_version=market.catalog_version, offers=len(market.offers), prices=len(market.tariffs))


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def get_metrics(here: Here) -> Response:
    """Meters of this process in the Prometheus text format."""
    return Response(generate_latest(here.metrics.registry), media_type=CONTENT_TYPE_LATEST)
