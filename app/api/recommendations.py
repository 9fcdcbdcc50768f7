"""``POST /recommend`` and the stored answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Request, Response
from fastapi.openapi.models import Example
from starlette.exceptions import HTTPException

from app.api.caching import IMMUTABLE, cacheable
from app.api.examples import QUESTIONS
from app.api.limits import json_only
from app.api.problems import documented
from app.api.service import Here, View
from app.api.wire_answer import RecommendationOut
from app.api.wire_request import RecommendIn
from app.store.queries import read_recommendation, store_recommendation

router = APIRouter(tags=["recommendations"])
_EXAMPLES = {name: Example(summary=summary, value=value) for name, (summary, value) in QUESTIONS.items()}


@router.post("/recommend", dependencies=[Depends(json_only)], response_model=RecommendationOut, responses=documented(400, 413, 415, 422))
async def recommend(question: Annotated[RecommendIn, Body(openapi_examples=_EXAMPLES)], here: Here, view: View) -> Response:
    """Rank plans by full cost.

    200 also when nothing fits: ``plans`` is then empty and ``rejected`` says why. The answer is stored; ``Location`` names it. The same
    question on the same market (``catalog_version`` and ``as_of``) gives the same bytes.
    """
    advice = here.advisor.remembered(question, view)
    source = "remembered" if advice else "computed"
    if advice is None:
        advice = await here.in_thread(lambda: here.advisor.remembered(question, view) or here.advisor.advise(question, view))
        await store_recommendation(
            here.engine,
            id=advice.id,
            catalog_version=advice.catalog_version,
            created_at=here.clock(),
            request=advice.question,
            body=advice.body,
        )
        here.advisor.remember(question, view, advice)
    here.metrics.answers.labels(source).inc()
    return Response(advice.body, media_type="application/json", headers={"Location": f"/recommendations/{advice.id}"})


@router.get("/recommendations/{id}", response_model=RecommendationOut, responses=documented(404, 422))
async def get_recommendation(id: Annotated[str, Path(max_length=100)], request: Request, here: Here) -> Response:  # noqa: A002
    """A stored answer, byte for byte as it was first given."""
    body = await read_recommendation(here.engine, id)
    if body is None:
        raise HTTPException(404, "No recommendation has this id.")
    return cacheable(request, body, policy=IMMUTABLE)
