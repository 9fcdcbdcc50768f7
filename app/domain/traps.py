"""Traps of one plan by name, each with its amount in this plan where it has one (R30)."""

from __future__ import annotations

from typing import Literal

from app.domain.answer import Amount, PlanWarning
from app.domain.bill import MACHINE_LINES
from app.domain.bill_lines import OnePlan, fee_range, fee_status, home_of, number
from app.domain.fees import UNKNOWN
from app.domain.hardware import INTRA_LINKS
from app.domain.job_fees import FEE_LINES
from app.domain.quota import MUST_ASK, UNKNOWN_MUST_ASK
from app.domain.units import HOURS_PER_DAY

Severity = Literal["info", "warn", "risk"]

_WASTE_WORTH_A_WARNING = 0.01
_PCIE = INTRA_LINKS.index("pcie")


def plan_warnings(plan: OnePlan, *, tight: bool) -> tuple[PlanWarning, ...]:
    """All warnings that hold for ``plan``, those about the most money first, then by severity and code."""
    found = [
        *_stopping(plan),
        *_egress(plan),
        *_minimum_period(plan),
        *_spot(plan),
        *_transfer(plan),
        *_links(plan),
        *_unknown_fees(plan),
        *_age(plan),
        *_quota(plan),
        *_terms(plan),
    ]
    if tight:
        found.append(_warning(plan, "tight_memory", "risk", None))
    order = {"risk": 0, "warn": 1, "info": 2}
    return tuple(sorted(found, key=lambda entry: (order[entry.severity], -(entry.amount.value if entry.amount else 0.0), entry.code)))


def stopped_machine_is_billed(plan: OnePlan) -> bool:
    """The provider states that a stopped machine costs as much as a running one: its fee is by the machine's hour and carries no figure."""
    fees = plan.market.fees
    return any(
        fee.amount is None and fee.unit == "machine_hour"
        for fee in fees
        if fee.provider == plan.offer.provider and fee.kind == "stopped_disk"
    )


def _warning(plan: OnePlan, code: str, severity: Severity, amount: Amount | None, **values: object) -> PlanWarning:
    return PlanWarning(code=code, severity=severity, text=plan.texts.say(f"warning.{code}", **values), amount=amount)


def _machines(plan: OnePlan) -> float:
    return sum(float(plan.lines[name][0]) for name in MACHINE_LINES)


def _node_rate(plan: OnePlan) -> float:
    return float(plan.terms.price_per_node_hour[0] * plan.terms.billed_nodes[0])


def _stopping(plan: OnePlan) -> list[PlanWarning]:
    """What it costs to stop the machines instead of deleting them, for as long as storage is to be kept."""
    days = plan.job.spec.data.keep_storage_days
    if days <= 0.0 or bool(plan.machines.committed[0]):
        return []
    said = number(days, 1)
    if stopped_machine_is_billed(plan):
        amount = plan.amount(_node_rate(plan) * days * HOURS_PER_DAY)
        text = plan.texts.say("warning.stopped_machine_still_billed", days=said)
        return [PlanWarning(code="stopped_disk_still_billed", severity="risk", text=text, amount=amount)]
    place, nodes = int(plan.terms.place[0]), float(plan.terms.nodes[0])
    gb = plan.fees.volumes.run_gb + (nodes - 1.0) * plan.fees.volumes.system_disk
    book = plan.market_terms.fees
    listed = book.price_list("stopped_disk", place) or book.price_list("block_storage", place)
    monthly = listed.tiers.cost(gb) if listed is not None else float(book.amounts("stopped_disk", gb).mid[place])
    amount = plan.amount(monthly * plan.fees.volumes.kept_months)
    return [_warning(plan, "stopped_disk_still_billed", "warn", amount, gb=number(gb), days=said)] if amount.value > 0.0 else []


def _egress(plan: OnePlan) -> list[PlanWarning]:
    amount = plan.amount(float(plan.lines["egress_internet"][0]))
    if amount.value <= 0.0:
        return []
    return [_warning(plan, "egress_at_the_end", "info", amount, gb=number(plan.fees.volumes.download))]


def _minimum_period(plan: OnePlan) -> list[PlanWarning]:
    paid, used = float(plan.machines.paid[0]), float(plan.used.rented[0])
    wasted = _node_rate(plan) * (paid - used)
    if wasted <= _WASTE_WORTH_A_WARNING * _machines(plan):
        return []
    severity: Severity = "risk" if paid > 2.0 * used else "warn"
    return [_warning(plan, "minimum_period", severity, plan.amount(wasted), paid=number(paid), used=number(used))]


