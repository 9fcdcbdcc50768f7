"""A recommendation as text: the ranking, and one plan in full."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from app.api.wire import MoneyOut
from app.api.wire_answer import RecommendationOut
from app.api.wire_plan import PlanOut
from app.terminal.tables import age, number, table

_SEVERITY = {"info": "·", "warn": "!", "risk": "!!"}


def show_recommendation(console: Console, answer: RecommendationOut) -> None:
    """The ranking, then what it rests on."""
    console.print(Text(_headline(answer)))
    for line in (*answer.workload.warnings, *_readings(answer)):
        console.print(Text(f"! {line}"))
    if answer.plans:
        console.print()
        console.print(_ranking(answer))
        console.print()
        for line in _remarks(answer):
            console.print(Text(line))
    console.print(Text(_rejected(answer)))


def show_plan(console: Console, plan: PlanOut) -> None:
    """One plan: bill, time line, configuration, memory, speed, risks."""
    purchase, memory, speed = plan.purchase, plan.memory, plan.speed
    where = f"{plan.offer.provider}/{plan.offer.region} {plan.offer.sku}"
    console.print(Text(f"Plan {plan.rank}: {where}, {plan.nodes} × {plan.offer.gpus_per_node} {plan.offer.gpu}, {_option(plan)}"))
    source = plan.price_source
    console.print(Text(f"Price {_money(purchase.price)} a {purchase.price_unit}, read {_date(plan)}: {source.name} {source.url}"))
    console.print()
    console.print(_bill(plan))
    total = plan.bill.total
    console.print(Text(f"Total {total.p50} {total.currency} (P10 {total.p10}, P90 {total.p90}); fees known: {plan.bill.fee_coverage:.0%}"))
    console.print()
    hours = [(name, getattr(plan.timeline_hours, name)) for name in type(plan.timeline_hours).model_fields if name != "total"]
    console.print(table([("hours", True), ("phase", False)], [(f"{value:,.2f}", name.replace("_", " ")) for name, value in hours]))
    spread = plan.timeline_hours.total
    console.print(Text(f"Total {spread.p50:,.2f} h (P10 {spread.p10:,.2f}, P90 {spread.p90:,.2f}); {number(plan.gpu_hours)} GPU-hours"))
    console.print()
    chosen = ", ".join(f"{name} {value}" for name, value in plan.configuration.model_dump().items())
    console.print(Text(f"Configuration: {chosen}"))
    parts = ", ".join(f"{name} {number(value)}" for name, value in memory.breakdown_gb.items())
    console.print(
        Text(f"Memory: {memory.verdict}, {number(memory.needed_gb_per_gpu)} of {number(memory.available_gb_per_gpu)} GB a GPU ({parts})")
    )
    factors = ", ".join(f"{name} {value:.2f}" for name, value in speed.factors.items())
    rate = f"{number(speed.units_per_second)} {speed.unit}s/s, {number(speed.seconds_per_step)} s a step"
    console.print(Text(f"Speed ({speed.basis}): {rate}, limited by {speed.bottleneck}; {factors}"))
    console.print()
    for scenario in plan.scenarios:
        console.print(Text(f"{scenario.name.replace('_', ' ')}: {number(scenario.hours)} h, {_money(scenario.cost)}"))
    for warning in plan.warnings:
        amount = f" [{_money(warning.amount)}]" if warning.amount else ""
        console.print(Text(f"{_SEVERITY[warning.severity]} {warning.text}{amount}"))
    for reason in plan.why:
        console.print(Text(f"- {reason}"))


def _headline(answer: RecommendationOut) -> str:
    job = answer.workload
    size = f"{number(job.parameters_b)}B parameters, " if job.parameters_b else ""
    work = f"{number(job.tokens_b)}B tokens" if job.tokens_b else f"{number(job.steps)} steps"
    oldest = "no dated price used" if answer.oldest_price_age_hours is None else f"oldest price used {age(answer.oldest_price_age_hours)}"
    market = f"market as of {answer.as_of:%Y-%m-%d %H:%M} UTC, {oldest}"
    return f"{job.name or 'workload'}: {job.method} {job.model or ''}, {size}{work}; {answer.candidates:,} candidate plans; {market}"


def _readings(answer: RecommendationOut) -> Iterator[str]:
    for reading in answer.read_as:
        yield f"{reading.pointer}: {reading.given} was read as {', '.join(reading.read_as)}"


def _ranking(answer: RecommendationOut) -> RenderableType:
    columns = [("#", True), ("provider", False), ("GPUs", False), ("option", False), ("hours (P10–P90)", True)]
    columns += [(f"{answer.currency} (P10–P90)", True), ("memory", False), ("age", True)]
    return table(columns, [_row(plan) for plan in answer.plans])


def _row(plan: PlanOut) -> tuple[str, ...]:
    hours, total = plan.timeline_hours.total, plan.bill.total
    return (
        str(plan.rank),
        f"{plan.offer.provider}/{plan.offer.region}",
        f"{plan.gpus}×{plan.offer.gpu}",
        _option(plan),
        f"{number(hours.p50)} ({number(hours.p10)}–{number(hours.p90)})",
        f"{_whole(total.p50)} ({_whole(total.p10)}–{_whole(total.p90)})",
        plan.memory.verdict,
        age(plan.price_source.age_hours),
    )


def _whole(amount: str) -> str:
    value = float(amount)
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"  # noqa: PLR2004 - cents matter below a hundred


def _money(money: MoneyOut) -> str:
    return f"{money.amount} {money.currency}"


def _option(plan: PlanOut) -> str:
    return plan.purchase.option if plan.purchase.term is None else f"{plan.purchase.option} {plan.purchase.term}"


def _date(plan: PlanOut) -> str:
    observed = plan.price_source.observed_at
    return "on an unknown date" if observed is None else f"{observed:%Y-%m-%d}"


def _remarks(answer: RecommendationOut) -> Iterator[str]:
    best = answer.plans[0]
    for reason in best.why:
        yield f"- {reason}"
    for warning in best.warnings:
        amount = f" [{_money(warning.amount)}]" if warning.amount else ""
        yield f"{_SEVERITY[warning.severity]} {warning.text}{amount}"
    if answer.backup is not None:
        spare = next((plan for plan in answer.plans if plan.rank == answer.backup), None)
        place = f" {spare.offer.provider}/{spare.offer.region}" if spare else ""
        yield f"Back-up: plan {answer.backup}{place}"
    if answer.mixed_strategy is not None:
        yield answer.mixed_strategy.text
    if answer.trial_plan is not None:
        yield f"First try plan {answer.trial_plan.plan} for {answer.trial_plan.minutes} minutes: {_money(answer.trial_plan.cost)}"


def _rejected(answer: RecommendationOut) -> str:
    counts = ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in answer.rejected.counts.items() if count)
    lines = [f"Left out: {counts or 'nothing'}"]
    if not answer.plans:
        lines.insert(0, "No plan is left.")
        lines += [f"- {example.reason}: {example.detail} {example.smallest_change}" for example in answer.rejected.examples]
    return "\n".join(lines)


def _bill(plan: PlanOut) -> RenderableType:
    rows = []
    for line in plan.bill.lines:
        price = "" if line.unit_price is None else _money(line.unit_price)
        spread = f" ({line.low.amount}–{line.high.amount})" if line.low and line.high else ""
        rows.append((f"{line.amount.amount}{spread}", line.label, f"{line.quantity} {line.unit}", price, line.status))
    columns = [(plan.bill.total.currency, True), ("line", False), ("quantity", True), ("unit price", True), ("status", False)]
    return Group(table(columns, rows))
