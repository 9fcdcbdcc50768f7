"""The fees of one job at every place: volumes are the job's own, so each fee is worked out once per place and only gathered per plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.domain.assumptions import Assumptions
from app.domain.fees import FREE, FeeAmounts, FeeBook
from app.domain.fx import converted
from app.domain.hardware import Bools, Floats, Ints
from app.domain.market import FeeKind
from app.domain.market_columns import Market
from app.domain.money import Money
from app.domain.remembered import Remembered
from app.domain.request import Preferences
from app.domain.storage_io import dataset_gb, download_gb, kept_checkpoints_gb
from app.domain.units import HOURS_PER_DAY
from app.domain.workload import TrainingJob

FEE_LINES = (
    "run_storage", "kept_storage", "snapshot", "image_storage", "egress_internet", "dataset_transfer", "ingress_internet", "public_ipv4",
)  # fmt: skip
"""Lines that rest on a fee. ``dataset_transfer`` is charged by the provider where the data set lives now."""
HOURLY_FEE_LINES = ("run_storage", "public_ipv4")
"""Lines that grow with the hours of the run; the others are sums per run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volumes:
    """GB that the job moves and stores. ``run_gb`` is what one shared volume holds while the run lasts, one system disk included."""

    dataset: float
    kept: float
    run_gb: float
    system_disk: float
    image: float
    download: float
    addresses: float
    kept_months: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeLine:
    """One fee of the job per place: ``amounts`` once a run, or an hour for HOURLY_FEE_LINES. ``kind`` names the tariff used per place."""

    amounts: FeeAmounts
    kind: tuple[FeeKind, ...]
    quantity: float
    relevant: Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFees:
    """All fee lines per place, twice for storage: one node reads block storage, several share files.

    ``node_share`` is the cost of one more node's system disk as a share of the run's storage. The rates are in the answer's currency, the
    prices behind them as the caller gave them.
    """

    volumes: Volumes
    single: Mapping[str, FeeLine]
    several: Mapping[str, FeeLine]
    node_share: float
    engineer_rate: float
    engineer_price: Money | None
    delay_rate_per_hour: float
    day_price: Money | None
    data_place: tuple[str, str | None] | None

    def line(self, name: str, nodes: int) -> FeeLine:
        """The line as it holds for a plan of ``nodes`` nodes."""
        return self.several[name] if nodes > 1 else self.single[name]


def volumes(job: TrainingJob, assumptions: Assumptions) -> Volumes:
    """What the job stores and moves, by the stated defaults where the caller gave nothing."""
    size, kept, disk = dataset_gb(job, assumptions), kept_checkpoints_gb(job), assumptions.system_disk_gb.value
    return Volumes(
        dataset=size,
        kept=kept,
        run_gb=size + kept + disk,
        system_disk=disk,
        image=assumptions.image_gb.value,
        download=download_gb(job),
        addresses=assumptions.public_addresses.value,
        kept_months=job.spec.data.keep_storage_days * HOURS_PER_DAY / assumptions.storage_month_hours.value,
    )


_fees: Remembered[JobFees] = Remembered()


def job_fees(job: TrainingJob, market: Market, book: FeeBook, preferences: Preferences, assumptions: Assumptions) -> JobFees:
    """Every fee of ``job`` at every place of ``market``, worked out once for the same question.

    Raises:
        ExchangeError: the engineer's rate or the value of a day has no rate to the target currency.
    """
    arguments = (job, market, book, preferences, assumptions)
    return _fees.get(arguments, lambda: _work_out(job, market, book, preferences, assumptions))


def _work_out(job: TrainingJob, market: Market, book: FeeBook, preferences: Preferences, assumptions: Assumptions) -> JobFees:
    amount = volumes(job, assumptions)
    month = assumptions.storage_month_hours.value
    everywhere = np.ones(len(market.places), dtype=np.bool_)
    shared: dict[str, FeeLine] = {
        "kept_storage": _kept(book, amount, everywhere),
        "snapshot": _line(book, "snapshot", amount.system_disk, amount.kept_months, everywhere),
        "image_storage": _line(book, "image_storage", amount.image, amount.kept_months, everywhere),
        "egress_internet": _line(book, "egress_internet", amount.download, 1.0, everywhere),
        "dataset_transfer": _transfer(job, market, book, amount),
        "ingress_internet": _line(book, "ingress_internet", amount.dataset, 1.0, _from_outside(job, market)),
        "public_ipv4": _line(book, "public_ipv4", amount.addresses, 1.0 / month, everywhere),
    }
    block = _line(book, "block_storage", amount.run_gb, 1.0 / month, everywhere)
    files = _line(book, "file_storage", amount.run_gb, 1.0 / month, everywhere)
    delay_counts = preferences.objective == "cost_and_delay" and preferences.value_of_a_day is not None
    return JobFees(
        volumes=amount,
        single={"run_storage": block} | shared,
        several={"run_storage": _first_settled(files, block)} | shared,
        node_share=amount.system_disk / amount.run_gb,
        engineer_rate=_rate(preferences.engineer_hourly_rate, market, preferences.currency),
        engineer_price=preferences.engineer_hourly_rate,
        delay_rate_per_hour=_rate(preferences.value_of_a_day, market, preferences.currency) / HOURS_PER_DAY if delay_counts else 0.0,
        day_price=preferences.value_of_a_day if delay_counts else None,
        data_place=_data_place(job),
    )


