"""Sentences about decisions: why a plan ranks where it does, why another was left out, what would let it in."""

from __future__ import annotations

import math

from app.domain.hardware import Hardware
from app.domain.smallest_change import Change
from app.domain.texts import Texts
from app.domain.workload import TrainingJob


def figure(value: float, digits: int = 3) -> str:
    """A number for people: about ``digits`` significant digits, thousands apart, no exponent."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{round(value, decimals):,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded_up(value: float, digits: int = 3) -> float:
    """The next number of ``digits`` significant digits that is not below ``value``: a limit set to it admits what it was read from."""
    if value <= 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(value / step - 1e-9) * step


def hours_text(texts: Texts, hours: float) -> str:
    """Hours for people."""
    return texts.say("number.hours", value=figure(hours))


def money_text(texts: Texts, amount: float, currency: str) -> str:
    """Money for people, to the cent."""
    return texts.say("number.money", value=f"{amount:,.2f}", currency=currency)


def search_reason_text(texts: Texts, reason: str, hardware: Hardware, job: TrainingJob, needed_gb: float) -> str:
    """Why no layout of ``job`` runs on ``hardware``; ``reason`` is one of search.REASONS."""
    return texts.say(
        f"reject.{reason}",
        gpu=hardware.gpu.name,
        gpus=figure(hardware.gpus, 12),
        precision=job.precision,
        sequences=figure(job.global_batch_sequences, 12),
        needed=figure(needed_gb),
        available=figure(hardware.gpu.usable_memory_gb),
    )


def change_text(texts: Texts, change: Change) -> str:
    """The smallest change that would let a refused shape in."""
    if change.code == "precision" and not change.word:
        return texts.say("change.precision_none")
    if change.code == "larger_card" and change.value is None:
        return texts.say("change.larger_card_unknown")
    value = "" if change.value is None else figure(math.ceil(change.value), 12)
    return texts.say(f"change.{change.code}", value=value, word=change.word)
