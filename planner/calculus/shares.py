"""Shares of a budget, exact in what adds up: eps, rho, mu squared, or eps and delta together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from planner.calculus.cost import Cost, Unit
from planner.calculus.exact import exact, root_down

__all__ = ["apportioned", "balanced", "part_of", "split"]

_ROOT_DIGITS = 24
_WEIGHT_DIGITS = 6


def part_of(budget: Cost, part: Fraction) -> Cost:
    """The cost that takes the share `part` in (0, 1] of a budget, exactly.

    A part of mu squared mostly has no exact root: the cost then holds the square, and as its amount
    the root rounded down to 24 digits. Raises ValueError for another part.
    """
    if not 0 < exact(part) <= 1:
        raise ValueError("a share of a budget lies in (0, 1]")
    if budget.unit == "mu":
        square = budget.additive * part
        root = root_down(square, _ROOT_DIGITS)
        return Cost("mu", root, square=None if root**2 == square else square)
    return Cost(budget.unit, budget.amount * part, budget.delta * part)


def split(budget: Cost, weights: Sequence[Fraction]) -> tuple[Cost, ...]:
    """A budget over statements in proportion to their weights > 0; the parts sum to it exactly.

    eps_i = eps w_i/W, rho_i = rho w_i/W, mu_i^2 = mu^2 w_i/W, and (eps, delta) in one proportion.
    """
    whole = _whole(weights)
    return tuple(part_of(budget, Fraction(weight) / whole) for weight in weights)


def apportioned(total: int, weights: Sequence[Fraction]) -> tuple[int, ...]:
    """Whole numbers that sum to `total` >= 0, each within 1 of its share by weight.

    The fractions that are cut off go to the largest of them, the first of equal ones.
    """
    whole = _whole(weights)
    wanted = [Fraction(weight) * total / whole for weight in weights]
    given = [int(share) for share in wanted]
    order = sorted(range(len(given)), key=lambda place: (given[place] - wanted[place], place))
    for place in order[: total - sum(given)]:
        given[place] += 1
    return tuple(given)


def balanced(importance: Sequence[float], unit: Unit) -> tuple[Fraction, ...]:
    """Weights of parts with which a sum of squared errors is least.

    In rho or mu an error of variance a_i/part_i makes sum a_i/part_i least for part_i in
    proportion to sqrt(a_i). In eps the variance is a_i/eps_i^2, so eps_i goes with the cube root
    of a_i. To 6 digits: a weight chooses a part, it claims nothing.
    """
    power = 1 / 3 if unit == "eps" else 1 / 2
    return tuple(Fraction(f"{value**power:.{_WEIGHT_DIGITS}g}") for value in importance)


def _whole(weights: Sequence[Fraction]) -> Fraction:
    if not weights or any(exact(weight) <= 0 for weight in weights):
        raise ValueError("weights are positive")
    return sum(weights, Fraction(0))
