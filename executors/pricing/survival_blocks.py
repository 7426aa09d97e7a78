"""Sums over the sizes of risk sets, bounded from above block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb

__all__ = [
    "COARSE",
    "FINE",
    "ROUNDING",
    "SINGLE",
    "ball",
    "blocks",
    "float_up",
    "from_the_right",
    "upper",
]

SINGLE = 20_000
"""Risk-set sizes up to here are summed one by one; beyond, in blocks whose length grows."""
FINE, COARSE = 10_000, 1_000
ROUNDING = 1.0 + 2.0**-38
"""Covers the floats below: a width of at most 600 is rounded by 2^-53 of itself before exp, so
each ratio is right to 600 * 2^-53 and a few units more, each logarithm likewise (log1p of x > 0
magnifies no relative error), and `fsum` adds none: less than 2^-40 in all."""


def blocks(rows: int, floor: int, parts: int) -> Iterator[tuple[int, int]]:
    """Half-open blocks of m = 1..n-1: single up to 20 000, then 1/parts of their start long."""
    last = min(SINGLE, rows - 1)
    for m in range(1, last + 1):
        yield m, m + 1
    start = last + 1
    while start < rows:
        stop = min(start + max(1, start // parts), rows)
        for cut in (floor - 1, floor):
            if start < cut < stop:
                stop = cut
        yield start, stop
        start = stop


def from_the_right(terms: list[tuple[float, int]]) -> Fraction:
    """Sum over i of max_{m >= i} h_m, rounded up, for h given by blocks (value, length)."""
    largest = 0.0
    products = []
    for value, length in reversed(terms):
        largest = max(largest, value)
        products.append(largest * length)
    return Fraction(math.fsum(products) * ROUNDING)


def float_up(value: Fraction) -> float:
    """The least double at or above a value."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def ball(value: Fraction) -> arb:
    """A ball around an exact rational, at the working precision."""
    return arb(value.numerator) / arb(value.denominator)


def upper(value: arb) -> Fraction:
    """The upper end of a ball as an exact rational.

    Raises ArithmeticError for a ball without an end.
    """
    if not value.is_finite():
        raise ArithmeticError("a ball lost all its digits")
    mantissa, exponent = value.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
