from __future__ import annotations

import numpy as np
import pytest

from app.domain.hardware import HardwareColumns
from app.domain.network import assumed_network_gbit_s, intra_node_bytes_per_second, links, ring_seconds
from tests.unit.speed_jobs import CALIBRATION, GPUS, job, layout, machine, rate


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


def assumed(gpu, per_node):
    return float(assumed_network_gbit_s(HardwareColumns.of([machine(gpu, per_node, 2, gbit_s=None)]), CALIBRATION)[0])


def test_a_gamer_cards_assumed_network_is_slow_ethernet():
    assert assumed("RTX4090-24GB", 8) <= 25


@pytest.mark.parametrize("per_node", [1, 2, 4, 7])
def test_a_machine_of_fewer_than_eight_cards_is_given_an_ordinary_network_whatever_the_card(per_node):
    assert assumed("H100-SXM5-80GB", per_node) == assumed("RTX4090-24GB", per_node) <= 25


def test_the_assumed_network_grows_with_the_cards_of_a_node():
    assert assumed("H100-SXM5-80GB", 16) == 2 * assumed("H100-SXM5-80GB", 8) == 3200


def test_a_tray_of_a_rack_is_no_ordinary_machine():
    assert assumed("GB200", 4) == assumed("B200-SXM-180GB", 8) / 2


def test_single_cards_on_unstated_networks_do_not_train_like_a_cluster():
    task, shape = job(), layout(sharding="zero3")
    singles, cluster = (rate(task, machine("H100-SXM5-80GB", count, 32 // count, gbit_s=None), shape) for count in (1, 8))
    assert singles < 0.2 * cluster


def test_a_rack_of_72_is_one_nvlink_domain_and_two_racks_are_not():
    rack, racks = (links(HardwareColumns.of([machine("GB200", 4, nodes, gbit_s=1600.0)]), CALIBRATION).node[0] for nodes in (18, 36))
    assert rack > 5 * racks
