"""Reads all shipped knowledge that is not the market."""

from __future__ import annotations

from app.catalog.assumptions import load_assumptions
from app.catalog.calibration import load_calibration
from app.catalog.gpus import load_gpus
from app.catalog.models import load_presets
from app.catalog.texts import load_texts
from app.domain.knowledge import Knowledge


def load_knowledge() -> Knowledge:
    """GPU facts, model presets, calibration, assumptions and sentences, from app/data and app/i18n."""
    return Knowledge(
        gpus=load_gpus(),
        presets=load_presets(),
        calibration=load_calibration(),
        assumptions=load_assumptions(),
        texts=load_texts(),
    )
