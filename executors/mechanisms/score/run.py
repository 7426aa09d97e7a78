"""Groups of records, to a noisy score with its decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from executors.mechanisms.score.cost import design_of, query
from executors.mechanisms.score.params import ScoreParams
from executors.noise import StatementNoise
from executors.pricing.score_design import ScoreDesign
from executors.release import Outcome
from executors.statistics.score_release import score_outcome
from executors.statistics.survival_score import score_and_trace, score_of
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import Query

__all__ = ["run"]


def run(
    params: ScoreParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], Any],
    noise: StatementNoise,
) -> Outcome:
    """The release. Everything but the noisy statistics follows from them and public facts."""
    design = design_of(params, facts)
    exact = _statistics(design, stats(query(params, facts)), params.trace == "bound")
    said = {
        "null": [float(value) for value in design.null],
        "columns": [column.name for column in facts.columns],
        "scale": None if design.scale is None else [float(value) for value in design.scale],
        "riskfloor": float(params.riskfloor),
        "trace_rule": params.trace,
    }
    note = "A rejection says that the coefficients are others; it does not say which."
    return score_outcome(design, loss, exact, noise, params.level, said, (note,))


def _statistics(
    design: ScoreDesign, summary: Any, is_bound: bool
) -> tuple[list[float], float | None]:
    """The score, with the trace unless the largest one is assumed."""
    if is_bound:
        return score_of(summary, design.floor), None
    if design.is_split:
        trace = score_and_trace(summary.first, design.trace_floor)[1]
        return score_of(summary.others, design.floor), trace
    return score_and_trace(summary, design.floor)
