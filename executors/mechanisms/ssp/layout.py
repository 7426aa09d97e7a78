"""How the entries of the matrix become one vector of integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import Field

from executors.pricing.covariance import (
    GRID,
    MEAN_WEIGHT,
    PRODUCT,
    Box,
    ball_sensitivity,
    frobenius_sensitivity,
    joint_sensitivity,
    root_below,
    triangle_sensitivity,
)
from executors.pricing.covariance_columns import Center
from executors.pricing.covariance_frame import NormName, frame_of, order_of
from executors.pricing.weighted import weighted_scale
from planner.facts import Facts
from planner.mechanism import Params

__all__ = [
    "Deviations",
    "SspParams",
    "Weights",
    "deviations",
    "dimension",
    "entries",
    "frame",
    "is_joint",
    "sensitivity",
    "weights",
]


class SspParams(Params):
    """Options of `COVARIANCE ssp`."""

    center: Center = Field(
        default="private",
        description="about what: `private` (a mean released with the matrix), `midpoint` (the "
        "middle of every range, a second moment) or a list of public numbers, one a column",
    )
    norm: NormName = Field(
        default="linf",
        description="what bounds a row: `linf` (the range of every column) or `l2` (the ball that "
        "the dataset declares with NORM)",
    )
    weights: Literal["balanced", "plain", "frob"] = Field(
        default="balanced",
        description="how the noise is shared under norm=linf: `balanced` (finer variances at no "
        "cost), `plain` (the same noise everywhere) or `frob` (the published, higher price)",
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """How many times less noise than the leaf's a part of the vector carries, at least once.

    `mean` is an integer that multiplies the sum of one column alone where d = 1; in every other
    case a mean is a pair with the constant column.
    """

    diagonal: Fraction
    pairs: Fraction
    mean: int


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the noise on one entry of each kind, in the units of `frame`."""

    diagonal: float
    pairs: float
    mean: float


def dimension(params: SspParams, facts: Facts) -> int:
    """The order of the measured matrix: d, or d + 1 with the constant column of a private mean."""
    return order_of(params.center, facts)


def is_joint(params: SspParams, facts: Facts) -> bool:
    """Whether one column is measured with its mean beside it."""
    return params.center == "private" and len(facts.columns) == 1


def entries(params: SspParams, facts: Facts) -> int:
    """How many numbers are noised; the square of the constant column is public."""
    if is_joint(params, facts):
        return 2
    order = dimension(params, facts)
    return order * (order + 1) // 2 - (order - len(facts.columns))


def frame(params: SspParams, facts: Facts) -> tuple[Box, int]:
    """The public map of the columns onto the unit box, with the constant column in grid steps."""
    return frame_of(params.center, params.norm, facts)


def weights(params: SspParams, facts: Facts) -> Weights:
    """The weights of the parts: 20 digits of the ideal square roots, rounded down.

    Proof: proof.md, claim 3.
    """
    one = Fraction(1)
    if is_joint(params, facts):
        return Weights(one, one, MEAN_WEIGHT)
    order = dimension(params, facts)
    if order > 1 and params.norm == "l2":
        return Weights(one, root_below(Fraction(2)), 1)
    if order > 1 and params.weights == "balanced":
        return Weights(root_below(Fraction(order + 1, 2)), one, 1)
    return Weights(one, one, 1)


def sensitivity(params: SspParams, facts: Facts) -> Fraction:
    """L2 move of all weighted integers for one row replaced. Proof: proof.md, claims 1 to 5."""
    if is_joint(params, facts):
        return joint_sensitivity(1)
    order = dimension(params, facts)
    if order == 1:
        return triangle_sensitivity(1)
    if params.norm == "l2":
        return ball_sensitivity(order)
    if params.weights == "frob":
        return frobenius_sensitivity(order)
    return triangle_sensitivity(order)


def deviations(params: SspParams, facts: Facts, scale: Fraction) -> Deviations:
    """The noise of the entries, from the leaf's scale as it is drawn (`MAX k` is in it)."""
    weight = weights(params, facts)
    step = Fraction(1, facts.rows * PRODUCT)
    diagonal = step * weighted_scale(int(scale), weight.diagonal)
    if is_joint(params, facts):
        return Deviations(float(diagonal), 0.0, float(diagonal * GRID / weight.mean))
    _, constant = frame(params, facts)
    pairs = step * weighted_scale(int(scale), weight.pairs)
    return Deviations(float(diagonal), float(pairs), float(pairs * GRID / constant))
