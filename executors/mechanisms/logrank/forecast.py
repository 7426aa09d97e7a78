"""How likely the test is to reject at a given hazard ratio, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.mechanisms.logrank.cost import design_of
from executors.mechanisms.logrank.params import LogrankParams
from executors.statistics.group_forecast import GroupsOutlook
from executors.statistics.score_decision import Judge
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
    design, effect = design_of(params, facts), float(params.effect or 0)

    def outlook(judge: Judge) -> GroupsOutlook:
        share = float(params.share)
        return GroupsOutlook(
            design,
            judge,
            riskfloor=float(params.riskfloor),
            event_rate=float(params.event_rate),
            variance=share * (1.0 - share),
            share=share,
            sign=-1.0 if effect < 0 else 1.0,
        )

    return figures(design, loss, params.level, abs(effect) or None, outlook)
