"""The options of `TEST logrank`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field, field_validator

from executors.pricing.score_params import ScoreOptions
from planner.mechanism import ColumnName

__all__ = ["LogrankParams"]


class LogrankParams(ScoreOptions):
    """Options of `TEST logrank`."""

    group: ColumnName = Field(
        description="the column that tells the groups apart: BOOLEAN, or a CATEGORY of two levels, "
        "of which the second counts as 1",
    )
    effect: Fraction | None = Field(
        default=None,
        description="the log hazard ratio of the second group at which the power is forecast",
        json_schema_extra={"forecast": True},
    )
    share: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 2),
        description="the share of the records in the second group, for the forecast only",
        json_schema_extra={"forecast": True},
    )

    @field_validator("effect")
    @classmethod
    def _some(cls, effect: Fraction | None) -> Fraction | None:
        """An effect of 0 is no effect to plan for."""
        if effect == 0:
            raise ValueError("must not be 0")
        return effect
