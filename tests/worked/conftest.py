"""One service for all worked figures, on a market small enough to work out by hand."""

from __future__ import annotations

import pytest

from tests.support.builders import a_billing_rule, a_fee, a_provider, a_rate, a_tariff, an_offer, records
from tests.support.service import service

CN = {"provider": "huiyun", "region": "cn-1", "country": "CN"}


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def client(tmp_path_factory):
    one_card = an_offer(**CN, sku="a100", gpus_per_node=1, intra_node_link="none", inter_node_gbit_s=None, vcpus=12.0, ram_gb=120.0)
    small = an_offer(**CN, sku="4090", gpu="RTX4090-24GB", gpu_memory_gb=24.0, gpus_per_node=1, intra_node_link="none", ram_gb=120.0)
    market = records(
        offers=[one_card, small],
        tariffs=[a_tariff(one_card, "10.00", "CNY"), a_tariff(small, "2.00", "CNY")],
        fees=[
            a_fee("0.20", "CNY", provider="huiyun", kind="block_storage"),
            a_fee("0.20", "CNY", provider="huiyun", kind="object_storage", sku="oss"),
            a_fee("0", "CNY", provider="huiyun", kind="egress_internet", unit="GB"),
        ],
        billing_rules=[a_billing_rule(provider="huiyun", step_seconds=3600, minimum_seconds=3600)],
        rates=[a_rate(), a_rate("USD", "1.1500")],
        providers=[a_provider("huiyun", kind="china")],
    )
    async with service(tmp_path_factory.mktemp("worked"), market) as made:
        yield made
