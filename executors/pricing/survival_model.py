"""What can be wrong with the coefficients of a survival statement, found without data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from executors.pricing.survival_complaints import LARGEST
from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_spreads import drift, even_spread
from planner.facts import Facts
from planner.mechanism import Complaint

__all__ = ["about_length", "about_size", "about_times", "moved_by_coarse_times"]

WIDE, WIDEST = 20, 600
MOST_DRIFT = 0.2


def about_length(beta: Sequence[Fraction], facts: Facts) -> Iterator[Complaint]:
    """Whether there is one coefficient a covariate."""
    if len(beta) != len(facts.columns):
        names = ", ".join(column.name for column in facts.columns)
        yield Complaint(
            "DPQL-E140",
            f"{len(beta)} coefficients are given for {len(facts.columns)} columns",
            "beta",
            note=f"one number for each of: {names}",
            help="write one number a column, or name the columns with `COLUMNS (...)`",
        )


def about_size(widest: Fraction) -> Iterator[Complaint]:
    """Whether a linear score, which varies by `widest` over the domain, varies too much."""
    shown = f"{float(min(widest, LARGEST)):.3g}"
    if widest > WIDEST:
        yield Complaint(
            "DPQL-E143",
            f"over the declared ranges a linear score varies by {shown}, beyond what can be "
            "computed",
            "beta",
            note="coefficients are in the units of the columns",
            help="check the coefficients' units, or declare narrower ranges",
        )
    elif widest > WIDE:
        yield Complaint(
            "DPQL-W211",
            f"over the declared ranges a linear score varies by {shown}",
            "beta",
            note="the noise grows with its exponential: hazards would differ by a factor of "
            f"e^{shown}",
            help="check the coefficients' units, or declare narrower ranges",
            is_warning=True,
        )


def moved_by_coarse_times(
    null: Sequence[Fraction], facts: Facts, event_rate: Fraction, resolution: Fraction
) -> float | None:
    """How many standard deviations times in units of `resolution` move a statistic under b0.

    None where that is not known to move it: b0 = 0, or no resolution given.
    """
    horizon = facts.source.role("duration")[0].hi
    if not resolution or not any(null) or horizon is None:
        return None
    sd = even_spread(covariate_domain(facts), null)
    return drift(facts.rows, event_rate, resolution, horizon, sd)


def about_times(
    null: Sequence[Fraction], facts: Facts, event_rate: Fraction, resolution: Fraction
) -> Iterator[Complaint]:
    """Whether times are recorded too coarsely for the level."""
    moved = moved_by_coarse_times(null, facts, event_rate, resolution)
    if moved is not None and moved > MOST_DRIFT:
        yield Complaint(
            "DPQL-W210",
            f"times in units of {float(resolution):g} move the statistic by about "
            f"{moved:.2g} of its standard deviations although `b0` is true",
            "resolution",
            note="records that share a time blur who was still at risk, and the level is lost as "
            "the number of records grows",
            help="record times more finely, or test against `b0` = 0",
            is_warning=True,
        )
