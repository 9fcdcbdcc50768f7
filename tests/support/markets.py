"""Compare two markets column by column."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from app.domain.market_columns import Market

_PLAIN = (
    "as_of",
    "providers",
    "places",
    "countries",
    "currencies",
    "gpus",
    "fees",
    "quotas",
    "billing_rules",
    "rates",
    "provider_kinds",
)


def assert_equal_markets(one: Market, other: Market) -> None:
    """All but the catalogue's version, the records behind the rows included; NaN equals NaN."""
    for name in _PLAIN:
        assert getattr(one, name) == getattr(other, name), name
    for part in ("offers", "tariffs"):
        for field in fields(getattr(one, part)):
            left, right = getattr(getattr(one, part), field.name), getattr(getattr(other, part), field.name)
            assert left.dtype == right.dtype, field.name
            np.testing.assert_array_equal(left, right, err_msg=f"{part}.{field.name}")
    assert [one.offer_at(row) for row in range(len(one.offers))] == [other.offer_at(row) for row in range(len(other.offers))]
    assert [one.tariff_at(row) for row in range(len(one.tariffs))] == [other.tariff_at(row) for row in range(len(other.tariffs))]
