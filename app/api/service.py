"""What the endpoints share: the engine, the market of the moment, the advisor, the clock."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated

import anyio
import structlog
from fastapi import Depends, Query, Request

from app.api.observe import Metrics
from app.api.problems import Fault, InvalidRequestError
from app.api.view import MarketView
from app.api.wire import Instant
from app.catalog.snapshot import load_market
from app.clock import Clock
from app.store.engine import StoreEngine
from app.store.queries import catalog_state
from app.wiring import Advice, Advisor, start_of_day

_VIEWS_KEPT = 2
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_FURTHEST = timedelta(days=366)
_LOG = structlog.get_logger("trainfare.api")

AsOf = Annotated[
    Instant | None,
    Query(
        description="RFC 3339 instant with its offset: the market as of then. Without it: the start of the present UTC day, or the latest "
        "publication of the catalogue when that is later, so that one question asked twice a day gets the same bytes."
    ),
]


@dataclass
class Service:
    """One running app."""

    engine: StoreEngine
    advisor: Advisor
    clock: Clock
    metrics: Metrics
    _views: OrderedDict[tuple[int, datetime], MarketView] = field(default_factory=OrderedDict)
    _loading: anyio.Lock = field(default_factory=anyio.Lock)
    working: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    """Answers are pure CPU: more than one thread at a time would only slow each other down."""

    async def view(self, as_of: datetime | None = None) -> MarketView:
        """The market as of ``as_of``, or of the moment as ``AsOf`` says. The two used last are kept in memory.

        Raises:
            InvalidRequestError: ``as_of`` lies before 2000 or more than a year ahead.
        """
        state = await catalog_state(self.engine)
        instant = self._instant(as_of, state.moved_at)
        key = (state.version, instant)
        if key in self._views:
            self._views.move_to_end(key)
            return self._views[key]
        async with self._loading:
            if key not in self._views:
                market = await load_market(self.engine, gpus=self.advisor.knowledge.gpus, as_of=instant)
                view = MarketView(market, self.advisor.cards)
                if as_of is None:
                    await anyio.to_thread.run_sync(self.advisor.prepare, view, limiter=self.working)
                self._views[key] = view
                _LOG.info("market_loaded", as_of=instant.isoformat(), version=market.catalog_version, offers=len(market.offers))
            while len(self._views) > _VIEWS_KEPT:
                self._views.popitem(last=False)
            return self._views[key]

    def _instant(self, as_of: datetime | None, moved_at: datetime | None) -> datetime:
        now = self.clock()
        if as_of is None:
            return max(start_of_day(now), moved_at or _EARLIEST)
        if as_of.tzinfo is None or not _EARLIEST <= as_of <= now + _FURTHEST:
            detail = "give an instant with its offset (2026-11-30T00:00:00Z), from the year 2000 to a year from now"
            raise InvalidRequestError([Fault(pointer="?as_of", code="out_of_range", detail=detail)])
        return as_of.astimezone(UTC)

    async def in_thread(self, work: Callable[[], Advice]) -> Advice:
        """Run CPU work beside the event loop, one at a time."""
        return await anyio.to_thread.run_sync(work, limiter=self.working)


async def service_of(request: Request) -> Service:
    """The app's service."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]


async def market_view(here: Here, as_of: AsOf = None) -> MarketView:
    """The market that the request asks for."""
    return await here.view(as_of)


View = Annotated[MarketView, Depends(market_view)]
