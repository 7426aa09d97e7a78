"""How good the survival curve will be, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.pricing.hazard import CurveParams, with_horizon
from executors.statistics.hazard_forecast import curve_figures
from planner.calculus.cost import Cost
from planner.calculus.leaves import Loss
from planner.facts import Facts

__all__ = ["forecast", "resolve"]


def resolve(params: CurveParams, facts: Facts, cost: Cost) -> CurveParams:
    """The options with `horizon=auto` replaced."""
    return with_horizon(params, facts)


def forecast(params: CurveParams, facts: Facts, loss: Loss) -> Mapping[str, Any]:
    """How far the curve will be reliable, how wide its band, how much of that is noise."""
    return curve_figures(params, facts, loss, "survival")
