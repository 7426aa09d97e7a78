"""The test that a statement comes down to, from its options and the declared facts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from executors.mechanisms.cox.params import Coefficients, CoxParams
from executors.pricing.survival import (
    Widths,
    cox_sensitivity,
    floor_count,
    rounding_error,
    with_slack,
)
from executors.pricing.survival_domain import Domain, box
from planner.facts import Column, Facts, Norm
from planner.mechanism import AUTO

__all__ = ["Design", "covariate_domain", "design_of", "toward"]


@dataclass(frozen=True, slots=True)
class Design:
    """b0 against `alternative` = b0 + shrink (b1 - b0), for n = `rows` records in `domain`.

    `floor` is the number of records at risk below which events weigh less (0: never).
    """

    rows: int
    domain: Domain
    null: Coefficients
    alternative: Coefficients
    floor: int
    widths: Widths

    @property
    def exact_sensitivity(self) -> Fraction:
        """How far one record moves the statistic in exact arithmetic."""
        return _sensitivity(self.rows, self.floor, self.widths, False)

    @property
    def coarse_sensitivity(self) -> Fraction:
        """A larger bound that is quicker to compute, for comparing designs."""
        return _sensitivity(self.rows, self.floor, self.widths, True)

    @property
    def sensitivity(self) -> Fraction:
        """How far one record moves the statistic as floating-point arithmetic computes it."""
        return with_slack(self.exact_sensitivity, self.rounding_error)

    @property
    def rounding_error(self) -> Fraction:
        """By how much floating-point arithmetic may miss the statistic."""
        return rounding_error(self.rows, len(self.null), self.widths)


def design_of(params: CoxParams, facts: Facts, shrink: Fraction | None = None) -> Design:
    """The design at the statement's `shrink`, or at the one given."""
    if shrink is None:
        if params.shrink == AUTO:
            raise ValueError("`shrink=auto` has not been resolved")
        shrink = params.shrink
    domain = covariate_domain(facts)
    null = params.beta.left
    alternative = toward(null, params.beta.right, shrink)
    floor = floor_count(params.riskfloor, facts.rows)
    return Design(facts.rows, domain, null, alternative, floor, _widths(domain, null, alternative))


def toward(start: Coefficients, end: Coefficients, share: Fraction) -> Coefficients:
    """start + share (end - start)."""
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))


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


@lru_cache(maxsize=256)
def _widths(domain: Domain, null: Coefficients, alternative: Coefficients) -> Widths:
    return Widths.of(domain, null, alternative)


@lru_cache(maxsize=256)
def _sensitivity(rows: int, floor: int, widths: Widths, coarse: bool) -> Fraction:
    return cox_sensitivity(rows, floor, widths, coarse=coarse)
