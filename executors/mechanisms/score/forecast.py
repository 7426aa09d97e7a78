"""How likely the test is to reject at a distance from the null, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from executors.mechanisms.score.cost import design_of, settle
from executors.mechanisms.score.params import ScoreParams
from executors.pricing.score_design import ScoreDesign
from executors.statistics.score_forecast import Outlook, figures
from planner.calculus.cost import Cost
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["forecast", "resolve"]


def resolve(params: ScoreParams, facts: Facts, cost: Cost) -> ScoreParams:
    """The options with `noise=auto` and `spread=auto` replaced."""
    params = settle(params, facts, cost)
    if params.spread != AUTO:
        return params
    even = float(_even_variance(design_of(params, facts))) ** 0.5
    return params.model_copy(update={"spread": Fraction(f"{even:.4g}")})


def forecast(params: ScoreParams, facts: Facts, loss: Loss) -> Mapping[str, Any]:
    """`power` at `radius`, the smallest distance with 80 %, noise, threshold."""
    if params.spread == AUTO:
        raise ValueError("`spread=auto` has not been resolved")
    design, variance = design_of(params, facts), float(params.spread) ** 2
    rate, floor = float(params.event_rate), float(params.riskfloor)
    return figures(
        design,
        loss,
        params.level,
        None if params.radius is None else float(params.radius),
        lambda judge: Outlook(design, judge, floor, rate, variance),
    )


def _even_variance(design: ScoreDesign) -> Fraction:
    """The mean variance of a covariate spread evenly over the domain."""
    if design.scale is not None:
        return Fraction(1, 3)
    domain, d = design.domain, design.columns
    sides = ((hi - lo) ** 2 for lo, hi in zip(domain.lo, domain.hi, strict=True))
    in_box = sum(sides, Fraction(0)) / (12 * d)
    return in_box if domain.radius is None else min(in_box, domain.radius**2 / (d + 2))
