"""Candidate plans: every tariff in force × every sensible number of nodes, as columns, and the hardware shapes behind them.

Nothing is judged here: ``admission.py`` says which candidates the limits admit, ``search.py`` what fits, ``ranking.py`` which is best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.hardware import Floats, HardwareColumns, Ints
from app.domain.market_columns import Market


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """One row a candidate plan. ``shape`` points into ``shapes``, which holds each distinct hardware × node count once."""

    tariff: Ints
    offer: Ints
    nodes: Ints
    shape: Ints
    shapes: HardwareColumns

    def __len__(self) -> int:
        return len(self.tariff)

    def take(self, index: Ints) -> Candidates:
        """The rows at ``index``; the shapes stay."""
        return Candidates(
            tariff=self.tariff[index], offer=self.offer[index], nodes=self.nodes[index], shape=self.shape[index], shapes=self.shapes
        )


def node_counts(maximum: int) -> Ints:
    """Numbers of nodes worth trying: all up to 8, then four steps to each doubling, and the maximum itself.

    A run's cost and time change smoothly with its size, so a grid of 25 % steps loses at most a few percent against trying every number.
    """
    counts = set(range(1, min(maximum, 8) + 1))
    base = 8
    while base <= maximum:
        counts.update(count for count in (base, base * 5 // 4, base * 3 // 2, base * 7 // 4) if count <= maximum)
        base *= 2
    counts.add(maximum)
    return np.array(sorted(counts), dtype=np.int64)


def enumerate_candidates(market: Market, *, max_gpus: int, max_nodes: int) -> Candidates:
    """All candidates of at most ``max_gpus`` GPUs and ``max_nodes`` nodes, in the market's own order.

    An offer whose single machine already has more than ``max_gpus`` GPUs still gives one candidate, so that its rejection can be explained.
    """
    offers, tariffs = market.offers, market.tariffs
    counts = node_counts(max(1, min(max_nodes, max_gpus)))
    per_tariff = np.minimum(max_gpus // np.maximum(offers.gpus_per_node[tariffs.offer], 1), max_nodes)
    tried = np.maximum(np.searchsorted(counts, per_tariff, side="right"), 1)
    tariff = np.repeat(np.arange(len(tariffs)), tried)
    first = np.cumsum(tried) - tried
    step = np.arange(len(tariff)) - first[tariff]
    nodes = counts[step]
    offer = tariffs.offer[tariff]
    base, base_rows = _base_shapes(market)
    pair = base[offer] * len(counts) + step
    used, shape = np.unique(pair, return_inverse=True)
    rows, steps = base_rows[used // len(counts)], used % len(counts)
    return Candidates(tariff=tariff, offer=offer, nodes=nodes, shape=shape, shapes=_shapes(market, rows, counts[steps]))


def _base_shapes(market: Market) -> tuple[Ints, Ints]:
    """For every offer the number of its machine type, and for every machine type one offer that has it."""
    offers = market.offers
    ram = _ram_class_gb(offers.ram_gb)
    keys = np.stack(
        [
            offers.gpu,
            offers.gpus_per_node,
            offers.link,
            np.nan_to_num(offers.inter_node_gbit_s, nan=-1.0).astype(np.int64),
            np.nan_to_num(ram, nan=-1.0).astype(np.int64),
        ],
        axis=1,
    )
    _, first, base = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return base.reshape(-1), first


def _ram_class_gb(ram_gb: Floats) -> Floats:
    """Host memory rounded down to a power of two: the fit of an offloaded job stays on the safe side, and shapes stay few."""
    return np.exp2(np.floor(np.log2(np.maximum(ram_gb, 1.0))))


def _shapes(market: Market, offer_rows: Ints, nodes: Ints) -> HardwareColumns:
    offers = market.offers
    return HardwareColumns(
        gpus=market.gpus,
        gpu_index=offers.gpu[offer_rows],
        gpus_per_node=offers.gpus_per_node[offer_rows],
        nodes=nodes,
        link=offers.link[offer_rows],
        inter_node_gbit_s=offers.inter_node_gbit_s[offer_rows],
        storage_gb_s=np.full(len(nodes), np.nan),
        vcpus_per_node=np.full(len(nodes), np.nan),
        ram_gb_per_node=_ram_class_gb(offers.ram_gb[offer_rows]),
    )
