"""Every error of the API as an RFC 9457 problem, made in one place.

``errors[]`` names each fault: ``pointer`` is a JSON pointer into the body (``/workload/model/preset``), ``?name`` a query parameter or
empty for the whole request; ``code`` is for programs; ``detail`` is for people.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.api.wire import printable
from app.domain.fx import ExchangeError
from app.domain.request import RequestError
from app.domain.workload import WorkloadError
from app.store.engine import STORE_FAILURES

MEDIA_TYPE = "application/problem+json"
_MOST_ERRORS = 50
_LOG = structlog.get_logger("trainfare.api")


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    pointer: str
    """JSON pointer into the body, ``?name`` for a query parameter, or empty."""
    code: str
    """What is wrong, for programs."""
    detail: str
    """What is wrong and what to change, for people."""


class Problem(BaseModel):
    """RFC 9457 problem details."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    type: str
    """URI of the kind of problem."""
    title: str
    """The kind in words."""
    status: int
    """HTTP status."""
    detail: str
    """This occurrence in words."""
    errors: list[Fault] = []
    """Each fault, where there is more to say."""


KINDS: dict[int, tuple[str, str]] = {
    400: ("bad-request", "The request cannot be read"),
    404: ("not-found", "There is no such thing"),
    405: ("method-not-allowed", "This method is not offered here"),
    413: ("too-large", "The request is too large"),
    415: ("unsupported-media-type", "The content type is not application/json"),
    422: ("invalid-request", "The request is not valid"),
    500: ("internal", "Something went wrong on our side"),
    503: ("not-ready", "The service is not ready"),
}


class InvalidRequestError(Exception):
    """A request whose values are wrong; it becomes a 422."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{fault.pointer}: {fault.detail}" for fault in faults))
        self.faults = list(faults)


def problem(status: int, detail: str, faults: Sequence[Fault] = (), headers: dict[str, str] | None = None) -> Response:
    """The problem as an answer."""
    slug, title = KINDS.get(status, ("http-error", HTTPStatus(status).phrase))
    body = Problem(type=f"urn:trainfare:problem:{slug}", title=title, status=status, detail=detail, errors=list(faults)[:_MOST_ERRORS])
    text = json.dumps(body.model_dump(), ensure_ascii=True, separators=(",", ":"))
    return Response(text, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI ``responses`` of a call that may answer with these problems."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {status: {"description": KINDS[status][1], "content": {MEDIA_TYPE: {"schema": schema}}} for status in statuses}


def pointer(location: Sequence[int | str]) -> str:
    """A JSON pointer (RFC 6901) from a path of keys and positions."""
    return "".join("/" + printable(str(part)).replace("~", "~0").replace("/", "~1") for part in location)


def faults_of(error: RequestValidationError) -> list[Fault]:
    """The faults that FastAPI and pydantic found."""
    faults = []
    for item in error.errors():
        where, *rest = item["loc"] or ("body",)
        code = str(item["type"])
        detail = printable(str(item["msg"]).removeprefix("Value error, "), 500)
        if code == "json_invalid":
            reason = item.get("ctx", {}).get("error", "")
            faults.append(
                Fault(pointer="", code=code, detail=printable(f"the body is no JSON: {reason} at character {rest[0] if rest else 0}", 300))
            )
        elif where == "body":
            faults.append(Fault(pointer=pointer(rest), code=code, detail=detail))
        else:
            faults.append(Fault(pointer=f"?{printable(str(rest[0])) if rest else ''}", code=code, detail=detail))
    return faults


def faults_of_validation(error: ValidationError) -> list[Fault]:
    """The faults that pydantic found in a body that was validated without FastAPI."""
    return faults_of(RequestValidationError([{**item, "loc": ("body", *item["loc"])} for item in error.errors()]))


async def store_failed(request: Request, error: Exception) -> Response:
    """A database that does not answer is a 503, and the caller may try again."""
    _LOG.error("store_failed", path=request.url.path, exc_info=error)
    return problem(503, "The database does not answer; nothing was lost. Try again.", headers={"Retry-After": "5"})


def install(app: FastAPI) -> None:
    """Give ``app`` the handlers that turn every failure into a problem."""

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
        faults = faults_of(error)
        if faults and faults[0].code == "json_invalid":
            return problem(400, faults[0].detail, faults)
        return problem(422, _summary(faults), faults)

    async def invalid_values(_: Request, error: Exception) -> Response:
        assert isinstance(error, InvalidRequestError)  # noqa: S101 - registered for this class only
        return problem(422, _summary(error.faults), error.faults)

    async def not_understood(_: Request, error: Exception) -> Response:
        assert isinstance(error, WorkloadError)  # noqa: S101 - registered for this class only
        fault = Fault(pointer=f"/workload{error.pointer}", code=error.code, detail=error.detail)
        return problem(422, _summary([fault]), [fault])

    async def contradictory(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)  # noqa: S101 - registered for this class only
        fault = Fault(pointer=error.pointer, code=error.code, detail=error.detail)
        return problem(422, _summary([fault]), [fault])

    async def not_convertible(_: Request, error: Exception) -> Response:
        fault = Fault(pointer="/preferences/currency", code="no_exchange_rate", detail=str(error))
        return problem(422, _summary([fault]), [fault])

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
        return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    async def failed(request: Request, error: Exception) -> Response:
        _LOG.error("request_failed", path=request.url.path, exc_info=error)
        request_id = str(structlog.contextvars.get_contextvars().get("request_id", "unknown"))
        return problem(500, f"The failure was logged under the request id {request_id}.", headers={"X-Request-Id": request_id})

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(InvalidRequestError, invalid_values)
    app.add_exception_handler(WorkloadError, not_understood)
    app.add_exception_handler(RequestError, contradictory)
    app.add_exception_handler(ExchangeError, not_convertible)
    app.add_exception_handler(HTTPException, refused)
    app.exception_handlers.update(dict.fromkeys(STORE_FAILURES, store_failed))
    app.add_exception_handler(Exception, failed)


def _summary(faults: Sequence[Fault]) -> str:
    if not faults:
        return "The request is not valid."
    first = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{first.pointer}: {first.detail}{more}" if first.pointer else f"{first.detail}{more}"
