"""What a statement draws at one of its sources: needs, then leaves with scales."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.calculus.leaves import Leaf
from planner.calculus.need import Need
from planner.facts import Facts, SourceFacts
from planner.mechanism import Mechanism, Units

__all__ = ["leaves_at", "needs_at"]


def needs_at(
    mechanism: Mechanism, params: Any, facts: Facts, units: Units, source: SourceFacts
) -> tuple[Need, ...]:
    """The needs of a statement at one source; a need without a dataset is of its only one."""
    return tuple(
        need
        for need in mechanism.need(params, facts, units)
        if (need.dataset or source.dataset) == source.dataset and need.site == source.site
    )


def leaves_at(
    mechanism: Mechanism,
    params: Any,
    facts: Facts,
    units: Units,
    source: SourceFacts,
    cost: Cost,
) -> tuple[Leaf, ...]:
    """The leaves that a cost buys at one source, sensitivities included.

    Raises `Unsolvable` where the cost buys no noise that the method accepts.
    """
    needs = needs_at(mechanism, params, facts, units, source)
    if mechanism.solve is not None:
        loss = mechanism.solve(params, facts, needs, cost)
    else:
        loss = solve(needs, cost, source.max_rows)
    return tuple(replace(leaf, dataset=source.dataset, site=source.site) for leaf in loss.leaves)
