"""Groups of records, to a noisy survival curve."""

from __future__ import annotations

from collections.abc import Callable

from executors.noise import StatementNoise
from executors.pricing.hazard import CurveParams
from executors.release import Outcome
from executors.statistics.hazard_curve import released
from executors.statistics.hazard_site import measure
from executors.summaries.survival_groups import SurvivalGroups
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import Query

__all__ = ["run"]


def run(
    params: CurveParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], SurvivalGroups],
    noise: StatementNoise,
) -> Outcome:
    """The release: everything in it is computed from two noisy lists."""
    return released(measure(params, facts, loss, stats, noise), params, facts, "survival")
