"""Sensitivities of the score of a proportional hazards model, before any row is read.

U = sum over events of w (x - mean of the risk set), V = sum over events of w^2 times the trace of
the risk set's covariance, both weighted by exp(b0.x); w(y) = min(1, y / floor) for y at risk.
Everything is for ONE record replaced. Proof: `executors/mechanisms/score/proof.md`, claim 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from executors.pricing.survival_blocks import (
    FINE,
    ball,
    blocks,
    float_up,
    from_the_right,
    upper,
)
from executors.pricing.survival_domain import Domain
from planner.calculus.exact import root_up

__all__ = [
    "diameter",
    "score_error",
    "score_factor",
    "squared_diameter",
    "trace_error",
    "trace_sensitivity",
]


def squared_diameter(domain: Domain) -> Fraction:
    """An upper bound of the largest |x - x'|^2: that of the box or that of the ball, the less.

    A quarter of it bounds the squared circumradius, hence the trace of any covariance.
    """
    in_box = sum(((hi - lo) ** 2 for lo, hi in zip(domain.lo, domain.hi, strict=True)), Fraction(0))
    return in_box if domain.radius is None else min(in_box, 4 * domain.radius**2)


def diameter(domain: Domain) -> Fraction:
    """The root of `squared_diameter`, rounded up."""
    return root_up(squared_diameter(domain), 30)


@lru_cache(maxsize=256)
def score_factor(rows: int, floor: int, null_width: Fraction) -> Fraction:
    """S: one record moves h.U by at most S times the width of h.x, for every direction h.

    `null_width` is the width of b0.x over the domain, `floor` the q of the weights (0: none).
    Raises ValueError for fewer than two records.
    """
    if rows < 2:
        raise ValueError("a sensitivity needs at least two records")
    if floor == 0:
        return 1 + max(Fraction(1), _shares(rows, null_width))
    share = _Share(null_width)
    terms = [
        (min(1.0, stop / floor) * share.at(start) + (1.0 / floor if start < floor else 0.0), length)
        for start, stop, length in _lengths(rows, floor)
    ]
    steps = Fraction(min(floor - 1, rows - 1), floor)
    return 1 + max(1 + steps, from_the_right(terms))


@lru_cache(maxsize=256)
def trace_sensitivity(
    rows: int, floor: int, null_width: Fraction, diameter_squared: Fraction
) -> Fraction:
    """How far one record moves V, with `diameter_squared` / 4 a bound of any trace.

    Raises ValueError for fewer than two records.
    """
    if rows < 2:
        raise ValueError("a sensitivity needs at least two records")
    largest = diameter_squared / 4
    if floor == 0:
        return largest + diameter_squared * _shares(rows, null_width)
    share = _Share(null_width)
    # In units of the squared diameter; the weight's square rises by (2 m + 1) / floor^2 at m.
    terms = [
        (
            min(1.0, stop / floor) ** 2 * share.at(start)
            + (0.25 * (2 * stop - 1) / floor**2 if start < floor else 0.0),
            length,
        )
        for start, stop, length in _lengths(rows, floor)
    ]
    return largest + diameter_squared * from_the_right(terms)


def score_error(rows: int, columns: int, null_width: Fraction, width: Fraction) -> Fraction:
    """By how much, in l2, floating-point arithmetic may miss U; `width` is the diameter.

    Claim 3 of proof.md.
    """
    return Fraction(rows * (columns + 4), 2**48) * (1 + null_width) * width


def trace_error(
    rows: int, columns: int, null_width: Fraction, diameter_squared: Fraction
) -> Fraction:
    """By how much floating-point arithmetic may miss V; claim 3 of proof.md."""
    return Fraction(rows * (columns + 4), 2**48) * (1 + null_width) * diameter_squared


class _Share:
    """The largest share of one record in the weight of a risk set, beside m others."""

    __slots__ = ("least",)

    def __init__(self, null_width: Fraction) -> None:
        self.least = math.exp(-float_up(null_width))

    def at(self, m: int) -> float:
        """e^W0 / (m + e^W0)."""
        return 1.0 / (1.0 + m * self.least)


def _lengths(rows: int, floor: int) -> list[tuple[int, int, int]]:
    return [(start, stop, stop - start) for start, stop in blocks(rows, floor, FINE)]


def _shares(rows: int, null_width: Fraction) -> Fraction:
    """The sum of the largest shares over m = 1..n-1, by digamma in balls, rounded up."""
    with ctx.workprec(256 + 4 * math.ceil(null_width)):
        weight = ball(null_width).exp()
        return upper(weight * ((arb(rows) + weight).digamma() - (1 + weight).digamma()))