def _rate(money: Money | None, market: Market, currency: str) -> float:
    return 0.0 if money is None else converted(money, market.rates, currency)


def _line(book: FeeBook, kind: FeeKind, quantity: float, times: float, relevant: Bools) -> FeeLine:
    amounts = book.amounts(kind, quantity)
    used = times * relevant
    scaled = FeeAmounts(low=amounts.low * used, mid=amounts.mid * used, high=amounts.high * used, status=amounts.status)
    return FeeLine(amounts=scaled, kind=(kind,) * len(relevant), quantity=quantity * times, relevant=relevant)


def _first_settled(preferred: FeeLine, fallback: FeeLine) -> FeeLine:
    """``preferred`` where its tariff is known or the fallback's is not, else ``fallback``."""
    take: Bools = preferred.amounts.settled | ~fallback.amounts.settled
    a, b = preferred.amounts, fallback.amounts
    return FeeLine(
        amounts=FeeAmounts(
            low=np.where(take, a.low, b.low),
            mid=np.where(take, a.mid, b.mid),
            high=np.where(take, a.high, b.high),
            status=np.where(take, a.status, b.status),
        ),
        kind=tuple(first if chosen else second for chosen, first, second in zip(take, preferred.kind, fallback.kind, strict=True)),
        quantity=preferred.quantity,
        relevant=preferred.relevant,
    )


def _kept(book: FeeBook, amount: Volumes, everywhere: Bools) -> FeeLine:
    """Data set and checkpoints after the run: in object storage; where its tariff is unknown, on whatever the provider does price."""
    stored = amount.dataset + amount.kept
    kinds: tuple[FeeKind, ...] = ("stopped_disk", "block_storage")
    line = _line(book, "object_storage", stored, amount.kept_months, everywhere)
    best = _first_settled(line, _line(book, "file_storage", stored, amount.kept_months, everywhere))
    for kind in kinds:
        best = _first_settled(best, _line(book, kind, stored, amount.kept_months, everywhere))
    return best


def _data_place(job: TrainingJob) -> tuple[str, str | None] | None:
    data = job.spec.data
    return None if data.located_provider is None else (data.located_provider, data.located_region)


def _from_outside(job: TrainingJob, market: Market) -> Bools:
    """Places that the data set enters from another provider or from the caller."""
    home = job.spec.data.located_provider
    return np.array([place[0] != home for place in market.places], dtype=np.bool_)


def _transfer(job: TrainingJob, market: Market, book: FeeBook, amount: Volumes) -> FeeLine:
    """Getting the data set out of where it lives: to the internet, or to another region of the same provider."""
    count = len(market.places)
    home = _data_place(job)
    low, mid, high = np.zeros(count), np.zeros(count), np.zeros(count)
    status: Ints = np.full(count, FREE, dtype=np.int64)
    relevant = np.zeros(count, dtype=np.bool_)
    kinds: list[FeeKind] = ["egress_internet"] * count
    if home is not None:
        out = book.amounts_at("egress_internet", amount.dataset, *home)
        across = book.amounts_at("egress_interregion", amount.dataset, *home)
        for row, place in enumerate(market.places):
            if place[0] == home[0] and home[1] in {None, place[1]}:
                continue
            same_provider = place[0] == home[0]
            source = across if same_provider else out
            kinds[row] = "egress_interregion" if same_provider else "egress_internet"
            low[row], mid[row], high[row], status[row] = source.low[0], source.mid[0], source.high[0], source.status[0]
            relevant[row] = True
    amounts = FeeAmounts(low=low, mid=mid, high=high, status=status)
    return FeeLine(amounts=amounts, kind=tuple(kinds), quantity=amount.dataset, relevant=relevant)


def coverage(lines: Mapping[str, FeeLine]) -> Floats:
    """Share of the relevant fee lines whose tariff is known, per place."""
    settled = np.zeros(len(next(iter(lines.values())).relevant))
    relevant = np.zeros_like(settled)
    for line in lines.values():
        settled += line.amounts.settled & line.relevant
        relevant += line.relevant
    return settled / relevant
