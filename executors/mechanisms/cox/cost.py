"""The price of a noisy log partial likelihood ratio."""

from __future__ import annotations

from fractions import Fraction

from executors.mechanisms.cox.complaints import check
from executors.mechanisms.cox.design import design_of
from executors.mechanisms.cox.params import CoxParams
from executors.mechanisms.cox.sentences import assumptions
from planner.calculus.leaves import Kind
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import AUTO, Query, Units

__all__ = ["CoxParams", "assumptions", "check", "need", "query"]

LEAST_SCALE = Fraction(1, 2**40)
"""The noise is never smaller than this part of the statistic's range."""


def need(params: CoxParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """One number: Laplace noise under eps or (eps, delta), Gaussian noise under rho or mu.

    The sensitivity is that of one record replaced, with the slack of floating-point arithmetic.
    Proof: proof.md, claims 1 and 3. Checked: tests/executors/mechanisms/cox.
    """
    source = facts.source
    kind: Kind = "lap" if units[source.name] in ("eps", "eps_delta") else "gauss"
    widest = design_of(params, facts, Fraction(1) if params.shrink == AUTO else params.shrink)
    return (
        Need(
            kind=kind,
            sensitivity=lambda: design_of(params, facts).sensitivity,
            role="statistic",
            dataset=source.dataset,
            site=source.site,
            minimum_scale=facts.rows * widest.widths.difference * LEAST_SCALE,
        ),
    )


def query(params: CoxParams, facts: Facts) -> Query:
    """The sums of each distinct time, records clamped to the declared domain."""
    design = design_of(params, facts)
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    return Query(
        summary="survival_groups",
        columns=(duration, event, *facts.columns),
        parameters=(
            ("domain", design.domain),
            ("null", design.null),
            ("alternative", design.alternative),
        ),
    )
