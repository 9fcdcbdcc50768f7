"""One strict grammar for the figures of other people's pages: what is not written as declared is refused, never guessed.

A figure is a plain decimal (``98.32``), alone or inside a declared form (``"${}/GPU-hr"``). Cents, thousandths, seconds and months are
turned into units of currency and hours only where a scraper declares the divisor or the factor beside the field. Sizes are bounded
before an integer is made: ``1e400000`` is a valid number and a way to stop a machine.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, InvalidOperation
from typing import NoReturn

from app.domain.money import Money, MoneyError

MOST_DIGITS = 12
"""Digits before the point."""
FINEST_DIGITS = 30
"""Digits behind the point that are read at all; money keeps nine."""

GIB_IN_GB = Decimal("1.073741824")
_SIZES = {
    "MB": Decimal("0.001"),
    "MiB": GIB_IN_GB / 1024,
    "GB": Decimal(1),
    "G": Decimal(1),
    "GiB": GIB_IN_GB,
    "TB": Decimal(1000),
    "TiB": GIB_IN_GB * 1024,
}

_PLAIN = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,30})?")
_GROUPED = {
    ",": re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){0,3}(?:\.[0-9]{1,30})?"),
    " ": re.compile(r"[0-9]{1,3}(?: [0-9]{3}){0,3}(?:\.[0-9]{1,30})?"),
}
_BLANKS = re.compile(r"\s+")
_NANO = Decimal("0.000000001")
_EXACT = Context(prec=60)

ON_REQUEST = frozenset(
    {
        "",
        "-",
        "–",
        "—",
        "--",
        "n/a",
        "n/a*",
        "na",
        "tbd",
        "coming soon",
        "contact",
        "contact sales",
        "contact us",
        "contact our team",
        "talk to sales",
        "talk to us",
        "talk to our team",
        "get a quote",
        "request a quote",
        "request quote",
        "custom",
        "on request",
        "联系我们",
        "联系销售",
        "咨询客服",
        "面议",
        "暂无",
    }
)
"""What pages write where a price would stand. It means unknown, never zero."""


class NumberError(ValueError):
    """A figure that was not taken.

    ``reason`` is one of: not_a_number, out_of_range, negative, zero_price, price_on_request, too_fine, wrong_form, wrong_currency.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def refuse(reason: str, detail: str) -> NoReturn:
    """Refuse a figure.

    Raises:
        NumberError: always.
    """
    raise NumberError(reason, detail)


def plain(text: object) -> str:
    """Text of a page on one line: every run of blanks (also non-breaking ones) is one space."""
    return _BLANKS.sub(" ", str(text)).strip()


def amount(value: object, *, grouping: str = "") -> Decimal:
    """A figure that is not negative, exact.

    Args:
        value: an int or Decimal of a JSON answer, or text that is a plain decimal and nothing else.
        grouping: the sign between thousands ("," or " "), only where the source is known to write one.

    Raises:
        NumberError: anything else.
    """
    if isinstance(value, str):
        text = plain(value)
        if text.casefold() in ON_REQUEST:
            refuse("price_on_request", f"{text!r} states no figure")
        if not (_GROUPED[grouping] if grouping and grouping in text else _PLAIN).fullmatch(text):
            refuse("not_a_number", f"{text[:60]!r} is no plain decimal")
        return Decimal(text.replace(grouping, "") if grouping else text)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        refuse("not_a_number", f"{str(value)[:60]!r} is {type(value).__name__}, not a number")
    if isinstance(value, int):
        if abs(value) >= 10**MOST_DIGITS:
            refuse("out_of_range", "more than 12 digits")
        number = Decimal(value)
    else:
        number = value
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            refuse("not_a_number", f"{number} is not finite")
        if (number and number.adjusted() >= MOST_DIGITS) or exponent < -FINEST_DIGITS or exponent > MOST_DIGITS:
            refuse("out_of_range", f"{str(number)[:40]} has too many digits")
    if number < 0:
        refuse("negative", f"{number} is negative")
    return number


