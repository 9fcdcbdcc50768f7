"""The command line ``trainfare``. Errors are one line on standard error and exit status 2."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shlex
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import structlog
import uvicorn
from pydantic import ValidationError
from structlog.tracebacks import ExceptionDictTransformer

from app.api.examples import SMALLEST
from app.catalog.embedded import load_embedded, load_history
from app.main import create_app
from app.settings import Settings
from app.store import migrate as schema
from app.store.engine import DATABASE_FAILURES, create_store_engine
from app.store.seed import seed
from app.terminal.commands import run
from app.terminal.failure import CommandError

_PROG = "trainfare"
_GRACE_SECONDS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, or 2 when the request or a file is at fault."""
    options = _parser().parse_args(arguments)
    try:
        if options.command in _ON_DATABASE:
            _on_database(_ON_DATABASE[options.command], options)
        else:
            run(options)
    except CommandError as error:
        print(f"{_PROG}: {error}", file=sys.stderr)  # noqa: T201 - the command line speaks
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROG, description="What a training run will really cost, and where to run it.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, summary: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=summary, description=summary)
        made.add_argument("--json", action="store_true", help="print JSON")
        return made

    serve = command("serve", "migrate the database, load the shipped data, serve the API")
    serve.add_argument("--host", help="address to listen on (default: TRAINFARE_HOST, 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on (default: TRAINFARE_PORT, 8000)")
    command("migrate", "bring the database to this release's schema and load the shipped data")

    recommend = command("recommend", "rank plans for a request, on the shipped data set")
    recommend.add_argument("file", metavar="FILE", help="the request as JSON, - for standard input")
    recommend.add_argument("--explain", type=int, metavar="RANK", help="show one plan in full: bill, time line, configuration")
    estimate = command("estimate", "memory, speed and time on stated hardware")
    estimate.add_argument("file", metavar="FILE", help="one request or a list of them as JSON, - for standard input")

    evaluate = command("evaluate", "predict the rows of a file of measurements and compare")
    evaluate.add_argument("kind", choices=("runs", "memory", "finetune", "scaling"), help="which columns the file has")
    evaluate.add_argument("file", metavar="CSV", help="the file")
    evaluate.add_argument("--out", metavar="FILE", help="write one JSON line a row")

    parse = command("parse", "run one scraper on stored pages: what it sees and refuses, as JSON lines")
    parse.add_argument("provider", metavar="PROVIDER", help="the scraper's id")
    parse.add_argument("files", metavar="FILE", nargs="+", help="a stored page")
    parse.add_argument("--page", metavar="NAME", help="the kind of page that the files are (default: seen by their content)")

    market = command("market", "the shipped offers and their prices")
    market.add_argument("--gpu", help="a card or a family, such as H100")
    market.add_argument("--provider", help="a provider's id")
    for made in (recommend, market, command("providers", "providers and how fresh their prices are")):
        made.add_argument("--as-of", type=_instant, metavar="TIME", help="RFC 3339 instant (default: the start of the present UTC day)")
    command("gpus", "cards and their dense rates")
    models = command("models", "model presets")
    models.add_argument("--family", help="only this family")
    return parser


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        msg = f"{text!r} is no RFC 3339 instant such as 2026-11-30T00:00:00Z"
        raise argparse.ArgumentTypeError(msg) from error
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)


class _Server(uvicorn.Server):
    """A server that says how to ask it something as soon as it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.servers:
            port = self.servers[0].sockets[0].getsockname()[1]
            sys.stdout.write(f"Trainfare answers at http://{self.config.host}:{port}. Try:\n{curl_line(self.config.host, port)}\n")
            sys.stdout.flush()


def curl_line(host: str, port: int) -> str:
    """A shell line that asks for a recommendation."""
    body = json.dumps(SMALLEST, separators=(",", ":"))
    return f"curl -s http://{host}:{port}/recommend -H 'Content-Type: application/json' -d {shlex.quote(body)}"


def serve(options: argparse.Namespace) -> None:
    """Bring the database up to date and serve until stopped."""
    changed = {name: getattr(options, name) for name in ("host", "port") if getattr(options, name) is not None}
    settings = Settings(**changed)
    log_json()
    prepare(settings)
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config)
    with contextlib.suppress(SystemExit):  # uvicorn's own way out when it cannot listen
        server.run()
    if not server.started:
        place = f"{settings.host}:{settings.port}"
        advice = "cannot listen here; choose another TRAINFARE_HOST or TRAINFARE_PORT"
        raise CommandError.at(place, advice)


def migrate(options: argparse.Namespace) -> None:
    """Bring the database up to date and stop."""
    settings = Settings()
    seeded = prepare(settings)
    report = {"revision": schema.newest_revision(settings), "embedded_data_loaded": seeded}
    text = json.dumps(report) if options.json else f"schema at {report['revision']}; shipped data {'loaded' if seeded else 'already there'}"
    sys.stdout.write(f"{text}\n")


_ON_DATABASE: Mapping[str, Callable[[argparse.Namespace], None]] = {"serve": serve, "migrate": migrate}


def _on_database(command: Callable[[argparse.Namespace], None], options: argparse.Namespace) -> None:
    """Run a command that needs settings and a database.

    Raises:
        CommandError: a setting is wrong, or the database or the port cannot be had.
    """
    try:
        command(options)
    except ValidationError as error:
        first = error.errors()[0]
        name = "TRAINFARE_" + "_".join(str(part) for part in first["loc"]).upper()
        raise CommandError.at(name, str(first["msg"])) from error
    except BrokenPipeError:
        raise
    except (*DATABASE_FAILURES, schema.MigrationsMissingError, schema.SchemaError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        place = "the database cannot be used"
        raise CommandError.at(place, lines[0] if lines else type(error).__name__) from error


def prepare(settings: Settings) -> bool:
    """Migrate, then load the shipped data unless it is there; True when it was loaded now."""
    schema.migrate(settings)

    async def load() -> bool:
        engine = create_store_engine(settings)
        try:
            return await seed(engine, replace(load_embedded(), history=load_history()))
        finally:
            await engine.dispose()

    return settings.embedded_data and asyncio.run(load())


def log_json() -> None:
    """One JSON object a line on standard output."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
        cache_logger_on_first_use=True,
    )


if __name__ == "__main__":
    sys.exit(main())
