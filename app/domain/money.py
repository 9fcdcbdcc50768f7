"""Exact money for facts: an integer count of 10^-9 currency units. Projections use float64 and are rounded once per line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

NANO = 1_000_000_000
MAX_NANO = 2**63 - 1
_AMOUNT = re.compile(r"-?\d{1,10}(\.\d{1,9})?")
_CURRENCY = re.compile(r"[A-Z]{3}")


class MoneyError(ValueError):
    """An amount or a currency that cannot be taken as exact money."""


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount of one currency.

    Attributes:
        nano: the amount in 10^-9 of the currency's unit.
        currency: ISO 4217 code, three capital letters.
    """

    nano: int
    currency: str

    def __post_init__(self) -> None:
        if not _CURRENCY.fullmatch(self.currency):
            msg = f"currency must be three capital letters, got {self.currency!r}"
            raise MoneyError(msg)
        if abs(self.nano) > MAX_NANO:
            msg = "amount is outside the range of 64-bit nano-units"
            raise MoneyError(msg)

    @classmethod
    def of(cls, amount: str, currency: str) -> Money:
        """Read a plain decimal text such as ``"98.32"``.

        Raises:
            MoneyError: the text is no plain decimal, is finer than a nano-unit, or is out of range.
        """
        if not _AMOUNT.fullmatch(amount):
            msg = f"amount must be a plain decimal of up to 10 digits and 9 decimals, got {amount!r}"
            raise MoneyError(msg)
        return cls(int(Decimal(amount).scaleb(9)), currency)

    @property
    def decimal(self) -> Decimal:
        """The exact amount in the currency's unit."""
        return Decimal(self.nano).scaleb(-9)

    def __str__(self) -> str:
        text = f"{self.decimal:f}".rstrip("0").rstrip(".")
        whole, _, cents = text.partition(".")
        return f"{whole}.{cents.ljust(2, '0')}"