def whole(value: object, *, grouping: str = "") -> int:
    """A figure that is a whole number, such as a count.

    Raises:
        NumberError: it is no figure or has a fraction.
    """
    number = amount(value, grouping=grouping)
    if number != number.to_integral_value():
        refuse("not_a_number", f"{number} is not whole")
    return int(number)


def written(text: object, form: str, *, grouping: str = "") -> Decimal:
    """The one figure of a text that is written exactly as ``form`` says, with ``{}`` in the figure's place: ``"${} / hr"``.

    Letters' case and the width of blanks do not matter; anything before, behind or else is refused, so "from $1.10" or "8x H100 $23.92/hr"
    never pass for a price.

    Raises:
        NumberError: price_on_request for the usual words, wrong_form otherwise, wrong_currency when only the currency's sign differs.
    """
    given = plain(text)
    if given.casefold() in ON_REQUEST:
        refuse("price_on_request", f"{given!r} states no figure")
    before, gap, behind = plain(form).partition("{}")
    if not gap:
        msg = f"the form {form!r} has no place for the figure"
        raise ValueError(msg)
    match = re.fullmatch(rf"{re.escape(before)}\s*([0-9][0-9., ]*?)\s*{re.escape(behind)}", given, re.IGNORECASE)
    if match is None:
        refuse("wrong_form", f"{given[:80]!r} is not written as {form!r}")
    return amount(match[1], grouping=grouping)


def money(value: object, currency: str, *, per: int = 1, times: int = 1, free: bool = False, to_nano: bool = False) -> Money:
    """Exact money of a figure.

    Args:
        value: the figure (see ``amount``), or a Decimal from ``written``.
        currency: ISO 4217 code.
        per: what the source's figure is divided by: 100 when it counts cents, 1000 for thousandths, 720 for a month of 720 hours.
        times: what it is multiplied by: 3600 for a price a second that is wanted an hour.
        free: whether zero is a stated "free of charge". Off, a zero is refused: it means "not offered", never free.
        to_nano: round to 10^-9 half to even, only for sources that publish the result of their own division.

    Raises:
        NumberError: no figure, zero where that is no price, finer than 10^-9, out of range.
    """
    number = _EXACT.multiply(amount(value), Decimal(times))
    try:
        strict = Context(prec=60, traps=[Inexact, InvalidOperation])
        number = strict.divide(number, Decimal(per))
    except Inexact:
        if not to_nano:
            refuse("too_fine", f"{value} / {per} has no exact decimal")
        number = _EXACT.divide(number, Decimal(per))
    if to_nano:
        number = number.quantize(_NANO, rounding=ROUND_HALF_EVEN, context=_EXACT)
    nano = _EXACT.scaleb(number, 9)
    if nano != nano.to_integral_value(context=_EXACT):
        refuse("too_fine", f"{value} is finer than a nano-unit of {currency}")
    if not nano and not free:
        refuse("zero_price", "0 is not a price")
    try:
        return Money(int(nano), currency)
    except MoneyError as error:
        refuse("out_of_range", str(error))


def currency_code(value: object, *, known: frozenset[str]) -> str:
    """A stated currency, when it is one that the source is known to use.

    Raises:
        NumberError: another one.
    """
    code = plain(value).upper()
    if code not in known:
        refuse("wrong_currency", f"{code[:12]!r} is none of {', '.join(sorted(known))}")
    return code


def size_gb(text: object) -> Decimal:
    """GB (10^9 bytes) of a text that is a figure and its unit: ``"2900 GiB"``, ``"1,800 GB"``, ``"19.5 TiB"``. "G" counts as GB.

    Raises:
        NumberError: anything else.
    """
    given = plain(text)
    match = re.fullmatch(r"([0-9][0-9.,]*) ?([A-Za-z]{1,3})", given)
    if match is None or match[2] not in _SIZES:
        refuse("wrong_form", f"{given[:60]!r} is no size such as 80 GB")
    return amount(match[1], grouping=",") * _SIZES[match[2]]
