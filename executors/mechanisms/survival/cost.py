"""The price of a noisy survival curve."""

from __future__ import annotations

from executors.pricing.hazard import CurveParams, needs, query
from executors.pricing.hazard_complaints import about, silent_rules
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Units

__all__ = ["SurvivalParams", "assumptions", "check", "need", "query"]


class SurvivalParams(CurveParams):
    """Options of `RELEASE survival`."""


def need(params: SurvivalParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Two leaves: four fifths of the cost for the hazard, a fifth for the counts at risk.

    One record replaced moves each list of bins by a gain of at most one part and a loss of at most
    one. Proof: proof.md. Checked: tests/executors/mechanisms/survival.
    """
    return needs(params, facts, units)


def check(params: SurvivalParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    return about(params, facts, units, "RELEASE survival")


def assumptions(params: SurvivalParams, facts: Facts) -> tuple[str, ...]:
    """What the band assumes; privacy assumes none of it."""
    return (
        "The band assumes censoring that tells nothing about survival. It is for one time at once, "
        "and for many records.",
        *silent_rules(facts),
    )
