"""Failures and reclaims: how often, how much work is lost, and how often to write a checkpoint.

Young 1974 and Daly 2006 (doi.org/10.1016/j.future.2004.11.016); measured rates come with the assumptions.
"""

from __future__ import annotations

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market_columns import Market

_LARGEST_EXPONENT = 50.0
"""e^50 hours is as good as never; beyond it floats only overflow."""


def spot_rates(market: Market, assumptions: Assumptions) -> tuple[Floats, Bools]:
    """Interruptions per spot node-hour by provider, and whether the rate is the provider's own (else: of its kind)."""
    own = assumptions.spot_interruptions_by_provider
    kinds = [market.provider_kinds.get(provider, "other") for provider in market.providers]
    rates = [
        own[provider].value if provider in own else assumptions.spot_interruptions_by_kind[kind].value
        for provider, kind in zip(market.providers, kinds, strict=True)
    ]
    return np.array(rates, dtype=np.float64), np.array([provider in own for provider in market.providers], dtype=np.bool_)


def interruptions_per_hour(nodes: Ints, spot_rate: Floats, assumptions: Assumptions) -> Floats:
    """Interruptions of a run an hour. Hardware fails on every node alike; reclaims come in bursts, so they grow slower than the node count.

    ``spot_rate`` is per node-hour, 0 for plans that are not spot.
    """
    grown = np.power(nodes, assumptions.spot_node_exponent.value, dtype=np.float64)
    return nodes * assumptions.hardware_failures_per_node_hour.value + spot_rate * grown


def daly_interval_hours(checkpoint_hours: Floats, mtbf_hours: Floats) -> Floats:
    """Time of work between checkpoints that loses least: Daly's higher-order optimum, and the mean time between failures where C ≥ 2 M."""
    ratio = checkpoint_hours / (2.0 * mtbf_hours)
    optimum = np.sqrt(2.0 * checkpoint_hours * mtbf_hours) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - checkpoint_hours
    return np.where(ratio < 1.0, optimum, mtbf_hours)


def wall_hours(work_hours: Floats, interval_hours: Floats, checkpoint_hours: Floats, restart_hours: float, mtbf_hours: Floats) -> Floats:
    """Expected hours of machines until ``work_hours`` are done, with exponential failures that may also hit a restart (Daly 2006, eq. 13).

    Each segment of ``interval_hours`` of work and one checkpoint is repeated until it passes without a failure.
    """
    segment = np.minimum(interval_hours, work_hours)
    exponent = np.minimum((segment + checkpoint_hours) / mtbf_hours, _LARGEST_EXPONENT)
    one_segment = mtbf_hours * np.exp(np.minimum(restart_hours / mtbf_hours, _LARGEST_EXPONENT)) * np.expm1(exponent)
    return one_segment * work_hours / segment
