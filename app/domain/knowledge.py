"""What the estimator knows besides the market: GPU and model facts, fitted constants, planning assumptions, sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.assumptions import Assumptions
from app.domain.calibration import Calibration
from app.domain.gpus import Gpu
from app.domain.llm import ModelShape
from app.domain.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Loaded once by app.catalog.loader; never changes while the process lives."""

    gpus: Mapping[str, Gpu]
    presets: Mapping[str, ModelShape]
    calibration: Calibration
    assumptions: Assumptions
    texts: Mapping[str, Texts]
