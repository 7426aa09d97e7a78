"""The price of the squares of some columns measured at once, their means beside them or not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from executors.pricing.covariance import (
    GRID,
    MEAN_WEIGHT,
    PRODUCT,
    diagonal_sensitivity,
    is_constant_square,
    joint_sensitivity,
)
from executors.pricing.covariance_columns import Center, box_of
from planner.calculus.need import Need
from planner.facts import Facts

__all__ = ["SquareDeviations", "measured_squares", "square_deviations", "squares_need"]

_LEAST_SCALE = Fraction(2**20)
_LEAST_JOINT_SCALE = Fraction(2**26)


@dataclass(frozen=True, slots=True)
class SquareDeviations:
    """Standard deviations of the noise on a square and on a mean, in the unit box."""

    square: float
    mean: float


def measured_squares(center: Center, facts: Facts, all_of_them: bool = False) -> tuple[int, ...]:
    """The columns whose squares are noised, by their place.

    About its middle a boolean is -1 or 1 in the unit box, and so is its fill: its mean square is 1
    for every dataset and needs no noise, unless `all_of_them` asks for it.
    """
    places = tuple(range(len(facts.columns)))
    if center == "private" or all_of_them:
        return places
    about = box_of(center, facts).center
    return tuple(j for j in places if not is_constant_square(facts.columns[j], about[j]))


def squares_need(
    center: Center, facts: Facts, all_of_them: bool = False, share: Fraction = Fraction(1)
) -> Need:
    """One discrete Gaussian leaf: squares, and means times 37837 with them where center=private.

    Neighbours differ in one row. The L2 move is sqrt(count) products for squares alone and
    sqrt(1.402 count) with means, in steps of the grid, rounded up.
    """
    is_joint = center == "private"
    count = len(measured_squares(center, facts, all_of_them))
    return Need(
        kind="dgauss",
        sensitivity=lambda: joint_sensitivity(count) if is_joint else diagonal_sensitivity(count),
        width=max(1, count * (2 if is_joint else 1)),
        role="measure",
        share=share,
        dataset=facts.source.dataset,
        site=facts.source.site,
        minimum_scale=_LEAST_JOINT_SCALE if is_joint else _LEAST_SCALE,
    )


def square_deviations(facts: Facts, scale: Fraction) -> SquareDeviations:
    """The noise of a square and of a mean, from the leaf's scale as it is drawn."""
    return SquareDeviations(
        float(scale / (facts.rows * PRODUCT)), float(scale / (facts.rows * MEAN_WEIGHT * GRID))
    )
