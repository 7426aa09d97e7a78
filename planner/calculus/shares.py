"""Shares of a budget, exact in what adds up: eps, rho, mu squared, or eps and delta together."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.cost import Cost
from planner.calculus.exact import exact, root_down

__all__ = ["part_of"]

_ROOT_DIGITS = 24


def part_of(budget: Cost, part: Fraction) -> Cost:
    """The cost that takes the share `part` in (0, 1] of a budget, exactly.

    A part of mu squared mostly has no exact root: the cost then holds the square, and as its
    amount the root rounded down to 24 digits.
    """
    if not 0 < exact(part) <= 1:
        raise ValueError("a share of a budget lies in (0, 1]")
    if budget.unit == "mu":
        square = budget.additive * part
        root = root_down(square, _ROOT_DIGITS)
        return Cost("mu", root, square=None if root**2 == square else square)
    return Cost(budget.unit, budget.amount * part, budget.delta * part)
