"""``GET /gpus`` and ``GET /models``: facts that do not change with the market."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.api.caching import cacheable, written
from app.api.names import Findings
from app.api.paging import DEFAULT_LIMIT, Cursor, Filter, Limit, page
from app.api.problems import InvalidRequestError, documented
from app.api.service import Here
from app.api.wire_market import GpuOut, GpusOut, PresetOut, PresetsOut
from app.catalog.models import PresetRow, preset_rows

router = APIRouter(tags=["facts"])


@router.get("/gpus", response_model=GpusOut, responses=documented(422))
async def list_gpus(
    request: Request, here: Here, name: Filter = None, vendor: Filter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """Cards and their dense rates. ``name`` is a card or a family such as ``H100``."""
    cards, findings = here.advisor.cards, Findings()
    names = cards.names if name is None else cards.family(name, "?name", findings)
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    found = [
        gpu
        for gpu in map(here.advisor.knowledge.gpus.__getitem__, sorted(names))
        if vendor is None or gpu.vendor.casefold() == vendor.casefold()
    ]
    items, next_cursor = page(found, key=lambda gpu: (gpu.name,), shape=("",), filters=["gpus", name, vendor], limit=limit, cursor=cursor)
    return cacheable(request, written(GpusOut(items=[GpuOut.model_validate(gpu) for gpu in items], next_cursor=next_cursor)))


@router.get("/models", response_model=PresetsOut, responses=documented(422))
async def list_models(request: Request, family: Filter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """Well-known models, to be named as ``workload.model.preset``."""
    found = sorted((row for row in preset_rows() if family in {None, row.family}), key=lambda row: row.shape.name)
    items, next_cursor = page(found, key=lambda row: (row.shape.name,), shape=("",), filters=["models", family], limit=limit, cursor=cursor)
    return cacheable(request, written(PresetsOut(items=[preset_out(row) for row in items], next_cursor=next_cursor)))


def preset_out(row: PresetRow) -> PresetOut:
    """A preset as shown."""
    shape = row.shape
    return PresetOut(
        preset=shape.name,
        hf_id=row.hf_id,
        family=row.family,
        parameters_b=shape.parameters / 1e9,
        active_parameters_b=shape.active_parameters / 1e9,
        layers=shape.layers,
        hidden_size=shape.hidden_size,
        attention_heads=shape.attention_heads,
        kv_heads=shape.kv_heads,
        vocabulary_size=shape.vocabulary_size,
        experts=shape.experts,
        max_position=shape.max_position,
        year=row.year,
        source=row.source,
    )
