"""Types of options that several survival tests share."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, TypeAlias

from pydantic import Field

__all__ = ["EventRate", "Positive", "Resolution", "RiskFloor"]

Positive: TypeAlias = Annotated[Fraction, Field(gt=0)]

RiskFloor: TypeAlias = Annotated[
    Fraction,
    Field(
        ge=0,
        le=1,
        description="events with fewer than this share of the records still at risk weigh less, "
        "which bounds the noise however many records there are",
    ),
]

EventRate: TypeAlias = Annotated[
    Fraction,
    Field(
        gt=0,
        lt=1,
        description="the share of records whose event is seen, for the forecast only",
        json_schema_extra={"forecast": True},
    ),
]

Resolution: TypeAlias = Annotated[
    Fraction,
    Field(
        ge=0,
        description="the unit in which times were recorded, to warn where that is too coarse; 0: "
        "times are exact",
        json_schema_extra={"forecast": True},
    ),
]
