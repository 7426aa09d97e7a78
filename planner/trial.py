"""One measurement at given costs: what it would draw, how good it would be."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from planner.bound import BoundMeasurement, SourceCost
from planner.calculus.cost import Cost
from planner.calculus.inverse import declared
from planner.calculus.leaves import Leaf, Loss
from planner.checked import Price
from planner.mechanism import ForecastModule, Params
from planner.needs import leaves_at, needs_at
from planner.planned import PlannedMeasurement

__all__ = ["price_at", "try_out"]


def price_at(bound: BoundMeasurement, paid: SourceCost, cost: Cost) -> Price:
    """The price of a cost at one source, from its declared leaves: no sensitivity is computed.

    Raises Unsolvable where the method cannot honour the cost.
    """
    settle, params = bound.mechanism.settle, bound.params
    params = params if settle is None else settle(params, bound.facts, cost)
    needs = needs_at(bound.mechanism, params, bound.facts, bound.units, paid.source)
    return Price(bound, paid, cost, declared(needs, cost))


def try_out(bound: BoundMeasurement, prices: tuple[Price, ...]) -> PlannedMeasurement:
    """The measurement with every option settled, its noise solved, its quality forecast.

    Raises Unsolvable where a cost buys no noise that the method accepts.
    """
    module = cast(ForecastModule, import_module(bound.mechanism.forecast))
    params: Params = module.resolve(bound.params, bound.facts, prices[0].cost)
    leaves: list[Leaf] = []
    for price in prices:
        leaves += leaves_at(
            bound.mechanism, params, bound.facts, bound.units, price.paid.source, price.cost
        )
    loss = Loss(tuple(leaves))
    forecast: Mapping[str, Any] = module.forecast(params, bound.facts, loss)
    shown = {name: value for name, value in forecast.items() if name != "warnings"}
    return PlannedMeasurement(
        bound, params, prices, loss, shown, tuple(forecast.get("warnings", ()))
    )
