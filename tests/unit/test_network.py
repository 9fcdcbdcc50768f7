from __future__ import annotations

import numpy as np
import pytest

from app.domain.hardware import HardwareColumns
from app.domain.network import assumed_network_gbit_s, intra_node_bytes_per_second, links, ring_seconds
from tests.unit.speed_jobs import CALIBRATION, GPUS, machine


def test_a_ring_moves_all_but_one_share_of_the_payload():
    assert ring_seconds(8e9, np.array([8.0]), np.array([1e9])) == pytest.approx([7.0])


def test_one_rank_moves_nothing():
    assert ring_seconds(8e9, np.array([1.0]), np.array([1e9])) == pytest.approx([0.0])


def test_an_a100_gets_240_gb_a_second_from_its_third_nvlink():
    assert intra_node_bytes_per_second(GPUS["A100-SXM4-80GB"], "nvlink", CALIBRATION) == pytest.approx(240e9)


def test_a_gamer_card_is_slower_over_the_same_slots_than_a_workstation_card():
    gamer, workstation = (intra_node_bytes_per_second(GPUS[name], "pcie", CALIBRATION) for name in ("RTX4090-24GB", "RTX6000-Ada-48GB"))
    assert gamer < 0.7 * workstation


def test_four_cards_bridged_in_pairs_talk_through_the_host():
    two, four = (links(HardwareColumns.of([machine("RTX-A6000-48GB", count, 1, "nvlink_pair")]), CALIBRATION).intra[0] for count in (2, 4))
    assert four < two
    assert four == intra_node_bytes_per_second(GPUS["RTX-A6000-48GB"], "pcie", CALIBRATION)


def test_an_unstated_network_is_assumed_carefully_and_marked():
    found = links(HardwareColumns.of([machine(nodes=2, gbit_s=None), machine(nodes=2, gbit_s=800.0)]), CALIBRATION)
    assert found.node_assumed.tolist() == [True, False]
    assert found.node[0] < found.node[1]


def test_a_single_node_needs_no_assumption_about_its_network():
    assert not links(HardwareColumns.of([machine(gbit_s=None)]), CALIBRATION).node_assumed[0]


def test_a_gamer_cards_assumed_network_is_slow_ethernet():
    assert assumed_network_gbit_s(GPUS["RTX4090-24GB"], CALIBRATION) <= 25


def test_a_rack_of_72_is_one_nvlink_domain_and_two_racks_are_not():
    rack, racks = (links(HardwareColumns.of([machine("GB200", 4, nodes, gbit_s=1600.0)]), CALIBRATION).node[0] for nodes in (18, 36))
    assert rack > 5 * racks
