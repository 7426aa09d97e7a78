"""Prices of a noisy cumulative hazard with its counts at risk, before any row is read.

A horizon is cut into B bins. Of each bin the events are summed, each as one over the records then
at risk, at least `floor` of them; and the records that end in it are counted. Neither list is
noised itself: `tree=sqrt` noises F a, where F F sums a list up from its start; `tree=haar` noises
the sums over halves, quarters and so on. Proofs: `executors/mechanisms/survival/proof.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from executors.pricing.survival import floor_count
from executors.pricing.survival_domain import box
from planner.calculus.cost import Unit
from planner.calculus.exact import root_up
from planner.calculus.leaves import Kind
from planner.calculus.need import Need
from planner.facts import Facts, SourceFacts
from planner.mechanism import AUTO, Auto, Params, Query, Units

__all__ = [
    "AT_RISK",
    "HAZARD",
    "MOST_BINS",
    "CurveParams",
    "HazardParams",
    "Tree",
    "floor_of",
    "horizon_of",
    "list_sensitivity",
    "measured_numbers",
    "needs",
    "query",
    "root_coefficients",
    "with_horizon",
]

Tree = Literal["sqrt", "haar"]
Options = TypeVar("Options", bound="HazardParams")

HAZARD, AT_RISK = "hazard", "at_risk"
"""The roles of the two leaves of a source."""

SHARES = {HAZARD: Fraction(4, 5), AT_RISK: Fraction(1, 5)}
"""Their parts of the source's cost, in eps, rho or mu squared."""

MOST_BINS = 512
LEAST_SCALE = Fraction(1, 2**40)
"""The noise is never smaller than this part of the range of what it is added to."""


class HazardParams(Params):
    """Options of every statement about a cumulative hazard."""

    horizon: Annotated[Fraction, Field(gt=0)] | Auto = Field(
        default=AUTO,
        description="the time up to which events count, in the unit of the DURATION column; `auto` "
        "is the upper end of its range",
    )
    bins: int = Field(
        default=32,
        ge=1,
        le=MOST_BINS,
        description="into how many equal parts the time up to the horizon is cut; the curve is "
        "known at their ends",
    )
    floor: Fraction = Field(
        default=Fraction(1, 10),
        ge=0,
        le=1,
        description="events with fewer than this share of the records still at risk count as if "
        "so many were, which bounds the noise; the curve is reliable while more are at risk",
    )
    tree: Tree = Field(
        default="sqrt",
        description="how noise is spread over time: `sqrt` has the least noise, `haar` is the "
        "published construction, for a power of two of bins, and the one that honours a pure eps",
    )
    level: Fraction = Field(
        default=Fraction(1, 20),
        gt=0,
        lt=1,
        description="how often the true value may lie outside the band at a given time",
    )


class CurveParams(HazardParams):
    """Options of a statement that releases one curve."""

    rate: Annotated[Fraction, Field(gt=0, le=50)] = Field(
        default=Fraction(1),
        description="the cumulative hazard at the horizon, for the forecast only",
        json_schema_extra={"forecast": True},
    )
    censoring: Annotated[Fraction, Field(ge=0, le=50)] = Field(
        default=Fraction(1, 2),
        description="the cumulative hazard of being censored at the horizon, for the forecast only",
        json_schema_extra={"forecast": True},
    )


def with_horizon(params: Options, facts: Facts) -> Options:
    """The options with `horizon=auto` replaced."""
    return params.model_copy(update={"horizon": horizon_of(params, facts)})


def floor_of(params: HazardParams, source: SourceFacts) -> int:
    """q, the least number of records at risk that an event is divided by; at least 1."""
    return max(1, floor_count(params.floor, source.rows))


def horizon_of(params: HazardParams, facts: Facts) -> Fraction:
    """The end of the last bin: as written, else the least upper end of the sources' durations."""
    if params.horizon != AUTO:
        return params.horizon
    ends = [column.hi for source in facts.sources for column in source.role("duration")]
    return min(end for end in ends if end is not None)


@lru_cache(maxsize=64)
def root_coefficients(bins: int) -> tuple[Fraction, ...]:
    """f_0 to f_(B-1), the first column of F: f_0 = 1, f_k = f_(k-1) (2k - 1) / (2k)."""
    found = [Fraction(1)]
    for k in range(1, bins):
        found.append(found[-1] * Fraction(2 * k - 1, 2 * k))
    return tuple(found)


def measured_numbers(tree: Tree, bins: int) -> int:
    """How many numbers are noised for one list: B, or the nodes of a tree without its root."""
    return bins if tree == "sqrt" else 2 * bins - 2


def list_sensitivity(tree: Tree, bins: int, kind: Kind) -> Fraction:
    """How far a list of bins moves its measured numbers, in L1 for `lap`, L2 for `gauss`.

    The list itself gains at most 1 in all and loses at most 1 in all. Rounded up. Raises ValueError
    for `lap` with `tree=sqrt`, and for `tree=haar` without a power of two of bins.
    """
    if tree == "sqrt":
        if kind == "lap":
            raise ValueError("tree=sqrt has Gaussian noise only")
        return root_up(2 * sum((f * f for f in root_coefficients(bins)), Fraction(0)))
    levels = bins.bit_length() - 1
    if levels < 1 or bins != 2**levels:
        raise ValueError("tree=haar wants a power of two of bins")
    return Fraction(2 * levels) if kind == "lap" else root_up(Fraction(2 * levels))


def needs(params: HazardParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Two leaves at every source, under one record replaced: its hazard, its counts at risk.

    The hazard has four fifths of the cost. One record replaced moves each list of bins by a gain
    of at most one part and a loss of at most one. Laplace noise under a pure eps (`tree=haar`
    only), Gaussian noise otherwise. Proof: `executors/mechanisms/survival/proof.md`, claims 1 to 3.
    Checked: tests/executors/statistics/test_hazard_neighbours.py, and the suites of the three
    methods.
    """
    return tuple(
        need
        for source in facts.sources
        for need in _at(params, source, units.get(source.name, "mu"))
    )


def _at(params: HazardParams, source: SourceFacts, unit: Unit) -> tuple[Need, Need]:
    kind: Kind = "lap" if unit == "eps" else "gauss"
    floor = floor_of(params, source)

    def part(role: str, most: Fraction, range_of: Fraction) -> Need:
        return Need(
            kind=kind,
            sensitivity=lambda: most * list_sensitivity(params.tree, params.bins, kind),
            width=measured_numbers(params.tree, params.bins),
            role=role,
            share=SHARES[role],
            dataset=source.dataset,
            site=source.site,
            minimum_scale=range_of * LEAST_SCALE,
        )

    return (
        part(HAZARD, Fraction(1, floor), Fraction(source.rows, floor)),
        part(AT_RISK, Fraction(1), Fraction(source.rows)),
    )


def query(params: HazardParams, facts: Facts) -> Query:
    """Records and events of each distinct time, at the first source."""
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    return Query("survival_groups", (duration, event), (("domain", box((), ())), ("parts", ())))
