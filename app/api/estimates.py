"""``POST /estimate``."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Body, Depends, Response
from fastapi.openapi.models import Example

from app.api.caching import written
from app.api.examples import ESTIMATE
from app.api.limits import json_only
from app.api.problems import documented
from app.api.service import Here
from app.api.wire_estimate import EstimateIn, EstimateOut

router = APIRouter(tags=["estimates"])
_EXAMPLES = {"four-nodes": Example(summary="A 7B model on four machines of eight A100", value=ESTIMATE)}


@router.post("/estimate", dependencies=[Depends(json_only)], response_model=EstimateOut, responses=documented(400, 413, 415, 422))
async def estimate(question: Annotated[EstimateIn, Body(openapi_examples=_EXAMPLES)], here: Here) -> Response:
    """Memory, speed and time of a workload on stated hardware; no prices are needed."""
    answer = await anyio.to_thread.run_sync(here.advisor.estimate, question, limiter=here.working)
    return Response(written(answer), media_type="application/json")
