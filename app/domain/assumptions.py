"""Planning constants: what no price list and no measurement of the caller tells, each with its unit and its source.

The figures stand in app/data/assumptions.toml and are read by app.catalog.assumptions; the domain only names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One constant. ``source`` is an address, the name of a publication, or the words "planning assumption of ours: …"."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class FigureRange:
    """A range of one constant: ``low`` ≤ ``mid`` ≤ ``high``."""

    low: float
    mid: float
    high: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRow:
    """How far prices moved: the 10th and 90th percentile of the relative change over ``days``.

    Attributes:
        group: "hyperscaler", "gpu_cloud" or "marketplace".
        option: a purchase option.
        gpu_class: "current" (H100 and newer), "older" (other data-centre cards) or "consumer".
        days: the span over which the change was measured.
        p10: relative change at the 10th percentile, such as -0.05.
        p90: relative change at the 90th percentile.
        source: where it was measured.
    """

    group: str
    option: str
    gpu_class: str
    days: float
    p10: float
    p90: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Every planning constant of the time line, the bill and the risk. Maps are keyed by provider kind, provider or fee kind."""

    # time line
    goodput: Figure
    provisioning_hours: Mapping[str, Figure]
    provisioning_multi_node_extra_hours: Figure
    capacity_block_start_wait_hours: Figure
    quota_wait_hours: Mapping[str, Figure]
    quota_free_gpus: Mapping[str, Figure]
    setup_single_node_hours: Figure
    setup_multi_node_extra_hours: Figure
    trial_hours: Figure
    # data and checkpoints
    bytes_per_token: Figure
    dataset_default_gb: Figure
    shared_read_gb_per_s_per_node: Figure
    shared_small_files_per_s_per_node: Figure
    nvme_read_gb_per_s_per_node: Figure
    nvme_small_files_per_s_per_node: Figure
    checkpoint_write_gb_per_s_per_node: Figure
    checkpoint_write_cap_gb_per_s: Figure
    checkpoint_fixed_seconds: Figure
    checkpoint_interval_minimum_minutes: Figure
    checkpoint_interval_maximum_minutes: Figure
    same_place_link_gbit_s: Figure
    between_clouds_link_gbit_s: Figure
    # interruptions
    hardware_failures_per_node_hour: Figure
    spot_interruptions_by_provider: Mapping[str, Figure]
    spot_interruptions_by_kind: Mapping[str, Figure]
    spot_node_exponent: Figure
    spot_capacity_wait_hours: Figure
    spot_notice_minutes: Mapping[str, Figure]
    restart_hours: Figure
    interruption_rate_sigma: Figure
    # bill
    unknown_billing_step_seconds: Figure
    unknown_billing_minimum_seconds: Figure
    capacity_block_days_step_after: Figure
    storage_month_hours: Figure
    system_disk_gb: Figure
    image_gb: Figure
    public_addresses: Figure
    engineer_share_of_run: Figure
    other_region_low_factor: Figure
    other_region_high_factor: Figure
    fee_ranges_usd: Mapping[str, FigureRange]
    # prices and risk
    stale_after_days: Mapping[str, Figure]
    unknown_price_age_days: Figure
    drift_minimum_sigma: Figure
    drift: tuple[DriftRow, ...]
    draws: Figure
    slower_factor: Figure
