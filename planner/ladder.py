"""Costs of three significant digits, numbered in their order."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.exact import exact

__all__ = ["DECADE", "below", "rung"]

DECADE = 900
"""How many rungs lie between a number and ten times it: 1.00, 1.01, ..., 9.99."""


def rung(place: int) -> Fraction:
    """The number of three significant digits at a place: 1 at 0, 1.01 at 1, 10 at 900."""
    decade, step = divmod(place, DECADE)
    return Fraction(100 + step, 100) * Fraction(10) ** decade


def below(value: Fraction) -> int:
    """The place of the greatest rung that is not above `value` > 0."""
    if exact(value) <= 0:
        raise ValueError("only a number above 0 stands on the ladder")
    decade = 0
    while rung((decade + 1) * DECADE) <= value:
        decade += 1
    while rung(decade * DECADE) > value:
        decade -= 1
    return decade * DECADE + int(value / Fraction(10) ** decade * 100) - 100
