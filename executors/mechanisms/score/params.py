"""The options of `TEST score`."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import Field

from executors.pricing.published import PublishedVariant
from executors.pricing.score_params import ScoreOptions
from executors.pricing.survival_options import Positive, Resolution
from planner.mechanism import AUTO, Auto

__all__ = ["ScoreParams"]


class ScoreParams(ScoreOptions, PublishedVariant):
    """Options of `TEST score`."""

    PAPER: ClassVar = {"riskfloor": Fraction(0)}

    beta: tuple[Fraction, ...] = Field(
        description="the coefficients to be tested: one number a column of COLUMNS, in the units "
        "of the columns",
    )
    noise: Literal["knorm", "gaussian"] | Auto = Field(
        default=AUTO,
        description="for a cost in eps with delta and several covariates: noise in the shape of "
        "the ranges, which leaves delta unspent, or Gaussian noise; `auto` takes the smaller",
    )
    variant: Literal["paper"] | None = Field(
        default=None,
        description="`paper`: riskfloor=0 unless written, with the variance taken from the first "
        "tenth of the rows and the score from the others",
    )
    radius: Positive | None = Field(
        default=None,
        description="the distance from `beta` at which the power is forecast: in the units of the "
        "columns inside a ball, else in units in which each column runs from -1 to 1",
        json_schema_extra={"forecast": True},
    )
    spread: Positive | Auto = Field(
        default=AUTO,
        description="the standard deviation of one covariate in the units of `radius`, for the "
        "forecast only; `auto` takes covariates as spread evenly, which is optimistic",
        json_schema_extra={"forecast": True},
    )
    resolution: Resolution = Fraction(0)
