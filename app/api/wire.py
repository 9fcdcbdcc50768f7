"""The pieces that every message of the contract shares: strict models, exact money, figures, times.

Requests are strict: a string is not a number, ``true`` is not 1, an unknown field is an error, NaN and infinities are refused. Answers are
rendered from the domain's dataclasses, whose field names are those of the contract.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from app.domain.answer import Amount
from app.domain.money import Money, MoneyError

AMOUNT_PATTERN = r"^[0-9]{1,10}(\.[0-9]{1,9})?$"
CURRENCY_PATTERN = r"^[A-Z]{3}$"
_SIGNIFICANT_DIGITS = 10
_QUANTITY_DECIMALS = 6


class In(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class Out(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(from_attributes=True, use_attribute_docstrings=True, json_schema_serialization_defaults_required=True)


class MoneyIn(In):
    """Exact money of a request."""

    amount: str = Field(pattern=AMOUNT_PATTERN, examples=["40000"])
    """A plain decimal in a string, not negative: up to 10 digits and 9 decimals."""
    currency: str = Field(pattern=CURRENCY_PATTERN, examples=["CNY"])
    """ISO 4217 code; one of those that ``GET /fx`` lists."""

    @model_validator(mode="after")
    def _within_range(self) -> Self:
        try:
            self.money()
        except MoneyError as error:
            raise ValueError(str(error)) from error
        return self

    def money(self) -> Money:
        """The amount as the domain counts it."""
        return Money.of(self.amount, self.currency)


def _positive(value: MoneyIn) -> MoneyIn:
    if value.money().nano == 0:
        msg = "must be greater than zero"
        raise ValueError(msg)
    return value


PositiveMoney = Annotated[MoneyIn, AfterValidator(_positive)]


class MoneyOut(Out):
    """Money of an answer: a plain decimal string, exact for prices and fees, rounded to 0.01 for projections."""

    amount: str = Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$", examples=["1234.56"])
    """A decimal string in units of the currency."""
    currency: str = Field(pattern=CURRENCY_PATTERN, examples=["CNY"])
    """ISO 4217 code."""

    @model_validator(mode="before")
    @classmethod
    def _from_domain(cls, value: object) -> object:
        if isinstance(value, Money):
            return {"amount": str(value), "currency": value.currency}
        if isinstance(value, Amount):
            return {"amount": cents(value.value), "currency": value.currency}
        return value


def cents(value: float) -> str:
    """A projected amount, already rounded to 0.01, as a decimal string; never ``-0.00``."""
    return f"{value + 0.0:.2f}" if round(value, 2) else "0.00"


def _quantity(value: object) -> object:
    if isinstance(value, int | float):
        text = f"{value:.{_QUANTITY_DECIMALS}f}".rstrip("0")
        whole, _, decimals = text.partition(".")
        return f"{whole}.{decimals.ljust(2, '0')}"
    return value


def _cents(value: object) -> object:
    return cents(value) if isinstance(value, int | float) else value


def _significant(value: float) -> float:
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")


def _decimal(value: object) -> object:
    return f"{value:f}" if isinstance(value, Decimal) else value


Figure = Annotated[float, PlainSerializer(_significant, return_type=float)]
"""A figure of physics, written with ten significant digits."""
Cents = Annotated[str, BeforeValidator(_cents), Field(pattern=r"^-?[0-9]+\.[0-9]{2}$", examples=["1534.12"])]
"""A projected amount as a decimal string."""
Quantity = Annotated[str, BeforeValidator(_quantity), Field(pattern=r"^-?[0-9]+\.[0-9]{2,}$", examples=["8.40"])]
"""A billed quantity as a decimal string of at least two and at most six decimals."""
Exact = Annotated[str, BeforeValidator(_decimal), Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$", examples=["6.6529"])]
"""An exact decimal as a string."""


def _instant(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


Instant = Annotated[datetime, PlainSerializer(_instant, return_type=str, when_used="json")]
"""RFC 3339, UTC, written with ``Z``."""


class Rests(Out):
    """What every answer that rests on prices says of them."""

    as_of: Instant
    """The instant whose market was used."""
    catalog_version: int
    """Version of the stored catalogue; 0 is the data set that ships with the software, read without a database."""
    oldest_price_age_hours: Figure | None
    """Age at ``as_of`` of the oldest price used in this answer; null when no price with a date was used."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str, limit: int = 100) -> str:
    """``text`` cut to ``limit`` characters and free of lone surrogates, so that it can always be sent back."""
    clean = _SURROGATE.sub("\ufffd", text)
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def checked_json(value: dict[str, Any], *, depth: int, nodes: int) -> dict[str, Any]:
    """``value`` when it is a JSON object of at most ``nodes`` values nested at most ``depth`` deep.

    Raises:
        ValueError: it is deeper, larger, or holds a number or text that JSON cannot carry.
    """
    pending: list[tuple[object, int]] = [(value, 1)]
    seen = 0
    while pending:
        item, level = pending.pop()
        seen += 1
        if seen > nodes:
            msg = f"holds more than {nodes} values"
            raise ValueError(msg)
        if isinstance(item, dict | list):
            if level > depth:
                msg = f"is nested deeper than {depth} levels"
                raise ValueError(msg)
            parts = [*item.keys(), *item.values()] if isinstance(item, dict) else item
            pending.extend((part, level + 1) for part in parts)
        elif isinstance(item, str) and _SURROGATE.search(item):
            msg = "holds text that is no valid Unicode"
            raise ValueError(msg)
        elif isinstance(item, float) and not -1e308 < item < 1e308:  # noqa: PLR2004 - the end of float64, which JSON cannot name
            msg = "holds a number that is not finite"
            raise ValueError(msg)
        elif isinstance(item, int) and abs(item) > 10**18:
            msg = "holds a whole number above 10^18"
            raise ValueError(msg)
    return value
