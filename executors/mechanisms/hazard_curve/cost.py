"""The price of a noisy cumulative hazard."""

from __future__ import annotations

from executors.pricing.hazard import CurveParams, needs, query
from executors.pricing.hazard_complaints import about, silent_rules
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Units

__all__ = ["HazardCurveParams", "assumptions", "check", "need", "query"]


class HazardCurveParams(CurveParams):
    """Options of `RELEASE hazard`."""


def need(params: HazardCurveParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Two leaves: four fifths of the cost for the hazard, a fifth for the counts at risk.

    One record replaced moves each list of bins by a gain of at most one part and a loss of at most
    one. Proof: proof.md. Checked: tests/executors/mechanisms/hazard_curve.
    """
    return needs(params, facts, units)


def check(params: HazardCurveParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    return about(params, facts, units, "RELEASE hazard")


def assumptions(params: HazardCurveParams, facts: Facts) -> tuple[str, ...]:
    """What the band assumes; privacy assumes none of it."""
    return (
        "The band assumes censoring that tells nothing about survival. It is for one time at once, "
        "and for many records.",
        *silent_rules(facts),
    )
