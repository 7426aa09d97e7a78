"""What a cost takes from a budget, by the price that a check makes of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from planner.calculus.cost import Cost, Unit
from planner.calculus.inverse import declared
from planner.calculus.need import Need
from planner.checked import Price


def charged(needs: tuple[Need, ...], cost: Cost, unit: Unit) -> Fraction | None:
    """`Price.charge` of the declared leaves of a cost at one source, whatever the statement."""
    nowhere: Any = None
    return Price(nowhere, nowhere, cost, declared(needs, cost)).charge(unit)
