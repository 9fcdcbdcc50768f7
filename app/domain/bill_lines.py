"""The bill of one plan in words: each column of ``bill_columns`` becomes a line with quantity, unit price, status and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from app.domain.answer import Amount, BillLine
from app.domain.assumptions import Assumptions
from app.domain.bill import MACHINE_LINES, MachineHours, cents, engineer_hours, storage_hours
from app.domain.fees import ASSUMED, STATUSES, UNKNOWN, PriceList
from app.domain.hardware import Floats
from app.domain.job_fees import FEE_LINES, HOURLY_FEE_LINES, JobFees
from app.domain.market import Fee, Offer, Tariff
from app.domain.market_columns import Market
from app.domain.market_terms import MarketTerms
from app.domain.money import NANO, Money
from app.domain.plan_terms import PlanTerms
from app.domain.texts import Texts
from app.domain.timeline import PhaseColumns
from app.domain.units import HOURS_PER_DAY
from app.domain.workload import TrainingJob

_UNITS = {"egress_internet": "GB", "dataset_transfer": "GB", "ingress_internet": "GB", "public_ipv4": "address_month"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePlan:
    """Everything about one plan that its words are made of; every column has one row."""

    job: TrainingJob
    market: Market
    market_terms: MarketTerms
    fees: JobFees
    terms: PlanTerms
    used: PhaseColumns
    machines: MachineHours
    lines: Mapping[str, Floats]
    offer: Offer
    tariff: Tariff
    offer_row: int
    tariff_row: int
    assumptions: Assumptions
    texts: Texts
    currency: str

    def amount(self, value: float) -> Amount:
        """Projected money, rounded here and nowhere else."""
        return Amount(float(cents(np.array([value]))[0]) / 100.0, self.currency)

    @property
    def node_price(self) -> Money:
        """Price of one node and hour as published: exact for hourly tariffs, else the share of the unit, to the nano."""
        hours = float(self.market.tariffs.unit_hours[self.tariff_row])
        amount = self.tariff.amount
        return amount if hours == 1.0 else Money(round(Decimal(amount.nano) / Decimal(hours)), amount.currency)


def number(value: float, digits: int = 2) -> str:
    """A figure for a sentence: thousands separated, no trailing zeros."""
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bill_lines(plan: OnePlan) -> tuple[BillLine, ...]:
    """The lines that say something: charged ones, fees even when free or unknown, and what a commitment includes."""
    machines = [line for name in MACHINE_LINES if (line := _machine_line(plan, name)) is not None]
    fees = [_fee_line(plan, name) for name in FEE_LINES if _relevant(plan, name)]
    return (*machines, *fees, *_people_lines(plan))


def fee_range(plan: OnePlan, name: str) -> tuple[float, float, float]:
    """Low, middle and high of one fee line for this plan."""
    line = plan.fees.line(name, int(plan.terms.nodes[0]))
    place = int(plan.terms.place[0])
    middle = float(plan.lines[name][0])
    low, mid, high = (float(values[place]) for values in (line.amounts.low, line.amounts.mid, line.amounts.high))
    times = float(storage_hours(plan.used)[0]) if name in HOURLY_FEE_LINES else 1.0
    if name == "run_storage":
        times *= 1.0 + (float(plan.terms.nodes[0]) - 1.0) * plan.fees.node_share
    return middle + (low - mid) * times, middle, middle + (high - mid) * times


def fee_status(plan: OnePlan, name: str) -> int:
    """Index into STATUSES of one fee line of this plan."""
    return int(plan.fees.line(name, int(plan.terms.nodes[0])).amounts.status[int(plan.terms.place[0])])


def _relevant(plan: OnePlan, name: str) -> bool:
    return bool(plan.fees.line(name, int(plan.terms.nodes[0])).relevant[int(plan.terms.place[0])])


def _machine_line(plan: OnePlan, name: str) -> BillLine | None:
    hours = {
        "compute": plan.machines.compute,
        "failed_attempts": plan.used.failed,
        "interruptions": plan.used.lost_rented,
        "trial_run": plan.used.trial,
    }[name]
    committed = bool(plan.machines.committed[0])
    amount = plan.amount(float(plan.lines[name][0]))
    said = number(float(hours[0]))
    nodes, sku = number(float(plan.terms.billed_nodes[0])), plan.offer.sku
    if name == "compute" and committed:
        label = plan.texts.say("bill.compute_committed", hours=said, nodes=nodes, sku=sku, used=number(float(plan.used.rented[0])))
    else:
        label = plan.texts.say(f"bill.{name}", hours=said, nodes=nodes, sku=sku)
    included = committed and name != "compute"
    if (included and said == "0") or (not included and amount.value == 0.0):
        return None
    return BillLine(
        kind=name,
        label=plan.texts.say("bill.in_commitment", label=label) if included else label,
        quantity=float(hours[0] * plan.terms.billed_nodes[0]),
        unit="node_hour",
        unit_price=None if included else plan.node_price,
        amount=amount,
        status="included" if included else "known",
        source_url=plan.tariff.source.url,
        observed_at=plan.tariff.source.observed_at,
        evidence=plan.tariff.source.evidence,
    )


def _fee_line(plan: OnePlan, name: str) -> BillLine:
    line = plan.fees.line(name, int(plan.terms.nodes[0]))
    status = fee_status(plan, name)
    low, _, high = fee_range(plan, name)
    uncertain = status in {ASSUMED, UNKNOWN}
    used = _price_list(plan, name)
    quantity = float(line.quantity)
    if name in HOURLY_FEE_LINES:
        quantity *= float(storage_hours(plan.used)[0])
    if name == "run_storage":
        quantity *= 1.0 + (float(plan.terms.nodes[0]) - 1.0) * plan.fees.node_share
    source = None if used is None else used.fee.source
    return BillLine(
        kind=name,
        label=_fee_label(plan, name, used, status),
        quantity=quantity,
        unit=_UNITS.get(name, "GB_month"),
        unit_price=None if used is None else _unit_price(used, plan.assumptions),
        amount=plan.amount(float(plan.lines[name][0])),
        status=STATUSES[status],
        low=plan.amount(low) if uncertain else None,
        high=plan.amount(high) if uncertain else None,
        source_url=None if source is None else source.url,
        observed_at=None if source is None else source.observed_at,
        evidence=None if source is None else source.evidence,
    )


def _fee_label(plan: OnePlan, name: str, used: PriceList | None, status: int) -> str:
    amounts = plan.fees.volumes
    if used is None:
        tariff = plan.texts.say("bill.tariff_unknown")
    elif status == ASSUMED:
        tariff = plan.texts.say("bill.tariff_elsewhere", sku=used.fee.sku)
    elif status == UNKNOWN:
        tariff = plan.texts.say("bill.tariff_unknown_above", sku=used.fee.sku, gb=number(used.known_to))
    else:
        tariff = used.fee.sku
    return plan.texts.say(
        f"bill.{name}",
        tariff=tariff,
        days=number(plan.job.spec.data.keep_storage_days, 1),
        gb=number(amounts.download if name == "egress_internet" else amounts.dataset),
        home=home_of(plan),
    )


def home_of(plan: OnePlan) -> str:
    """Where the data set lives, in words."""
    place = plan.fees.data_place
    return "" if place is None else " ".join(part for part in place if part)


def _price_list(plan: OnePlan, name: str) -> PriceList | None:
    place = int(plan.terms.place[0])
    kind = plan.fees.line(name, int(plan.terms.nodes[0])).kind[place]
    book = plan.market_terms.fees
    if name == "dataset_transfer" and plan.fees.data_place is not None:
        return book.price_list_at(kind, *plan.fees.data_place)
    return book.price_list(kind, place)


def _unit_price(used: PriceList, assumptions: Assumptions) -> Money | None:
    """The published price, per month where the line counts months; the dearest tier of several."""
    fee: Fee = used.fee
    if fee.amount is None:
        return None
    month = assumptions.storage_month_hours.value
    span = fee.unit.rpartition("_")[2]
    times = {"hour": month, "day": month / HOURS_PER_DAY}.get(span, 1.0)
    return Money(min(round(fee.amount.nano * times), NANO * NANO), fee.amount.currency)


def _people_lines(plan: OnePlan) -> list[BillLine]:
    lines: list[BillLine] = []
    if plan.fees.engineer_rate > 0.0:
        hours = float(engineer_hours(plan.used, plan.assumptions)[0])
        label = plan.texts.say("bill.engineer_time", hours=number(hours))
        lines.append(_people_line(plan, "engineer_time", label, hours, "hour", plan.fees.engineer_price))
    if plan.fees.delay_rate_per_hour > 0.0:
        days = float(plan.used.total[0]) / HOURS_PER_DAY
        label = plan.texts.say("bill.delay", days=number(days))
        lines.append(_people_line(plan, "delay", label, days, "day", plan.fees.day_price))
    return lines


def _people_line(plan: OnePlan, kind: str, label: str, quantity: float, unit: str, price: Money | None) -> BillLine:
    return BillLine(
        kind=kind,
        label=label,
        quantity=quantity,
        unit=unit,
        unit_price=price,
        amount=plan.amount(float(plan.lines[kind][0])),
        status="known",
    )
