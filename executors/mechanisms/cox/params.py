"""The options of `TEST cox`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from planner.mechanism import AUTO, Auto, Params, Versus

__all__ = ["Coefficients", "CoxParams"]

Coefficients = tuple[Fraction, ...]
Positive = Annotated[Fraction, Field(gt=0)]


class CoxParams(Params):
    """Options of `TEST cox`."""

    beta: Versus[Coefficients] = Field(
        description="`b0 VS b1`: the coefficients to be tested, and those to test against; one "
        "number a column of COLUMNS each, in the units of the columns",
    )
    level: Fraction = Field(
        default=Fraction(1, 20), gt=0, lt=1, description="how often a true `b0` may be rejected"
    )
    riskfloor: Fraction = Field(
        default=Fraction(1, 10),
        ge=0,
        le=1,
        description="events with fewer than this share of the records still at risk weigh less, "
        "which bounds the noise however many records there are",
    )
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
    event_rate: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 2),
        description="the share of records whose event is seen, for the forecast only",
        json_schema_extra={"forecast": True},
    )
    spread: Positive | Auto = Field(
        default=AUTO,
        description="the standard deviation of (b1-b0).x among the people, for the forecast only; "
        "`auto` takes covariates as spread evenly over their ranges, which is optimistic",
        json_schema_extra={"forecast": True},
    )
    resolution: Annotated[Fraction, Field(ge=0)] = Field(
        default=Fraction(0),
        description="the unit in which times were recorded, to warn where that is too coarse; 0: "
        "times are exact",
        json_schema_extra={"forecast": True},
    )

    @model_validator(mode="before")
    @classmethod
    def _paper(cls, given: Any) -> Any:
        """`variant=paper` changes two defaults; what is written beside it wins."""
        if isinstance(given, dict) and given.get("variant") == "paper":
            return {"riskfloor": Fraction(0), "shrink": Fraction(1), **given}
        return given
