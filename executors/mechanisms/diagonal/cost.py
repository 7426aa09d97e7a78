"""The price of variances, with the means beside them or without."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from executors.pricing.covariance_columns import (
    Center,
    box_of,
    center_complaints,
    complaints,
    silent_rules,
)
from executors.pricing.covariance_squares import measured_squares, squares_need
from executors.pricing.published import PublishedVariant
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Query, Units

__all__ = ["DiagonalParams", "assumptions", "check", "measured", "need", "query"]


class DiagonalParams(PublishedVariant):
    """Options of `COVARIANCE diagonal`."""

    PAPER: ClassVar = {"center": "midpoint"}

    center: Center = Field(
        default="private",
        description="about what: `private` (means released with the variances; not the default of "
        "variant=paper), `midpoint` (the middle of every range, a second moment; the default of "
        "variant=paper) or a list of public numbers, one a column",
    )
    variant: Literal["paper"] | None = Field(
        default=None,
        description="`paper`: the noisy second moments as they are, clipped to the box but not "
        "drawn towards their average",
    )


def check(params: DiagonalParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement, found without data."""
    found = (*complaints(facts), *center_complaints(params.center, facts))
    if found or measured(params, facts):
        return found
    return (
        Complaint(
            "DPQL-E055",
            "about its middle a BOOLEAN is always -1 or 1: there is nothing to measure",
            "columns",
            note="every second moment of these columns is known without the data",
            help="write `center=private`, which releases means and variances",
        ),
    )


def need(params: DiagonalParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """One discrete Gaussian leaf for all squares, and for the means under center=private.

    Proof: proof.md, claims 1 to 3.
    """
    return (squares_need(params.center, facts, params.variant == "paper"),)


def query(params: DiagonalParams, facts: Facts) -> Query:
    """The sums and the Gram matrix of rows on the grid of the box."""
    box = box_of(params.center, facts)
    return Query("moments", facts.columns, (("center", box.center), ("half", box.half)))


def assumptions(params: DiagonalParams, facts: Facts) -> tuple[str, ...]:
    """What the reader of the plan has to know."""
    lines = [*silent_rules(facts), "Covariances are not measured; the matrix has zeros there."]
    if params.center != "private":
        lines.append(
            "The diagonal holds second moments about public constants, not variances: they contain "
            "the squared distance of the mean from them."
        )
    if params.variant is None:
        lines.append(
            "The values are drawn towards their average by a public rule, which lowers the total "
            "error and biases each of them."
        )
    return tuple(lines)


def measured(params: DiagonalParams, facts: Facts) -> tuple[int, ...]:
    """The columns whose squares are noised, by their place."""
    return measured_squares(params.center, facts, params.variant == "paper")
