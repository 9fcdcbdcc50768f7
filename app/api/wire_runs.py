"""How collecting went, as JSON."""

from __future__ import annotations

from app.api.wire import Instant, Out


class RunOut(Out):
    """One attempt to collect a provider."""

    id: int
    """Its number."""
    provider: str
    """Provider's id."""
    slot: Instant | None
    """The due time that it served; null: asked for by hand."""
    started_at: Instant
    """Its start."""
    finished_at: Instant | None
    """Its end; null: still running, or it died."""
    outcome: str
    """How it ended."""
    observations: int
    """Figures read."""
    rejections: int
    """Figures refused."""
    rows_written: int
    """Rows that changed."""
    pages: list[str]
    """Evidence it read."""
    detail: str
    """What there is to say."""
    code_version: str
    """Release that ran."""


class RunsOut(Out):
    """Runs, the newest first."""

    items: list[RunOut]
    """The runs."""
    next_cursor: str | None
    """Give it as ``cursor`` for the next page; null at the end."""


class QuarantinedOut(Out):
    """A record or a batch that was refused."""

    id: int
    """Its number."""
    provider: str
    """Provider's id."""
    scope: str
    """record or batch."""
    reason: str
    """Why, for programs."""
    pointer: str
    """Where in the page."""
    detail: str
    """Why, for people."""
    evidence: str | None
    """Key of the stored page."""
    first_seen_at: Instant
    """First time."""
    last_seen_at: Instant
    """Latest time."""
    resolved_at: Instant | None
    """When it was settled; null: open."""
    resolved_by: str | None
    """Who or what settled it."""


class QuarantineOut(Out):
    """What was refused, the newest first."""

    items: list[QuarantinedOut]
    """The refusals."""
    next_cursor: str | None
    """Give it as ``cursor`` for the next page; null at the end."""
