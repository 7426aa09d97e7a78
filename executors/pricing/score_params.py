"""The options that the score test shares with the two-group test."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import Field

from executors.pricing.survival_options import EventRate, RiskFloor
from planner.mechanism import Params

__all__ = ["ScoreOptions"]


class ScoreOptions(Params):
    """How a noisy score is weighted, paid for and judged."""

    level: Fraction = Field(
        default=Fraction(1, 20),
        ge=Fraction(1, 10**12),
        lt=1,
        description="how often a true null may be rejected",
    )
    riskfloor: RiskFloor = Fraction(1, 10)
    split: Fraction = Field(
        default=Fraction(9, 10),
        ge=Fraction(1, 1000),
        le=Fraction(999, 1000),
        description="the share of the cost that pays for the score; the rest pays for its variance",
    )
    trace: Literal["private", "bound"] = Field(
        default="private",
        description="`private`: the variance is released with noise; `bound`: the whole cost goes "
        "to the score, and the largest variance that the ranges allow is assumed",
    )
    event_rate: EventRate = Fraction(1, 2)

    @property
    def score_share(self) -> Fraction:
        """The share of the cost that pays for the score."""
        return Fraction(1) if self.trace == "bound" else self.split
