"""The costs that a search tries: numbers of three significant digits, in their order."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.exact import exact

__all__ = ["DECADE", "place_below", "candidate"]

DECADE = 900
"""How many candidates lie between a number and ten times it: 1.00, 1.01, ..., 9.99."""


def candidate(place: int) -> Fraction:
    """The number of three significant digits at a place: 1 at 0, 1.01 at 1, 10 at 900."""
    decade, step = divmod(place, DECADE)
    return Fraction(100 + step, 100) * Fraction(10) ** decade


def place_below(value: Fraction) -> int:
    """The place of the greatest candidate that is not above `value` > 0.

    Raises ValueError for another value.
    """
    if exact(value) <= 0:
        raise ValueError("only a number above 0 has a place")
    decade = 0
    while candidate((decade + 1) * DECADE) <= value:
        decade += 1
    while candidate(decade * DECADE) > value:
        decade -= 1
    return decade * DECADE + int(value / Fraction(10) ** decade * 100) - 100
