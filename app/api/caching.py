"""Strong ETags and 304: an answer's tag is the digest of its bytes, so equal tags are equal bytes on every replica."""

from __future__ import annotations

import hashlib
import re

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

REVALIDATE = "public, max-age=60, stale-while-revalidate=300"
IMMUTABLE = "private, max-age=31536000, immutable"
_TAGS = re.compile(r'(?:W/)?"[^"]*"')


def tag_of(body: bytes) -> str:
    """The strong ETag of these bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def matches(header: str | None, tag: str) -> bool:
    """Does ``If-None-Match`` name ``tag``? Compared weakly, as RFC 9110 asks."""
    if header is None:
        return False
    return header.strip() == "*" or any(item.removeprefix("W/") == tag for item in _TAGS.findall(header))


def cacheable(request: Request, body: bytes, *, policy: str = REVALIDATE) -> Response:
    """``body`` as JSON with its tag, or 304 when the caller already holds it."""
    tag = tag_of(body)
    headers = {"ETag": tag, "Cache-Control": policy}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def written(answer: BaseModel) -> bytes:
    """The bytes of an answer."""
    return answer.model_dump_json(by_alias=True).encode()
