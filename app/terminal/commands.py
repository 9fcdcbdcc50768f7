"""What each command of the command line does."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.text import Text

from app.api.facts import preset_out
from app.api.offers import offer_rows, offers_out
from app.api.problems import Fault, InvalidRequestError, faults_of_validation
from app.api.providers import provider_out
from app.api.view import MarketView
from app.api.wire_answer import RecommendationOut
from app.api.wire_estimate import EstimateIn, EstimateOut
from app.api.wire_market import GpuOut, MarketOfferOut
from app.api.wire_request import RecommendIn
from app.catalog.embedded import load_embedded
from app.catalog.models import preset_rows
from app.clock import utc_now
from app.domain.fx import ExchangeError
from app.domain.request import RequestError
from app.domain.workload import WorkloadError
from app.terminal.advice import show_plan, show_recommendation
from app.terminal.evaluation import evaluate
from app.terminal.failure import CommandError
from app.terminal.parse import parse
from app.terminal.tables import age, console, number, table
from app.wiring import Advisor, start_of_day

_MOST_BYTES = 64_000_000
_In = TypeVar("_In", bound=BaseModel)


def run(options: argparse.Namespace) -> None:
    """Run the chosen command.

    Raises:
        CommandError: the request or a file is at fault.
    """
    try:
        _COMMANDS[options.command](options)
    except InvalidRequestError as error:
        raise CommandError("; ".join(map(_line, error.faults))) from error
    except (WorkloadError, RequestError) as error:
        where = f"/workload{error.pointer}" if isinstance(error, WorkloadError) else error.pointer
        raise CommandError.at(where, error.detail) from error
    except ExchangeError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError.at(str(error.filename or "file"), error.strerror or str(error)) from error


def _recommend(options: argparse.Namespace) -> None:
    question = _request(RecommendIn, _read_json(options.file))
    advisor = Advisor.load()
    view = advisor.embedded_view(_as_of(options))
    answer = advisor.recommend(question, view)
    if options.json:
        _print_json(answer)
        return
    screen = console()
    if options.explain is None:
        show_recommendation(screen, answer)
        return
    show_plan(screen, _plan(answer, options.explain))


def _plan(answer: RecommendationOut, rank: int) -> Any:
    plan = next((plan for plan in answer.plans if plan.rank == rank), None)
    if plan is None:
        msg = f"there is no plan {rank}: the answer has {len(answer.plans)}"
        raise CommandError(msg)
    return plan


def _estimate(options: argparse.Namespace) -> None:
    given = _read_json(options.file)
    several = isinstance(given, list)
    advisor = Advisor.load()
    answers = [_estimated(advisor, item, f"/{position}" if several else "") for position, item in enumerate(given if several else [given])]
    if options.json:
        dumped = [answer.model_dump(mode="json", by_alias=True) for answer in answers]
        _print_text(json.dumps(dumped if several else dumped[0], ensure_ascii=False, indent=2))
        return
    columns = [
        ("workload", False),
        ("verdict", False),
        ("GB a GPU", True),
        ("units/s", True),
        ("MFU", True),
        ("hours", True),
        ("GPU-hours", True),
    ]
    console().print(table(columns, [_estimate_row(answer) for answer in answers]))
    for answer in answers:
        for line in (*answer.reasons, *answer.workload.warnings):
            console().print(Text(f"- {line}"))


def _estimated(advisor: Advisor, item: object, where: str) -> EstimateOut:
    try:
        return advisor.estimate(_request(EstimateIn, item))
    except (InvalidRequestError, WorkloadError) as error:
        faults = (
            error.faults
            if isinstance(error, InvalidRequestError)
            else [Fault(pointer=f"/workload{error.pointer}", code=error.code, detail=error.detail)]
        )
        raise InvalidRequestError([fault.model_copy(update={"pointer": where + fault.pointer}) for fault in faults]) from error


def _estimate_row(answer: EstimateOut) -> tuple[str, ...]:
    memory, speed = answer.memory, answer.speed
    need = f"{number(memory.needed_gb_per_gpu)} of {number(memory.available_gb_per_gpu)}" if memory else "?"
    rate = f"{number(speed.units_per_second)} {speed.unit}s" if speed else "?"
    mfu = f"{speed.mfu:.1%}" if speed and speed.mfu is not None else "?"
    return (
        answer.workload.name or answer.workload.model or "",
        answer.verdict,
        need,
        rate,
        mfu,
        number(answer.compute_hours),
        number(answer.gpu_hours),
    )


def _providers(options: argparse.Namespace) -> None:
    view = Advisor.load().embedded_view(_as_of(options))
    found = [provider_out(view, info) for info in sorted(load_embedded().providers, key=lambda info: info.id)]
    if options.json:
        _print_list(found)
        return
    columns = [
        ("id", False),
        ("name", False),
        ("kind", False),
        ("offers", True),
        ("prices", True),
        ("newest price", True),
        ("undated", True),
    ]
    rows = [
        (
            item.id,
            item.name,
            item.kind,
            str(item.offers),
            str(item.prices),
            age(item.newest_price_age_hours) if item.prices else "-",
            str(item.prices_without_date),
        )
        for item in found
    ]
    console().print(table(columns, rows))


def _gpus(options: argparse.Namespace) -> None:
    gpus = Advisor.load().knowledge.gpus
    found = [GpuOut.model_validate(gpus[name]) for name in sorted(gpus)]
    if options.json:
        _print_list(found)
        return
    columns = [
        ("name", False),
        ("GB", True),
        ("GB/s", True),
        ("BF16", True),
        ("FP16", True),
        ("FP8", True),
        ("link", False),
        ("year", True),
    ]
    rows = [
        (
            gpu.name,
            number(gpu.memory_gb),
            number(gpu.memory_bandwidth_gb_s, 4),
            _rate(gpu.bf16_tflops),
            _rate(gpu.fp16_tflops),
            _rate(gpu.fp8_tflops),
            gpu.link,
            str(gpu.release_year),
        )
        for gpu in found
    ]
    console().print(table(columns, rows))
    console().print(Text("Dense TFLOP/s with FP32 accumulation; - means not supported or not known."))


def _rate(tflops: float | None) -> str:
    return "-" if tflops is None else number(tflops, 4)


def _models(options: argparse.Namespace) -> None:
    found = [preset_out(row) for row in preset_rows() if options.family in {None, row.family}]
    if options.json:
        _print_list(found)
        return
    columns = [
        ("preset", False),
        ("parameters", True),
        ("active", True),
        ("layers", True),
        ("width", True),
        ("vocabulary", True),
        ("year", True),
    ]
    rows = [
        (
            item.preset,
            f"{number(item.parameters_b)}B",
            f"{number(item.active_parameters_b)}B",
            str(item.layers),
            str(item.hidden_size),
            f"{item.vocabulary_size:,}",
            str(item.year),
        )
        for item in found
    ]
    console().print(table(columns, rows))


def _market(options: argparse.Namespace) -> None:
    view = Advisor.load().embedded_view(_as_of(options))
    rows = offer_rows(view, provider=options.provider, gpu=options.gpu)
    found = offers_out(view, rows, None)
    if options.json:
        _print_list(found)
        return
    columns = [
        ("provider/region", False),
        ("sku", False),
        ("GPUs", False),
        ("option", False),
        ("price of one machine", True),
        ("age", True),
    ]
    console().print(table(columns, [row for offer in found for row in _price_rows(view, offer)]))
    market = view.market
    console().print(Text(f"{len(found):,} of {len(market.offers):,} offers; {len(market.fees):,} fees, {len(market.quotas):,} quotas"))


def _price_rows(view: MarketView, offer: MarketOfferOut) -> list[tuple[str, ...]]:
    place = f"{offer.provider}/{offer.region}"
    card = f"{offer.gpus_per_node}×{offer.gpu}"
    rows: list[tuple[str, ...]] = []
    for price in offer.prices:
        hours = None if price.source.observed_at is None else (view.market.as_of - price.source.observed_at).total_seconds() / 3600
        term = f" {price.term_count or '?'} {price.term_unit}" if price.term_unit else ""
        amount = f"{price.amount.amount} {price.amount.currency}/{price.unit.removeprefix('node_')}"
        rows.append((place, offer.sku, card, f"{price.option}{term}", amount, age(hours)))
    return rows


def _as_of(options: argparse.Namespace) -> datetime:
    given: datetime | None = options.as_of
    return start_of_day(utc_now()) if given is None else given


def _read_json(name: str) -> Any:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1) if name == "-" else Path(name).read_bytes()
    where = "standard input" if name == "-" else name
    if len(data) > _MOST_BYTES:
        msg = f"{where}: more than {_MOST_BYTES:,} bytes"
        raise CommandError(msg)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        msg = f"{where}: not JSON: {error}"
        raise CommandError(msg) from error


def _request(model: type[_In], given: object) -> _In:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidRequestError(faults_of_validation(error)) from error


def _line(fault: Fault) -> str:
    return f"{fault.pointer}: {fault.detail}" if fault.pointer else fault.detail


def _print_json(answer: BaseModel) -> None:
    _print_text(answer.model_dump_json(by_alias=True, indent=2))


def _print_list(items: Sequence[BaseModel]) -> None:
    _print_text(json.dumps([item.model_dump(mode="json", by_alias=True) for item in items], ensure_ascii=False, indent=2))


def _print_text(text: str) -> None:
    sys.stdout.write(f"{text}\n")


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "recommend": _recommend,
    "estimate": _estimate,
    "evaluate": evaluate,
    "providers": _providers,
    "gpus": _gpus,
    "models": _models,
    "market": _market,
    "parse": parse,
}
