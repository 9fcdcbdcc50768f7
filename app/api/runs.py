"""``GET /runs`` and ``GET /quarantine``: how collecting went, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.caching import cacheable, written
from app.api.paging import DEFAULT_LIMIT, Cursor, Filter, Limit, decode, encode
from app.api.problems import documented
from app.api.service import Here
from app.api.wire_runs import QuarantinedOut, QuarantineOut, RunOut, RunsOut
from app.store.queries import collect_runs, quarantined

router = APIRouter(tags=["collection"])


@router.get("/runs", response_model=RunsOut, responses=documented(422))
async def list_runs(
    request: Request, here: Here, provider: Filter = None, outcome: Filter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """Attempts to collect, the newest first."""
    filters = ["runs", provider, outcome]
    found = await collect_runs(here.engine, provider=provider, outcome=outcome, before_id=_before(cursor, filters), limit=limit + 1)
    shown = found[:limit]
    next_cursor = encode((shown[-1].id,), filters) if len(found) > limit else None
    return cacheable(request, written(RunsOut(items=[RunOut.model_validate(run) for run in shown], next_cursor=next_cursor)))


@router.get("/quarantine", response_model=QuarantineOut, responses=documented(422))
async def list_quarantine(
    request: Request,
    here: Here,
    provider: Filter = None,
    reason: Filter = None,
    resolved: Annotated[bool | None, Query()] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Records and batches that were refused, with the reason, the newest first."""
    filters = ["quarantine", provider, reason, resolved]
    found = await quarantined(
        here.engine, provider=provider, reason=reason, resolved=resolved, before_id=_before(cursor, filters), limit=limit + 1
    )
    shown = found[:limit]
    next_cursor = encode((shown[-1].id,), filters) if len(found) > limit else None
    answer = QuarantineOut(items=[QuarantinedOut.model_validate(item) for item in shown], next_cursor=next_cursor)
    return cacheable(request, written(answer))


def _before(cursor: str | None, filters: Sequence[object]) -> int | None:
    return None if cursor is None else int(decode(cursor, filters, (0,))[0])
