"""Whether a sampler can draw the integer noise that a statement is priced with."""

from __future__ import annotations

from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, solve
from planner.calculus.need import Need

__all__ = ["LARGEST_SCALE", "confirm_drawable"]

LARGEST_SCALE = 2**52
"""The widest noise of the exact integer samplers."""


def confirm_drawable(needs: tuple[Need, ...], cost: Cost, rows_a_person: int) -> None:
    """Raise Unsolvable, when planned, where a run could only fail after its charge."""
    for leaf in solve(needs, cost, rows_a_person).leaves:
        if leaf.kind == "dgauss" and leaf.scale is not None and leaf.scale > LARGEST_SCALE:
            raise Unsolvable(
                "the noise would be wider than the exact sampler can draw",
                "raise the cost of this statement, or name fewer columns",
            )
