"""Cost to target (R21): every line of the bill, in columns over all plans. The lines of one plan are these columns at one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.billing import metered_hours, whole_period_hours
from app.domain.hardware import Bools, Floats
from app.domain.job_fees import FEE_LINES, HOURLY_FEE_LINES, JobFees
from app.domain.plan_terms import PlanTerms
from app.domain.timeline import PhaseColumns

MACHINE_LINES = ("compute", "failed_attempts", "interruptions", "trial_run")
PEOPLE_LINES = ("engineer_time", "delay")
LINES = (*MACHINE_LINES, *FEE_LINES, *PEOPLE_LINES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineHours:
    """Hours a node on the bill. ``paid`` is all of it; the named parts are carved out of metered plans and included in committed ones."""

    paid: Floats
    compute: Floats
    failed: Floats
    lost: Floats
    trial: Floats
    committed: Bools


def machine_hours(terms: PlanTerms, used: PhaseColumns, assumptions: Assumptions) -> MachineHours:
    """What of the rented hours is paid: metered by step and minimum, or in whole periods of the commitment.

    A run that is restarted keeps its machines; each *failed attempt* and the trial are parts of the same rental.
    """
    paid, committed = paid_hours(terms, used.rented, assumptions)
    nothing = np.zeros(len(terms))
    failed = np.where(committed, nothing, used.failed)
    lost = np.where(committed, nothing, used.lost_rented)
    trial = np.where(committed, nothing, used.trial)
    return MachineHours(paid=paid, compute=paid - failed - lost - trial, failed=failed, lost=lost, trial=trial, committed=committed)


def cents(amounts: Floats) -> Floats:
    """Whole hundredths of ``amounts``, a half to the even one: the one rounding of projected money, in columns and for one line alike."""
    return np.rint(amounts * 100.0)


def shown_total(lines: Mapping[str, Floats]) -> Floats:
    """The bill as it is shown: the sum of its lines, each rounded to 0.01."""
    total = np.zeros(len(next(iter(lines.values()))))
    for amount in lines.values():
        total += cents(amount)
    return total / 100.0


def paid_hours(terms: PlanTerms, rented: Floats, assumptions: Assumptions) -> tuple[Floats, Bools]:
    """Hours on the bill of each node for ``rented`` hours of use, and which rows are commitments."""
    committed = terms.period != 0.0
    paid = metered_hours(rented, terms.step_seconds, terms.minimum_seconds)
    rows = np.flatnonzero(committed)
    if len(rows):
        paid[rows] = whole_period_hours(
            rented[rows], terms.period[rows], terms.capacity_block[rows], assumptions.capacity_block_days_step_after.value
        )
    return paid, committed


def bill_columns(
    terms: PlanTerms,
    used: PhaseColumns,
    fees: JobFees,
    assumptions: Assumptions,
    *,
    price_factor: Floats | float = 1.0,
    fee_shift: Floats | float = 0.0,
) -> Mapping[str, Floats]:
    """Every line of LINES per row, in the target currency, unrounded.

    ``price_factor`` multiplies the price of machines; ``fee_shift`` moves assumed fees from their middle (0) to their low (-1) or high (+1)
    end.
    """
    hours = machine_hours(terms, used, assumptions)
    rate = terms.price_per_node_hour * terms.billed_nodes * price_factor
    lines = {
        "compute": rate * hours.compute,
        "failed_attempts": rate * hours.failed,
        "interruptions": rate * hours.lost,
        "trial_run": rate * hours.trial,
    }
    stored = storage_hours(used)
    for name in FEE_LINES:
        amount = fee_per_row(terms, fees, name, fee_shift)
        if name in HOURLY_FEE_LINES:
            amount = amount * stored
        lines[name] = amount
    lines["engineer_time"] = fees.engineer_rate * engineer_hours(used, assumptions)
    lines["delay"] = fees.delay_rate_per_hour * used.total
    return lines


def storage_hours(used: PhaseColumns) -> Floats:
    """Hours that volumes and addresses exist: from the upload to the last result downloaded."""
    return used.total - used.quota_wait - used.provisioning


def engineer_hours(used: PhaseColumns, assumptions: Assumptions) -> Floats:
    """Hours of an engineer: set-up and trial whole, a share of the run."""
    return used.setup + assumptions.engineer_share_of_run.value * (used.compute + used.checkpoint_stalls + used.lost)


def fee_per_row(terms: PlanTerms, fees: JobFees, name: str, shift: Floats | float = 0.0) -> Floats:
    """One fee line per row: once a run, or an hour for HOURLY_FEE_LINES."""
    single, several = fees.single[name].amounts, fees.several[name].amounts
    many = terms.nodes > 1

    def spread(low_one: Floats, low_many: Floats) -> Floats:
        if low_one is low_many:
            return low_one.take(terms.place)
        return np.where(many, low_many.take(terms.place), low_one.take(terms.place))

    amount = spread(single.mid, several.mid)
    if not np.isscalar(shift) or shift:
        up, down = spread(single.high, several.high) - amount, amount - spread(single.low, several.low)
        amount = amount + np.where(np.asarray(shift) > 0.0, up, down) * shift
    if name == "run_storage":
        amount = amount * (1.0 + (terms.nodes - 1) * fees.node_share)
    return amount
