"""The example of docs/add-a-provider.md is a scraper that works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scrapers.base import Page, Provider

RECIPE = Path(__file__).resolve().parents[2] / "docs" / "add-a-provider.md"
PLAN = {"id": "p1", "region": "eu", "gpu": "H100 SXM", "gpu_mb": 81559, "count": 8, "hourly_cents": 2392, "cores": 96, "badge": "hot"}


@pytest.fixture(scope="module")
def provider() -> Provider:
    (code,) = re.findall(r"^```python\n(.*?)^```$", RECIPE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(code, str(RECIPE), "exec", dont_inherit=True), names)  # noqa: S102 - the page's own example
    made = names["PROVIDER"]
    assert isinstance(made, Provider)
    return made


def test_it_reads_a_healthy_page(provider: Provider) -> None:
    reading = provider.read([Page.of("plans", "https://api.acme.example/v1/plans", json.dumps({"plans": [PLAN]}).encode())])
    assert (reading.rejections, reading.notices) == ((), ())
    (offer,) = reading.offers
    assert (offer.gpu, offer.gpus, str(offer.node_amount), offer.vcpus) == ("H100-SXM5-80GB", 8, "23.92", 96.0)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"gpu": "H101"}, "unknown_gpu"),
        ({"gpu_mb": 40960}, "unknown_gpu"),
        ({"hourly_cents": 0}, "zero_price"),
        ({"region": None}, "missing_field"),
    ],
)
def test_it_refuses_a_wrong_row_and_keeps_the_others(provider: Provider, changed: dict[str, object], reason: str) -> None:
    body = json.dumps({"plans": [PLAN, {**PLAN, "id": "p2", **changed}]}).encode()
    reading = provider.read([Page.of("plans", "https://api.acme.example/v1/plans", body)])
    assert [offer.sku for offer in reading.offers] == ["p1"]
    assert [(each.reason, each.pointer.startswith("/plans/1")) for each in reading.rejections] == [(reason, True)]
