"""What a sampler can draw of the noise that a statement is priced with."""

from __future__ import annotations

from typing import Literal

from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, solve
from planner.calculus.need import Need

__all__ = ["LARGEST_SCALE", "Norm", "confirm_drawable"]

Norm = Literal["linf", "l2"]
"""The norms whose shape noise on a vector can have."""

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
