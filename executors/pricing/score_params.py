"""The options that the score test shares with the two-group test."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from planner.mechanism import Params

__all__ = ["Positive", "ScoreOptions"]

Positive = Annotated[Fraction, Field(gt=0)]


class ScoreOptions(Params):
    """How a noisy score is weighted, paid for and judged."""

    level: Fraction = Field(
        default=Fraction(1, 20),
        ge=Fraction(1, 10**12),
        lt=1,
        description="how often a true null may be rejected",
    )
    riskfloor: Fraction = Field(
        default=Fraction(1, 10),
        ge=0,
        le=1,
        description="events with fewer than this share of the records still at risk weigh less, "
        "which bounds the noise however many records there are",
    )
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
    event_rate: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 2),
        description="the share of records whose event is seen, for the forecast only",
        json_schema_extra={"forecast": True},
    )

    @property
    def score_share(self) -> Fraction:
        """The share of the cost that pays for the score."""
        return Fraction(1) if self.trace == "bound" else self.split
