"""What a request may bring: at most so many bytes, and JSON only."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem


class BodyLimit:
    """ASGI middleware: at most ``most_bytes`` of request body, whether the length is declared or streamed; more is a 413.

    The body is read before the request is passed on, so that no reader further inside can mistake the refusal for a fault of its own.
    """

    def __init__(self, app: ASGIApp, *, most_bytes: int) -> None:
        self.app = app
        self.most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 413."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD"}:
            await self.app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        held: list[Message] = []
        size, read = int(declared[:20]) if declared.isdigit() else 0, 0
        while size <= self.most_bytes and (not held or held[-1].get("more_body", False)):
            held.append(await receive())
            read += len(held[-1].get("body", b""))
            size = max(size, read)
        if size > self.most_bytes:
            answer = problem(413, f"A request body may have at most {self.most_bytes} bytes.", headers={"Connection": "close"})
            await answer(scope, receive, send)
            return
        replay = iter(held)

        async def replayed() -> Message:
            return next(replay, None) or await receive()

        await self.app(scope, replayed, send)


async def json_only(request: Request) -> None:
    """A dependency: the body is JSON by its content type.

    Raises:
        HTTPException: 415, it is not.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise HTTPException(415, "Send the request as application/json.")
