"""The price of variances, with the means beside them or without."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, model_validator

from executors.pricing.covariance import (
    GRID,
    MEAN_WEIGHT,
    PRODUCT,
    diagonal_sensitivity,
    is_constant_square,
    joint_sensitivity,
)
from executors.pricing.covariance_columns import (
    Center,
    box_of,
    center_complaints,
    complaints,
    silent_rules,
)
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Params, Query, Units

__all__ = [
    "Deviations",
    "DiagonalParams",
    "assumptions",
    "check",
    "deviations",
    "measured",
    "need",
    "query",
    "sensitivity",
]

_LEAST_SCALE = Fraction(2**20)
_LEAST_JOINT_SCALE = Fraction(2**26)


class DiagonalParams(Params):
    """Options of `COVARIANCE diagonal`."""

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

    @model_validator(mode="before")
    @classmethod
    def _published_center(cls, given: Any) -> Any:
        """`variant=paper` means second moments about the middle unless a centre is written."""
        if isinstance(given, dict) and given.get("variant") == "paper":
            return {"center": "midpoint", **given}
        return given


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the noise on a square and on a mean, in the unit box."""

    square: float
    mean: float


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
    joint = params.center == "private"
    count = len(facts.columns) * 2 if joint else len(measured(params, facts))
    return (
        Need(
            kind="dgauss",
            sensitivity=lambda: sensitivity(params, facts),
            width=max(1, count),
            role="measure",
            dataset=facts.source.dataset,
            site=facts.source.site,
            minimum_scale=_LEAST_JOINT_SCALE if joint else _LEAST_SCALE,
        ),
    )


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
    """The columns whose squares are noised, by their place.

    About its middle a boolean is -1 or 1 in the unit box, and so is its fill: its mean square is 1
    for every dataset and needs no noise.
    """
    places = tuple(range(len(facts.columns)))
    if params.center == "private" or params.variant == "paper":
        return places
    center = box_of(params.center, facts).center
    return tuple(j for j in places if not is_constant_square(facts.columns[j], center[j]))


def sensitivity(params: DiagonalParams, facts: Facts) -> Fraction:
    """L2 move of the noised integers for one row replaced. Proof: proof.md, claims 1 and 2."""
    if params.center == "private":
        return joint_sensitivity(len(facts.columns))
    return diagonal_sensitivity(len(measured(params, facts)))


def deviations(facts: Facts, scale: Fraction) -> Deviations:
    """The noise of a square and of a mean, from the leaf's scale as it is drawn."""
    return Deviations(
        float(scale / (facts.rows * PRODUCT)), float(scale / (facts.rows * MEAN_WEIGHT * GRID))
    )
