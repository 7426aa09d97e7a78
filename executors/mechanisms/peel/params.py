"""The options of `PEEL evalues`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from executors.pricing.allowance import Share
from executors.pricing.evalues import COARSEST_GRID, FINEST_GRID
from planner.mechanism import AUTO, Auto, Params

__all__ = ["EvaluesParams", "largest_size"]

_DEFAULT_LARGEST = 500


class EvaluesParams(Params):
    """What an author may write behind `PEEL evalues`."""

    adaptive: bool = Field(
        default=False,
        description="let a small noisy draw choose how many hypotheses are selected",
    )
    size: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="how many hypotheses are selected; all of them means that nothing is selected "
        "and every value is released",
    )
    level: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 20),
        description="the largest expected share of false discoveries among the rejected",
    )
    share: Share = Field(
        default=Fraction(2, 5),
        description="the part of the cost that pays for the selection; the rest hides the values",
    )
    size_share: Share = Field(
        default=Fraction(1, 10),
        description="the part of the cost that pays for choosing the size; only with ADAPTIVE",
    )
    max_size: Auto | Annotated[int, Field(ge=1)] = Field(
        default=AUTO,
        description="the largest size that ADAPTIVE may choose; auto is 500, or all hypotheses "
        "where there are fewer",
    )
    kappa: Annotated[Fraction, Field(ge=0, le=100)] = Field(
        default=Fraction(1),
        description="noise standard deviations that a hypothesis should stand above its threshold "
        "when ADAPTIVE weighs a size",
    )
    accounting: Literal["analytic", "numeric"] = Field(
        default="analytic",
        description="how the cost of the selection rounds is added up",
    )
    rule: Literal["boosted", "plain"] = Field(
        default="boosted",
        description="e-BH with the noise taken into account, or plain e-BH on the released values",
    )
    grid: Auto | Annotated[int, Field(ge=COARSEST_GRID, le=FINEST_GRID)] = Field(
        default=AUTO,
        description="values lie on a grid of steps 2^-grid nats; auto is 40, or less where the "
        "noise would need too large integers",
    )
    signals: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="forecast only: how many hypotheses are expected to be false",
        json_schema_extra={"forecast": True},
    )
    strength: Annotated[Fraction, Field(gt=0, le=100)] | None = Field(
        default=None,
        description="forecast only: r, where log e-values of false hypotheses have mean r^2 / 2 "
        "with a standard deviation of r",
        json_schema_extra={"forecast": True},
    )


def largest_size(params: EvaluesParams, hypotheses: int) -> int:
    """The most hypotheses that may be selected: the size, or the largest one of ADAPTIVE."""
    if not params.adaptive:
        return params.size or 1
    largest = _DEFAULT_LARGEST if params.max_size == AUTO else params.max_size
    return min(hypotheses, largest)
