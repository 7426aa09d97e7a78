"""Groups of records, to a noisy two-group test with its decision."""

from __future__ import annotations

from collections.abc import Callable

from executors.mechanisms.logrank.cost import design_of, query
from executors.mechanisms.logrank.params import LogrankParams
from executors.noise import StatementNoise
from executors.release import Outcome
from executors.statistics.score_release import score_outcome
from executors.statistics.survival_score import score_and_trace, score_of
from executors.summaries.survival_groups import SurvivalGroups
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import Query

__all__ = ["run"]


def run(
    params: LogrankParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], SurvivalGroups],
    noise: StatementNoise,
) -> Outcome:
    """The release: observed minus expected events of the second group, its variance, the test."""
    design = design_of(params, facts)
    groups = stats(query(params, facts))
    if params.trace == "bound":
        exact: tuple[list[float], float | None] = (score_of(groups, design.floor), None)
    else:
        exact = score_and_trace(groups, design.floor)
    return score_outcome(
        design,
        loss,
        exact,
        noise,
        params.level,
        {"group": params.group, "riskfloor": float(params.riskfloor), "trace_rule": params.trace},
        (
            "The score is the number of events in the second group beyond those expected if both "
            "groups survived alike, weighted by the risk floor: positive where it dies sooner.",
            "`statistic` is the size of the noisy score over the root of the number of records.",
        ),
    )
