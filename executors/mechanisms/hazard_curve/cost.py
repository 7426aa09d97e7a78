"""The price of a noisy cumulative hazard."""

from __future__ import annotations

from executors.pricing.hazard import CurveParams, query
from executors.pricing.hazard import needs as need
from executors.pricing.hazard_complaints import about
from executors.pricing.hazard_complaints import curve_assumptions as assumptions
from planner.facts import Facts
from planner.mechanism import Complaint, Units

__all__ = ["CurveParams", "assumptions", "check", "need", "query"]


def check(params: CurveParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    return about(params, facts, units, "RELEASE hazard")
