"""One measurement at given costs: what it would draw, how good it would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

from planner.bound import BoundMeasurement, SourceCost
from planner.calculus.cost import Cost, Unit
from planner.calculus.inverse import Unsolvable, declared
from planner.calculus.leaves import Leaf, Loss
from planner.checked import Price
from planner.mechanism import ForecastModule, Params
from planner.needs import leaves_at, needs_at
from planner.planned import PlannedMeasurement

__all__ = ["price_at", "try_out", "with_verdict"]


def price_at(
    bound: BoundMeasurement, paid: SourceCost, cost: Cost, settled: Params | None = None
) -> Price:
    """The price of a cost at one source, from its declared leaves: no sensitivity is computed.

    `settled` are the options with every `auto` replaced, once they are known. Raises Unsolvable
    where the method cannot honour the cost.
    """
    mechanism, params, is_open = bound.mechanism, settled or bound.params, False
    if settled is None and mechanism.settle is not None:
        decided = mechanism.settle(params, bound.facts, cost)
        params, is_open = decided or params, decided is None
    needs = needs_at(mechanism, params, bound.facts, bound.units, paid.source)
    leaves = tuple(
        replace(leaf, dataset=paid.source.dataset, site=paid.source.site)
        for leaf in declared(needs, cost)
    )
    return Price(bound, paid, cost, leaves, is_open)


def with_verdict(price: Price, unit: Unit) -> Price:
    """The price with its charge to a budget in `unit` known, where its cost decides what it draws.

    Where that cost buys no noise at all, the price stays as it is: with the most general leaves.
    """
    if price.has_verdict(unit):
        return price
    bound = price.measurement
    module = cast(ForecastModule, import_module(bound.mechanism.forecast))
    try:
        params = module.resolve(bound.params, bound.facts, price.cost)
    except Unsolvable:
        return price
    return price_at(bound, price.paid, price.cost, params)


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
    prices = tuple(
        price_at(bound, price.paid, price.cost, params) if price.is_open else price
        for price in prices
    )
    forecast: Mapping[str, Any] = module.forecast(params, bound.facts, loss)
    shown = {name: value for name, value in forecast.items() if name != "warnings"}
    return PlannedMeasurement(
        bound, params, prices, loss, shown, tuple(forecast.get("warnings", ()))
    )
