"""Leaves after all noise was made larger by one factor."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from planner.calculus.cost import Cost
from planner.calculus.exact import positive, root_down
from planner.calculus.leaves import Draft

__all__ = ["scale_cost", "scale_noise"]

_ROOT_DIGITS = 24


def scale_noise(leaf: Draft, factor: Fraction) -> Draft:
    """The leaf with `factor` times the noise: eps0, eta and mu fall by it, rho by its square.

    A filter's cap falls likewise, so that every draw under it has so much more noise. A declared
    (eps, delta) leaf has no noise to change and is a ValueError.
    """
    positive(factor, "a factor of the noise")
    if leaf.kind == "adp":
        raise ValueError("a declared (eps, delta) cost has no noise")
    if leaf.kind == "zcdp":
        return replace(leaf, param=leaf.param / factor**2)
    square = None if leaf.mu_squared is None else leaf.mu_squared / factor**2
    return replace(leaf, param=leaf.param / factor, mu_squared=square)


def scale_cost(cost: Cost, factor: Fraction) -> Cost:
    """The cost in eps, rho or mu that buys `factor` times the noise: eps/s, rho/s^2 or mu/s.

    Exact for draws of Laplace or Gaussian noise in their own unit. A pair of eps and delta has no
    such law and is a ValueError.
    """
    positive(factor, "a factor of the noise")
    if cost.unit == "eps_delta":
        raise ValueError("the noise under a pair of eps and delta follows no power of them")
    if cost.unit != "mu":
        return Cost(cost.unit, cost.amount / (factor if cost.unit == "eps" else factor**2))
    square = cost.additive / factor**2
    root = cost.amount / factor if cost.square is None else root_down(square, _ROOT_DIGITS)
    return Cost("mu", root, square=None if root**2 == square else square)
