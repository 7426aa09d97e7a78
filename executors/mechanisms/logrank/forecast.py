"""How likely the test is to reject at a given hazard ratio, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.mechanisms.logrank.cost import design_of
from executors.mechanisms.logrank.params import LogrankParams
from executors.statistics.score_forecast import figures
from planner.calculus.cost import Cost
from planner.calculus.leaves import Loss
from planner.facts import Facts

__all__ = ["forecast", "resolve"]


def resolve(params: LogrankParams, facts: Facts, cost: Cost) -> LogrankParams:
    """The options as they are: none can be left to the planner."""
    return params


def forecast(params: LogrankParams, facts: Facts, loss: Loss) -> Mapping[str, Any]:
    """`power` at the log hazard ratio `effect`, the smallest one with 80 %, noise, threshold."""
    effect = None if params.effect is None else abs(float(params.effect))
    variance = float(params.share * (1 - params.share))
    return figures(
        design_of(params, facts), loss, params.level, float(params.riskfloor),
        float(params.event_rate), variance, effect,
    )  # fmt: skip
