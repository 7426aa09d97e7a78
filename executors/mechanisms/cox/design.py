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
from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_domain import Domain
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["Design", "design_of", "toward"]


@dataclass(frozen=True, slots=True)
class Design:
    """b0 against `alternative` = b0 + `shrink` (b1 - b0), for n = `rows` records in `domain`.

    `floor` is the number of records at risk below which events weigh less (0: never).
    """

    rows: int
    domain: Domain
    null: Coefficients
    alternative: Coefficients
    shrink: Fraction
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
    widths = _widths(domain, null, alternative)
    return Design(facts.rows, domain, null, alternative, shrink, floor, widths)


def toward(start: Coefficients, end: Coefficients, share: Fraction) -> Coefficients:
    """start + share (end - start)."""
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))


@lru_cache(maxsize=256)
def _widths(domain: Domain, null: Coefficients, alternative: Coefficients) -> Widths:
    return Widths.of(domain, null, alternative)


@lru_cache(maxsize=256)
def _sensitivity(rows: int, floor: int, widths: Widths, coarse: bool) -> Fraction:
    return cox_sensitivity(rows, floor, widths, coarse=coarse)
