"""From a loss to reach to the tokens it takes: L(N, D) = E + A/N^alpha + B/D^beta."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLaw:
    """A parametric law of the final pre-training loss (nats a token) by parameters N and tokens D, and where it was fitted."""

    name: str
    source: str
    e: float
    a: float
    b: float
    alpha: float
    beta: float

    def loss(self, parameters: float, tokens: float) -> float:
        """Loss after ``tokens`` tokens, each seen once."""
        return self.floor(parameters) + self.b / math.pow(tokens, self.beta)

    def floor(self, parameters: float) -> float:
        """The loss that a model of this size approaches with endless data and never reaches."""
        return self.e + self.a / math.pow(parameters, self.alpha)

    def tokens_for(self, parameters: float, loss: float) -> float | None:
        """Tokens to ``loss``, or None when it does not lie above the floor. May be infinite when it lies barely above."""
        gap = loss - self.floor(parameters)
        if gap <= 0:
            return None
        power = math.log(self.b / gap) / self.beta
        return math.exp(power) if power < 700 else math.inf  # noqa: PLR2004 - exp overflows at 709


CHINCHILLA = LossLaw(
    name="Chinchilla, approach 3",
    source="Hoffmann et al. 2022, arXiv:2203.15556, section 3.3",
    e=1.69,
    a=406.4,
    b=410.7,
    alpha=0.34,
    beta=0.28,
)
CHINCHILLA_REFIT = LossLaw(
    name="Chinchilla refitted",
    source="Besiroglu et al. 2024, arXiv:2404.10102",
    e=1.8172,
    a=482.01,
    b=2085.43,
    alpha=0.3478,
    beta=0.3658,
)
FITTED_PARAMETERS = (70e6, 16e9)
"""Sizes of the runs that the law was fitted to (arXiv:2203.15556, abstract: 70M to over 16B)."""
FITTED_TOKENS = (5e9, 500e9)
"""Lengths of those runs (same place: 5 to 500 billion tokens)."""


def outside_fitted_range(parameters: float, tokens: float) -> str | None:
    """In words, what of ``parameters`` and ``tokens`` lies outside the runs that the law was fitted to; None when nothing does."""
    parts = []
    if not FITTED_PARAMETERS[0] <= parameters <= FITTED_PARAMETERS[1]:
        parts.append(f"{parameters / 1e9:.4g} B parameters (fitted on 0.07 to 16 B)")
    if not FITTED_TOKENS[0] <= tokens <= FITTED_TOKENS[1]:
        parts.append(f"{tokens / 1e9:.4g} B tokens (fitted on 5 to 500 B)")
    return " and ".join(parts) or None
