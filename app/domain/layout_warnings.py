"""Traps of a plan that lie in its layout, not in its bill: an assumed network, host memory nobody states, another precision."""

from __future__ import annotations

from app.domain.answer import PlanWarning
from app.domain.explain import figure
from app.domain.screening import Screened
from app.domain.texts import Texts


def layout_warnings(screened: Screened, row: int, texts: Texts) -> tuple[PlanWarning, ...]:
    """Warnings of row ``row`` of ``screened.plans``; none of them has an amount, since what they hide is a time."""
    found, place = screened.found, screened.found_row(row)
    warnings: list[PlanWarning] = []

    def warn(code: str, **values: object) -> None:
        warnings.append(PlanWarning(code=code, severity="warn", text=texts.say(f"warning.{code}", **values), amount=None))

    nodes = int(screened.plans.nodes[row])
    if nodes > 1 and found.speed.network_assumed[place]:
        warn("network_assumed", nodes=nodes)
    if found.memory.host_unknown[place]:
        warn("host_memory_unknown", ram=figure(float(found.memory.host_ram_gb[place])))
    used = found.configuration.at(place).precision
    if used != screened.job.precision:
        offers = screened.market.offers
        gpu = screened.market.gpus[offers.gpu[screened.plans.offer[row]]].name
        warn("precision_replaced", gpu=gpu, asked=screened.job.precision, used=used)
    return tuple(warnings)
