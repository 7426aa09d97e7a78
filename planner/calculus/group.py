"""Group privacy: what a guarantee for one row means for a person who owns up to k rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from planner.calculus.ball_arithmetic import ball, ceiling
from planner.calculus.leaves import Leaf

__all__ = ["grouped"]


def grouped(leaf: Leaf, rows: int) -> Leaf:
    """The leaf for a person with up to `rows` rows, from that for one row replaced.

    With a scale the sensitivity is multiplied. A declared guarantee becomes rows eps, rows mu or
    rows^2 rho: in each the map 1 - f applied `rows` times. (eps, delta) becomes (rows eps,
    delta (e^(rows eps) - 1)/(e^eps - 1)), by induction over the rows; delta is rounded up, and a
    result of 1 or more is a ValueError. A cap is a person's already and is left as it is. Raises
    TypeError for rows that are no int, ValueError for fewer than one.
    """
    if not isinstance(rows, int) or isinstance(rows, bool):
        raise TypeError("a number of rows is an int")
    if rows < 1:
        raise ValueError("a person owns at least one row")
    if rows == 1 or leaf.role == "cap":
        return leaf
    if leaf.sensitivity is not None:
        return _scaled(leaf, rows)
    if leaf.kind == "zcdp":
        return replace(leaf, param=leaf.param * rows**2)
    if leaf.kind == "adp":
        delta = ceiling(lambda: ball(leaf.delta) * _geometric(leaf.param, rows))
        return replace(leaf, param=leaf.param * rows, delta=delta)
    return replace(leaf, param=leaf.param * rows)


def _scaled(leaf: Leaf, rows: int) -> Leaf:
    sensitivity = Fraction(rows) * (leaf.sensitivity or 0)
    return replace(leaf, sensitivity=sensitivity, param=leaf.param * rows)


def _geometric(eps: Fraction, rows: int) -> arb:
    return (rows * ball(eps)).expm1() / ball(eps).expm1()
