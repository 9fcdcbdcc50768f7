"""What each plan of a job rests on, gathered into columns once; the time line and the bill are worked out from these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from app.domain.assumptions import Assumptions, Figure
from app.domain.hardware import Bools, Floats, Ints
from app.domain.interruptions import daly_interval_hours, interruptions_per_hour
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import Market
from app.domain.market_terms import MarketTerms
from app.domain.quota import quota_state, quota_wait_hours
from app.domain.request import Constraints
from app.domain.storage_io import (
    checkpoint_seconds,
    data_loading_factor,
    dataset_gb,
    download_gb,
    reading_seconds,
    staging_hours,
    transfer_hours,
    user_link_gbit_s,
)
from app.domain.units import SECONDS_PER_HOUR
from app.domain.workload import TrainingJob

SPOT = PURCHASE_OPTIONS.index("spot")
CAPACITY_BLOCK = PURCHASE_OPTIONS.index("capacity_block")
_MINUTES_PER_HOUR = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanColumns:
    """One row a candidate plan: its tariff and offer (rows of the market), nodes, and what physics says of its speed.

    ``units_per_second`` is over all GPUs, ``sigma`` the standard deviation of ln(real speed / estimate).
    """

    tariff: Ints
    offer: Ints
    nodes: Ints
    units_per_second: Floats
    sigma: Floats

    def __len__(self) -> int:
        return len(self.tariff)

    def take(self, index: Ints) -> PlanColumns:
        """The rows at ``index``."""
        return PlanColumns(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTerms:
    """Per row. Hours unless the name says otherwise; prices in the target currency.

    ``work`` is the time of stepping for one successful attempt, without checkpoints and interruptions. ``billed_nodes`` is at least the
    tariff's smallest purchase. ``capacity_wait`` is how long a lost machine is missed, unbilled.
    """

    provider: Ints
    place: Ints
    nodes: Ints
    billed_nodes: Ints
    spot: Bools
    capacity_block: Bools
    price_per_node_hour: Floats
    period: Floats
    step_seconds: Floats
    minimum_seconds: Floats
    drift_up: Floats
    drift_down: Floats
    sigma: Floats
    quota_state: Ints
    quota_wait: Floats
    provisioning: Floats
    preparation: Floats
    upload: Floats
    download: Floats
    transfers_rented: Bools
    loading_factor: Floats
    work: Floats
    checkpoint: Floats
    interval: Floats
    interruptions_per_hour: Floats
    capacity_wait: Floats
    restart: float
    trial: float

    def __len__(self) -> int:
        return len(self.provider)

    def take(self, index: Ints) -> PlanTerms:
        """The rows at ``index``, repeats allowed."""
        columns = {name: value for name in self.__dataclass_fields__ if isinstance(value := getattr(self, name), np.ndarray)}
        return replace(self, **{name: value[index] for name, value in columns.items()})  # type: ignore[arg-type]


def plan_terms(
    job: TrainingJob, market: Market, terms: MarketTerms, plans: PlanColumns, constraints: Constraints, assumptions: Assumptions
) -> PlanTerms:
    """Gather the terms of all plans."""
    offers, tariffs = market.offers, market.tariffs
    provider, option = offers.provider.take(plans.offer), tariffs.option.take(plans.tariff)
    gpus_per_node = offers.gpus_per_node.take(plans.offer)
    place = offers.place.take(plans.offer)
    meter = provider * len(PURCHASE_OPTIONS) + option
    spot = option == SPOT
    block = option == CAPACITY_BLOCK
    state = quota_state(market, terms.quotas, constraints, plans.offer, option, gpus_per_node * plans.nodes, assumptions)
    by_nodes = _NodeTables(job, terms, plans, assumptions)
    nvme = np.nan_to_num(offers.local_nvme_gb) >= max(dataset_gb(job, assumptions), 1.0)
    reading = by_nodes.reading.take(nvme.take(plans.offer) * by_nodes.reading.shape[1] + plans.nodes)
    loading = data_loading_factor(job.units_total, plans.units_per_second, reading)
    work = job.units_total / (plans.units_per_second * loading * assumptions.goodput.value) / SECONDS_PER_HOUR
    rate_cell = np.where(spot, by_nodes.rate_row.take(provider), 0) * by_nodes.rate.shape[1] + plans.nodes
    provisioning = _by_kind(terms.kinds, assumptions.provisioning_hours).take(provider)
    provisioning = provisioning + np.where(plans.nodes > 1, assumptions.provisioning_multi_node_extra_hours.value, 0.0)
    return PlanTerms(
        provider=provider,
        place=place,
        nodes=plans.nodes,
        billed_nodes=np.maximum(plans.nodes, terms.minimum_nodes.take(plans.tariff)),
        spot=spot,
        capacity_block=block,
        price_per_node_hour=terms.price_per_node_hour.take(plans.tariff),
        period=terms.period_hours.take(plans.tariff),
        step_seconds=terms.billing.step_seconds.take(meter),
        minimum_seconds=terms.billing.minimum_seconds.take(meter),
        drift_up=terms.drift.up.take(plans.tariff),
        drift_down=terms.drift.down.take(plans.tariff),
        sigma=plans.sigma,
        quota_state=state,
        quota_wait=quota_wait_hours(market, terms.quotas, state, plans.offer, option, assumptions),
        provisioning=provisioning + np.where(block, assumptions.capacity_block_start_wait_hours.value, 0.0),
        preparation=by_nodes.preparation.take(plans.nodes),
        upload=_upload(job, market, assumptions).take(place),
        download=np.full(len(plans), float(transfer_hours(download_gb(job), user_link_gbit_s(job)))),
        transfers_rented=np.array([kind == "marketplace" for kind in terms.kinds], dtype=np.bool_).take(provider),
        loading_factor=loading,
        work=work,
        checkpoint=by_nodes.checkpoint.take(plans.nodes),
        interval=by_nodes.interval.take(rate_cell),
        interruptions_per_hour=by_nodes.rate.take(rate_cell),
        capacity_wait=np.where(spot, assumptions.spot_capacity_wait_hours.value, provisioning),
        restart=assumptions.restart_hours.value,
        trial=assumptions.trial_hours.value,
    )


class _NodeTables:
    """What depends on the node count alone (and on the rate of reclaims): worked out per count, row 0 unused, then gathered per plan.

    ``reading`` has a row for shared storage and one for local NVMe; ``rate`` and ``interval`` have a row without reclaims and one for each
    distinct rate of reclaims, which ``rate_row`` finds by provider.
    """

    def __init__(self, job: TrainingJob, terms: MarketTerms, plans: PlanColumns, assumptions: Assumptions) -> None:
        nodes = np.maximum(np.arange(int(plans.nodes.max(initial=1)) + 1), 1)
        shared, local = np.zeros(len(nodes), dtype=np.bool_), np.ones(len(nodes), dtype=np.bool_)
        self.reading = np.stack([reading_seconds(job, nodes, kind, assumptions) for kind in (shared, local)])
        self.preparation = _preparation(job, nodes, assumptions)
        self.checkpoint = checkpoint_seconds(job.checkpoint_gb, nodes, assumptions) / SECONDS_PER_HOUR
        rates, row = np.unique(terms.spot_rate, return_inverse=True)
        self.rate_row: Ints = row.reshape(-1).astype(np.int64) + 1
        self.rate = interruptions_per_hour(nodes[None, :], np.concatenate(([0.0], rates))[:, None], assumptions)
        self.interval = _interval(job, np.broadcast_to(self.checkpoint, self.rate.shape), 1.0 / self.rate, assumptions)


def _by_kind(kinds: tuple[str, ...], figures: Mapping[str, Figure]) -> Floats:
    return np.array([figures[kind].value for kind in kinds], dtype=np.float64)


def _preparation(job: TrainingJob, nodes: Ints, assumptions: Assumptions) -> Floats:
    """Set-up of the environment (as given, or by default longer for several nodes) and reading the data set in once."""
    if job.spec.setup_hours is not None:
        base = np.full(len(nodes), job.spec.setup_hours)
    else:
        extra = assumptions.setup_multi_node_extra_hours.value
        base = assumptions.setup_single_node_hours.value + np.where(nodes > 1, extra, 0.0)
    return base + staging_hours(job, nodes, assumptions)


def _upload(job: TrainingJob, market: Market, assumptions: Assumptions) -> Floats:
    """Hours to bring the data set to each place: by a cloud's own line where it lives in one, else by the caller's."""
    data = job.spec.data
    size = dataset_gb(job, assumptions)
    if data.located_provider is None:
        return np.full(len(market.places), float(transfer_hours(size, user_link_gbit_s(job))))
    between = float(transfer_hours(size, assumptions.between_clouds_link_gbit_s.value))
    here = float(transfer_hours(size, assumptions.same_place_link_gbit_s.value))
    return np.array([here if _lives_at(job, place) else between for place in market.places], dtype=np.float64)


def _lives_at(job: TrainingJob, place: tuple[str, str]) -> bool:
    data = job.spec.data
    return place[0] == data.located_provider and data.located_region in {None, place[1]}


def _interval(job: TrainingJob, checkpoint: Floats, mtbf: Floats, assumptions: Assumptions) -> Floats:
    """Hours of work between checkpoints: the caller's own, else Daly's optimum within sensible bounds."""
    given = job.spec.data.checkpoint_interval_minutes
    if given is not None:
        return np.full(checkpoint.shape, given / _MINUTES_PER_HOUR)
    low = assumptions.checkpoint_interval_minimum_minutes.value / _MINUTES_PER_HOUR
    high = assumptions.checkpoint_interval_maximum_minutes.value / _MINUTES_PER_HOUR
    return np.clip(daly_interval_hours(checkpoint, mtbf), low, high)
