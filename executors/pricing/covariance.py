"""Sensitivities of second moments on the integer grid.

A record is clamped, centred and scaled into the unit box [-1, 1]^d, then floored onto the grid
2^-16: an integer vector z with |z_j| <= 2^16. Everything below is the move of integer sums of
products of z, when ONE record is replaced by any other: an L2 bound in steps, rounded up to an
integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from planner.calculus.exact import root_above
from planner.facts import Column

__all__ = [
    "GRID",
    "JOINT",
    "MEAN_WEIGHT",
    "PRODUCT",
    "Box",
    "ball_limit",
    "ball_sensitivity",
    "box",
    "diagonal_sensitivity",
    "frobenius_sensitivity",
    "is_constant_square",
    "joint_sensitivity",
    "root_below",
    "triangle_sensitivity",
]

GRID = 2**16
"""Steps from the centre of the unit box to its wall."""

PRODUCT = 2**32
"""Steps of a product of two coordinates."""

JOINT = Fraction(1402, 1000)
"""Upper bound of (x^2 - y^2)^2 + (x - y)^2 / 3 over [-1, 1]^2; its maximum is 1.40178."""

MEAN_WEIGHT = isqrt(PRODUCT // 3)
"""37837, at most 2^16 / sqrt(3): what a sum of coordinates is multiplied by beside squares."""


@dataclass(frozen=True, slots=True)
class Box:
    """The public map x -> (x - center) / half of every column onto [-1, 1]."""

    center: tuple[Fraction, ...]
    half: tuple[Fraction, ...]


def box(columns: Sequence[Column], center: Sequence[Fraction] | None) -> Box:
    """The box of bounded columns about `center`, or about the middle of every range.

    The half-width is max(hi - c, c - lo), so that the whole range lies in the box for every c.
    Raises ValueError for a column without bounds.
    """
    centers, halves = [], []
    for index, column in enumerate(columns):
        bounds = column.bounds
        if bounds is None:
            raise ValueError(f"column {column.name} has no bounds")
        lo, hi = bounds
        middle = (lo + hi) / 2 if center is None else center[index]
        centers.append(middle)
        halves.append(max(hi - middle, middle - lo))
    return Box(tuple(centers), tuple(halves))


def is_constant_square(column: Column, center: Fraction) -> bool:
    """Whether the column is -1 or 1 in the unit box, so that its square is 1 for every dataset."""
    return column.type in ("boolean", "event") and center == Fraction(1, 2)


def triangle_sensitivity(dimension: int) -> Fraction:
    """L2 move of the upper triangle with the diagonal counted once: d products.

    With D the squared move of the diagonal and O that of the pairs, even
    ((d + 1) / 2) D + O <= d^2 (in products): the diagonal may be measured more finely for nothing.
    """
    return Fraction(dimension * PRODUCT)


def frobenius_sensitivity(dimension: int) -> Fraction:
    """Frobenius move of the whole matrix, sqrt(2) d products (1 product for d = 1)."""
    if dimension == 1:
        return Fraction(PRODUCT)
    return Fraction(root_above(2 * (dimension * PRODUCT) ** 2))


def ball_limit(dimension: int) -> int:
    """Largest squared length of an integer row that stems from the unit ball.

    Flooring lengthens a row by at most sqrt(d), floating-point clipping by less than 1:
    (2^16 + sqrt(d) + 1)^2, rounded down. The summary keeps no longer row, so this is a fact.
    """
    base = GRID + 1
    return base**2 + dimension + isqrt(4 * base**2 * dimension)


def ball_sensitivity(dimension: int) -> Fraction:
    """L2 move of (diagonal, sqrt(2) pairs) of rows in the ball: sqrt(2) C^2 (d = 1: C^2)."""
    limit = ball_limit(dimension)
    return Fraction(limit) if dimension == 1 else Fraction(root_above(2 * limit**2))


def diagonal_sensitivity(count: int) -> Fraction:
    """L2 move of `count` diagonal entries: sqrt(count) products."""
    return Fraction(root_above(count * PRODUCT**2))


def joint_sensitivity(count: int) -> Fraction:
    """L2 move of `count` diagonal entries with the means beside them.

    The integers are (sum z_j^2, 37837 sum z_j) with 37837 <= 2^16 / sqrt(3): their move is at most
    sqrt(1.402 count) products.
    """
    return Fraction(root_above(JOINT * count * PRODUCT**2))


@lru_cache(maxsize=1024)
def root_below(square: Fraction) -> Fraction:
    """The root of `square` >= 1, rounded down after 20 places.

    Raises ValueError for a smaller square.
    """
    if square < 1:
        raise ValueError("a weight is at least 1")
    return Fraction(isqrt(int(square * 10**40)), 10**20)
