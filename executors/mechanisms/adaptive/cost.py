"""The price of a radius that is searched for, with the matrix of rows shortened to it."""

from __future__ import annotations

from fractions import Fraction

from executors.mechanisms.adaptive.layout import (
    AdaptiveParams,
    coarse_width,
    searched,
    sums_query,
)
from executors.pricing.covariance_columns import center_rules, complaints, silent_rules
from executors.pricing.covariance_frame import norm_complaints, norm_rules
from planner.calculus.leaves import SEARCH_FACTOR, Kind
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Query, Units

__all__ = ["AdaptiveParams", "assumptions", "check", "need", "query"]

_LEAST_TRACE_SCALE = Fraction(2**12)


def check(params: AdaptiveParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement, found without data."""
    found = [*complaints(facts), *norm_complaints(params.center, params.norm, facts)]
    if len(facts.columns) == 1:
        found.append(
            Complaint(
                "DPQL-E162",
                "`adaptive` needs at least two columns",
                "columns",
                note="the length of a row of one column is that column: there is no radius to "
                "search for that its range does not give",
                help="write `COVARIANCE ssp`",
            )
        )
    return tuple(found)


def need(params: AdaptiveParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """The mean squared length (1/8), the search for a radius (1/8), the matrix (3/4).

    The matrix is a cap, because what is drawn on it follows from the radius: one Gaussian release,
    or two of half each. Neighbours differ in one row. Proof: proof.md, claims 1 to 5.
    """
    source = facts.source
    kind: Kind = "zcdp" if units[source.name] == "rho" else "gdp"
    eighth = Fraction(1, 8)
    return (
        Need(
            kind="dgauss",
            sensitivity=lambda: coarse_width(params, facts),
            role="length",
            share=eighth,
            dataset=source.dataset,
            site=source.site,
            minimum_scale=_LEAST_TRACE_SCALE,
        ),
        Need(
            kind="pure",
            sensitivity=lambda: coarse_width(params, facts),
            width=searched(params, facts),
            role="radius",
            share=eighth,
            dataset=source.dataset,
            site=source.site,
            factor=SEARCH_FACTOR,
        ),
        Need(
            kind=kind,
            sensitivity=None,
            role="cap",
            share=1 - 2 * eighth,
            of=("dgauss",),
            dataset=source.dataset,
            site=source.site,
        ),
    )


def query(params: AdaptiveParams, facts: Facts) -> Query:
    """How long rows are; the second pass asks for the matrix once the radius is released."""
    return sums_query(params, facts)


def assumptions(params: AdaptiveParams, facts: Facts) -> tuple[str, ...]:
    """What the reader of the plan has to know."""
    return (
        *silent_rules(facts),
        "Rows longer than a privately found radius are shortened to it, which biases the matrix "
        "towards 0; how many are shortened is not told.",
        "The data is read twice: for the radius, then for the matrix.",
        *center_rules(params.center),
        *norm_rules(params.norm),
    )
