"""The options of `TEST cox`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from executors.pricing.published import PublishedVariant
from executors.pricing.survival_options import EventRate, Positive, Resolution, RiskFloor
from planner.mechanism import AUTO, Auto, Versus

__all__ = ["Coefficients", "CoxParams"]

Coefficients = tuple[Fraction, ...]


class CoxParams(PublishedVariant):
    """Options of `TEST cox`."""

    PAPER: ClassVar = {"riskfloor": Fraction(0), "shrink": Fraction(1)}

    beta: Versus[Coefficients] = Field(
        description="`b0 VS b1`: the coefficients to be tested, and those to test against; one "
        "number a column of COLUMNS each, in the units of the columns",
    )
    level: Fraction = Field(
        default=Fraction(1, 20), gt=0, lt=1, description="how often a true `b0` may be rejected"
    )
    riskfloor: RiskFloor = Fraction(1, 10)
    shrink: Annotated[Fraction, Field(gt=0, le=1)] | Auto = Field(
        default=AUTO,
        description="test against b0 + shrink (b1 - b0), which needs far less noise; `auto` takes "
        "the value with the best forecast; 1 tests against b1 itself",
    )
    rule: Literal["finite", "normal"] = Field(
        default="finite",
        description="`finite`: the level holds for every number of records; `normal`: it holds for "
        "many records, with a slightly smaller threshold",
    )
    variant: Literal["paper"] | None = Field(
        default=None,
        description="`paper`: the published test, riskfloor=0 and shrink=1 unless written",
    )
    event_rate: EventRate = Fraction(1, 2)
    spread: Positive | Auto = Field(
        default=AUTO,
        description="the standard deviation of (b1-b0).x among the people, for the forecast only; "
        "`auto` takes covariates as spread evenly over their ranges, which is optimistic",
        json_schema_extra={"forecast": True},
    )
    resolution: Resolution = Fraction(0)
