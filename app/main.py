"""The web application: middleware, routes, and what lives as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.api import (
    estimates,
    facts,
    fees,
    health,
    offers,
    prices,
    problems,
    providers,
    rates,
    recommendations,
    runs,
)
from app.api.limits import BodyLimit
from app.api.observe import Metrics, Observe
from app.api.problems import Problem
from app.api.service import Service
from app.clock import Clock, utc_now
from app.settings import Settings
from app.store.engine import create_store_engine
from app.store.migrate import require_newest_revision
from app.wiring import Advisor

MOST_BODY_BYTES = 262_144
_ROUTERS = (
    recommendations.router,
    estimates.router,
    offers.router,
    fees.router,
    rates.router,
    prices.router,
    providers.router,
    facts.router,
    runs.router,
    health.router,
)
_DESCRIPTION = """What a training run will really cost, on each GPU platform, to reach its target, and where to run it.

Every quantity's unit is in its name (`_hours`, `_gb` = 10^9 bytes, `_per_second`). Money is a decimal string with its currency. Times are
RFC 3339 in UTC. Errors are RFC 9457 problems. Lists are pages: give `next_cursor` as `cursor`. Every answer that rests on prices says
`as_of`, `catalog_version` and `oldest_price_age_hours`."""


def create_app(settings: Settings, *, clock: Clock = utc_now, advisor: Advisor | None = None) -> FastAPI:
    """The application for one database.

    Starting it (the lifespan) checks that the database has this release's schema and loads the market of the moment.
    """
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = create_store_engine(settings)
        try:
            await require_newest_revision(engine, settings)
            app.state.service = Service(engine=engine, advisor=advisor or Advisor.load(), clock=clock, metrics=metrics)
            await app.state.service.view()
            yield
        finally:
            await engine.dispose()

    app = FastAPI(
        title="Trainfare",
        version=version("trainfare"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        generate_unique_id_function=_operation_id,
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    for router in _ROUTERS:
        app.include_router(router)
    app.add_middleware(BodyLimit, most_bytes=MOST_BODY_BYTES)
    app.add_middleware(Observe, metrics=metrics)
    _document(app)
    return app


def _operation_id(route: APIRoute) -> str:
    """The name of the function: it is stable and reads well in generated clients."""
    return route.name


def _document(app: FastAPI) -> None:
    """Add the problem's schema, to which every documented error refers."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = made()
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            parts = problem.pop("$defs", {})
            schema["components"]["schemas"] |= {**parts, "Problem": problem}
            for name in ("HTTPValidationError", "ValidationError"):
                schema["components"]["schemas"].pop(name, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
