"""What can be wrong with a `TEST cox` statement, found without data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from executors.mechanisms.cox.design import design_of
from executors.mechanisms.cox.params import CoxParams
from executors.pricing.survival_complaints import about_columns, about_source, too_spread
from executors.pricing.survival_model import about_length, about_size, about_times
from planner.facts import Facts
from planner.mechanism import AUTO, Complaint, Units

__all__ = ["check"]


def check(params: CoxParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    found = [
        *about_source(facts, "TEST cox"),
        *about_columns(facts),
        *_about_coefficients(params, facts),
    ]
    if not found:
        widths = design_of(params, facts, Fraction(1)).widths
        found += about_size(max(widths.difference, widths.null, widths.alternative))
        if params.spread != AUTO and params.spread > widths.difference / 2:
            found.append(too_spread(widths.difference / 2, "linear score (b1-b0).x"))
    if not any(complaint.code.startswith("DPQL-E") for complaint in found):
        found += about_times(params.beta.left, facts, params.event_rate, params.resolution)
    return tuple(found)


def _about_coefficients(params: CoxParams, facts: Facts) -> Iterator[Complaint]:
    for side in (params.beta.left, params.beta.right):
        found = tuple(about_length(side, facts))
        yield from found
        if found:
            return
    if params.beta.left == params.beta.right:
        yield Complaint(
            "DPQL-E140",
            "the two hypotheses are identical",
            "beta",
            help="write `beta=b0 VS b1` with coefficients that differ",
        )
