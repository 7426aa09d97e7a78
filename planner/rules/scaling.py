"""By which factor all noise must grow for a plan to fit a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from planner.bound import BoundDataset
from planner.calculus.compose import eps_at
from planner.calculus.cost import Cost
from planner.calculus.noise_scaling import scale_cost, scale_noise
from planner.candidate_costs import candidate
from planner.charges import is_within, total_of
from planner.checked import Price

__all__ = ["noise_factor"]

_MOST = 9 * 900
"""The place of a billion: a plan that passes its budget by more is not scaled, but rewritten."""

_LONG = 300
"""A longer plan is searched only where nothing has to be converted anew at every factor."""

_COMPOSED = 30
"""In a longer plan no losses are composed on a grid at every factor."""


def noise_factor(dataset: BoundDataset, prices: Sequence[Price]) -> Fraction | None:
    """The least factor of three digits on all noise with which the prices fit the BUDGET.

    Each leaf's noise grows by it, so the totals fall and the search may halve an interval: by
    closed forms, then, with at most 30 prices, by what composing on a grid may lower. None where
    no factor helps, since a price cannot be charged in the budget's unit at all, or where the
    search would take longer than all the rest of a check.
    """
    budget = dataset.budget
    if budget is None or not prices:
        return None
    converted = budget.unit == "eps_delta" or any(p.cost.unit != budget.unit for p in prices)
    if converted and len(prices) > _LONG:
        return None
    if any(leaf.kind == "adp" for price in prices for leaf in price.leaves):
        return None
    most = dataset.facts.max_sites
    if not _fits(prices, budget, most, _MOST, grid=False):
        return None
    good = _MOST
    for grid in (False, True) if len(prices) <= _COMPOSED else (False,):
        bad = -1
        while good - bad > 1:
            middle = (good + bad) // 2
            if _fits(prices, budget, most, middle, grid):
                good = middle
            else:
                bad = middle
    return candidate(good)


def _fits(prices: Sequence[Price], budget: Cost, most: int, place: int, grid: bool) -> bool:
    factor = candidate(place)
    if budget.unit != "eps_delta":
        scaled = [_scaled(price, factor) for price in prices]
        if grid:
            return is_within(scaled, budget.unit, budget.additive)
        total = total_of(scaled, budget.unit)
        return total is not None and total <= budget.additive
    leaves = [scale_noise(leaf, factor) for price in prices for leaf in price.leaves]
    bound = eps_at(leaves, budget.delta, most, grid=grid)
    return bound is not None and bound.eps <= budget.amount


def _scaled(price: Price, factor: Fraction) -> Price:
    """The price with all its noise larger; a pair is charged by its leaves, so it may stay."""
    cost = price.cost if price.cost.unit == "eps_delta" else scale_cost(price.cost, factor)
    leaves = tuple(scale_noise(leaf, factor) for leaf in price.leaves)
    return replace(price, cost=cost, leaves=leaves)
