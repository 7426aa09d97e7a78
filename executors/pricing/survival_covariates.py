"""The public domain of the covariates that a survival statement names."""

from __future__ import annotations

from fractions import Fraction

from executors.pricing.survival_domain import Domain, box
from planner.facts import Column, Facts, Norm

__all__ = ["covariate_domain"]


def covariate_domain(facts: Facts) -> Domain:
    """The declared box of the covariates, inside the ball of NORM where that lists just them.

    A column without a range of its own lies in the ball's range. Raises ValueError where a
    covariate has neither; `check` has complained of it by then.
    """
    ball = _ball(facts)
    if ball is None:
        bounds = [_bounds(column, None, Fraction(0)) for column in facts.columns]
        return box([lo for lo, _ in bounds], [hi for _, hi in bounds])
    center = tuple(
        Fraction(float(ball.center[ball.columns.index(column.name)])) for column in facts.columns
    )
    bounds = [_bounds(c, ball.bound, middle) for c, middle in zip(facts.columns, center)]
    return Domain(tuple(lo for lo, _ in bounds), tuple(hi for _, hi in bounds), center, ball.bound)


def _ball(facts: Facts) -> Norm | None:
    """The declared ball, if it is about exactly the covariates: a larger domain is always safe."""
    norm = facts.source.norm
    names = sorted(column.name for column in facts.columns)
    return norm if norm is not None and sorted(norm.columns) == names else None


def _bounds(column: Column, radius: Fraction | None, middle: Fraction) -> tuple[Fraction, Fraction]:
    if column.bounds is not None:
        return column.bounds
    if radius is None:
        raise ValueError("a covariate has no bounds")
    return middle - radius, middle + radius
