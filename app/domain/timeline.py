"""Time to target (R20): every phase from asking for quota to having the results at home."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from app.domain.hardware import Floats, Ints
from app.domain.interruptions import wall_hours
from app.domain.plan_terms import PlanTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseColumns:
    """Hours per row. The eight phases of an answer's time line sum to ``total``.

    ``rented`` is what machines are metered for: set-up, stepping, checkpoints, lost work, restarts, and transfers where they need the
    machine. ``trial`` lies inside ``setup``; ``failed`` (attempts that led nowhere) inside ``compute`` and ``checkpoint_stalls``;
    ``lost_rented`` inside ``lost``, whose rest is waiting for a new machine.
    """

    quota_wait: Floats
    provisioning: Floats
    setup: Floats
    upload: Floats
    compute: Floats
    checkpoint_stalls: Floats
    lost: Floats
    download: Floats
    total: Floats
    rented: Floats
    trial: Floats
    failed: Floats
    lost_rented: Floats
    interruptions: Floats

    def take(self, index: Ints) -> PhaseColumns:
        """The rows at ``index``."""
        return PhaseColumns(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


def phases(
    terms: PlanTerms,
    attempts: Floats | float,
    *,
    slowness: Floats | float = 1.0,
    interruptions: Floats | None = None,
    extra_interruptions: float = 0.0,
) -> PhaseColumns:
    """The phases when stepping takes ``slowness`` times as long as estimated and the work is done ``attempts`` times over.

    ``interruptions`` replaces the expected number of interruptions by a drawn one, each losing what it loses on average.
    ``extra_interruptions`` come on top, each at the worst moment: just before the next checkpoint.
    """
    one_attempt = terms.work * slowness
    mtbf = 1.0 / terms.interruptions_per_hour
    segment = np.minimum(terms.interval, one_attempt)
    stalls = terms.checkpoint * (one_attempt / segment)
    wall = wall_hours(one_attempt, terms.interval, terms.checkpoint, terms.restart, mtbf)
    expected = wall * terms.interruptions_per_hour
    lost_each = (wall - one_attempt - stalls) / expected
    count = expected * attempts if interruptions is None else interruptions
    lost_rented = count * lost_each
    waiting = count * terms.capacity_wait
    if extra_interruptions:
        lost_rented = lost_rented + extra_interruptions * (segment + terms.restart)
        waiting = waiting + extra_interruptions * terms.capacity_wait
    compute, all_stalls = one_attempt * attempts, stalls * attempts
    trial = np.minimum(terms.trial, one_attempt)
    setup = terms.preparation + trial
    lost = lost_rented + waiting
    transfers = np.where(terms.transfers_rented, terms.upload + terms.download, 0.0)
    rented = setup + compute + all_stalls + lost_rented + transfers
    before = terms.quota_wait + terms.provisioning + terms.upload
    return PhaseColumns(
        quota_wait=terms.quota_wait,
        provisioning=terms.provisioning,
        setup=setup,
        upload=terms.upload,
        compute=compute,
        checkpoint_stalls=all_stalls,
        lost=lost,
        download=terms.download,
        total=before + setup + compute + all_stalls + lost + terms.download,
        rented=rented,
        trial=trial,
        failed=(compute + all_stalls) - (one_attempt + stalls),
        lost_rented=lost_rented,
        interruptions=count + extra_interruptions,
    )