def _spot(plan: OnePlan) -> list[PlanWarning]:
    if not bool(plan.terms.spot[0]):
        return []
    amount = plan.amount(_node_rate(plan) * float(plan.used.lost_rented[0]))
    count = number(float(plan.used.interruptions[0]), 1)
    notice = plan.assumptions.spot_notice_minutes.get(plan.offer.provider)
    if notice is None:
        text = plan.texts.say("warning.spot_reclaim_notice_unknown", count=count)
    else:
        text = plan.texts.say("warning.spot_reclaim_notice", count=count, minutes=number(notice.value, 1))
    found = [PlanWarning(code="spot_reclaim_notice", severity="warn", text=text, amount=amount)]
    provider = int(plan.terms.provider[0])
    if not bool(plan.market_terms.spot_rate_own[provider]):
        rate = number(float(plan.market_terms.spot_rate[provider]), 3)
        found.append(_warning(plan, "spot_rate_assumed", "info", None, rate=rate))
    return found


def _transfer(plan: OnePlan) -> list[PlanWarning]:
    line = plan.fees.line("dataset_transfer", int(plan.terms.nodes[0]))
    if not bool(line.relevant[int(plan.terms.place[0])]):
        return []
    amount = plan.amount(float(plan.lines["dataset_transfer"][0]))
    return [_warning(plan, "cross_region_traffic", "warn", amount, home=home_of(plan), gb=number(plan.fees.volumes.dataset))]


def _links(plan: OnePlan) -> list[PlanWarning]:
    offers = plan.market.offers
    gpus = int(offers.gpus_per_node[plan.offer_row])
    if gpus > 1 and int(offers.link[plan.offer_row]) == _PCIE:
        return [_warning(plan, "pcie_only_multi_gpu", "warn", None, gpus=gpus)]
    return []


def _unknown_fees(plan: OnePlan) -> list[PlanWarning]:
    """How high the fees could go that are not published here (those of another region of the same provider are not counted)."""
    place, nodes = int(plan.terms.place[0]), int(plan.terms.nodes[0])
    unknown = [name for name in FEE_LINES if bool(plan.fees.line(name, nodes).relevant[place]) and fee_status(plan, name) == UNKNOWN]
    if not unknown:
        return []
    highest = sum(fee_range(plan, name)[2] for name in unknown)
    return [_warning(plan, "unknown_fees", "warn", plan.amount(highest), count=len(unknown))]


def _age(plan: OnePlan) -> list[PlanWarning]:
    drift = plan.market_terms.drift
    if not bool(drift.dated[plan.tariff_row]):
        return [_warning(plan, "price_date_unknown", "warn", None)]
    age_days = float(drift.age_hours[plan.tariff_row]) / HOURS_PER_DAY
    if age_days > plan.assumptions.stale_after_days[plan.tariff.option].value:
        return [_warning(plan, "stale_price", "warn", None, days=number(age_days, 0))]
    return []


def _quota(plan: OnePlan) -> list[PlanWarning]:
    """Waiting for quota; its amount is what the caller says the days are worth, where it counts."""
    state, wait = int(plan.terms.quota_state[0]), float(plan.terms.quota_wait[0])
    gpus = int(plan.terms.nodes[0]) * int(plan.market.offers.gpus_per_node[plan.offer_row])
    delay = plan.fees.delay_rate_per_hour * wait
    amount = plan.amount(delay) if delay > 0.0 else None
    if state == MUST_ASK:
        return [_warning(plan, "quota_needed", "warn", amount, gpus=gpus, hours=number(wait))]
    if state == UNKNOWN_MUST_ASK and wait > 0.0:
        text = plan.texts.say("warning.quota_unknown", hours=number(wait))
        return [PlanWarning(code="quota_needed", severity="warn", text=text, amount=amount)]
    return []


def _terms(plan: OnePlan) -> list[PlanWarning]:
    found: list[PlanWarning] = []
    if plan.tariff.upfront == "all":
        found.append(_warning(plan, "upfront_payment", "warn", plan.amount(_machines(plan))))
    if plan.offer.upstream is not None:
        found.append(_warning(plan, "broker_upstream", "info", None, upstream=plan.offer.upstream))
    option = int(plan.market.tariffs.option[plan.tariff_row])
    if not bool(plan.machines.committed[0]) and not bool(plan.market_terms.billing.known[int(plan.terms.provider[0]), option]):
        found.append(_warning(plan, "billing_rule_unknown", "info", None))
    return found
