"""Sensitivities of the log partial likelihood ratio, before any row is read.

Everything is for ONE record replaced, for sums over events (no 1/n), with Breslow's ties. The
claims are proved in `executors/mechanisms/cox/proof.md`. Every function returns an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from executors.pricing.survival_blocks import (
    COARSE,
    FINE,
    ROUNDING,
    ball,
    blocks,
    float_up,
    from_the_right,
    upper,
)
from executors.pricing.survival_domain import Domain
from planner.calculus.exact import round_up

__all__ = ["Widths", "cox_sensitivity", "floor_count", "rounding_error", "with_slack"]

LARGEST_SUM = 1_000_000


@dataclass(frozen=True, slots=True)
class Widths:
    """Upper bounds of max - min over the domain of (b1-b0).x, b0.x and b1.x."""

    difference: Fraction
    null: Fraction
    alternative: Fraction

    @classmethod
    def of(cls, domain: Domain, b0: tuple[Fraction, ...], b1: tuple[Fraction, ...]) -> Widths:
        """The widths of two coefficient vectors over a domain."""
        step = tuple(y - x for x, y in zip(b0, b1, strict=True))
        return cls(domain.width(step), domain.width(b0), domain.width(b1))


def floor_count(riskfloor: Fraction, rows: int) -> int:
    """q = ceil(riskfloor * rows), exactly: events in smaller risk sets weigh less."""
    return -((-riskfloor.numerator * rows) // riskfloor.denominator)


def rounding_error(rows: int, columns: int, widths: Widths) -> Fraction:
    """e = 2^-48 n (d+4) (1 + W + W0 + W1), by which floating-point arithmetic may miss L.

    It holds if the executor's cumulative sums are right to relative 2^-50. Claim 3 of proof.md.
    """
    size = 1 + widths.difference + widths.null + widths.alternative
    return Fraction(rows * (columns + 4), 2**48) * size


def with_slack(sensitivity: Fraction, error: Fraction) -> Fraction:
    """The sensitivity of what floating-point arithmetic computes: Delta (1 + 2^-30) + 2 e.

    `error` is e of `rounding_error`. Rounded up to 20 significant digits.
    """
    return round_up(sensitivity * (1 + Fraction(1, 2**30)) + 2 * error, 20)


def cox_sensitivity(rows: int, floor: int, widths: Widths, *, coarse: bool = False) -> Fraction:
    """How far one replaced record moves L, the (weighted) log partial likelihood ratio.

    `floor` is q = `floor_count(...)`, 0 for the unweighted ratio. `coarse` uses longer blocks: a
    larger bound, quicker, for searching only. Claim 1 of proof.md; in exact arithmetic, so before
    `with_slack`. Raises ValueError for fewer than two records, and where both hypotheses are the
    same on the domain.
    """
    if rows < 2:
        raise ValueError("a sensitivity needs at least two records")
    if widths.difference <= 0:
        raise ValueError("the two hypotheses have the same likelihood everywhere on the domain")
    if floor == 0:
        return _unweighted(rows, widths, coarse)
    return _weighted(rows, floor, widths, COARSE if coarse else FINE)


class _Event:
    """How far one event's term moves when m other records are at risk, at weight 1."""

    __slots__ = ("both", "cross", "first", "grow")

    def __init__(self, widths: Widths) -> None:
        difference = float_up(widths.difference)
        null, alternative = float_up(widths.null), float_up(widths.alternative)
        self.grow = math.expm1(difference)
        self.first = math.exp(-min(null, alternative))
        self.both = math.expm1(null) + math.expm1(alternative)
        self.cross = math.expm1(null) * math.expm1(alternative)

    def broad(self, m: int) -> float:
        """A_m."""
        return math.log1p(self.grow / (m * self.first + 1.0))

    def narrow(self, m: int) -> float:
        """c_m = min(A_m, B_m), one logarithm of the smaller ratio."""
        both = (self.both + self.cross / (m + 1.0)) / (m + 1.0)
        return math.log1p(min(self.grow / (m * self.first + 1.0), both))

    def all_narrow(self, last: int) -> Iterator[float]:
        """c_1 to c_last, with the arithmetic of `narrow` written out for speed."""
        log1p, grow, first, both, cross = math.log1p, self.grow, self.first, self.both, self.cross
        for m in range(1, last + 1):
            one, two = grow / (m * first + 1.0), (both + cross / (m + 1.0)) / (m + 1.0)
            yield log1p(one if one < two else two)


def _unweighted(rows: int, widths: Widths, coarse: bool) -> Fraction:
    width = widths.difference
    least = min(widths.null, widths.alternative)
    first = width + max(width, _sum_of_broad(rows, width, least))
    if least == 0:  # here c_m = A_m, and the second bound is never smaller
        return first
    event = _Event(widths)
    last = min(rows - 1, LARGEST_SUM)
    if coarse:
        parts = blocks(last + 1, 0, COARSE)
        total = math.fsum(event.narrow(start) * (stop - start) for start, stop in parts)
    else:
        total = math.fsum(event.all_narrow(last))
    second = 2 * width + Fraction(total * ROUNDING) + _tail(rows, last, widths)
    return min(first, second)


def _sum_of_broad(rows: int, width: Fraction, least: Fraction) -> Fraction:
    """sum_{m=1}^{n-1} A_m by log-gamma in balls, rounded up."""
    bits = 256 + 4 * math.ceil(width + least)
    with ctx.workprec(bits):
        top, bottom = ball(width + least).exp(), ball(least).exp()
        rest = arb(rows - 1)
        up = (rest + 1 + top).lgamma() - (1 + top).lgamma()
        down = (rest + 1 + bottom).lgamma() - (1 + bottom).lgamma()
        return upper(up - down)


def _tail(rows: int, last: int, widths: Widths) -> Fraction:
    """A bound of sum_{m=last+1}^{n-1} c_m: log((m+p)/(m+r)) <= (p-r)/m, and sum 1/m by digamma."""
    if rows - 1 <= last:
        return Fraction(0)
    w, w0, w1 = widths.difference, widths.null, widths.alternative
    with ctx.workprec(256 + 4 * math.ceil(w + w0 + w1)):
        broad = upper(ball(min(w0, w1) + w).exp() - ball(min(w0, w1)).exp())
        both = upper(ball(w0).exp() - 1 + ball(w1).exp() - 1)
        harmonic = upper(arb(rows).digamma() - arb(last + 1).digamma())
    return min(broad, both) * harmonic


def _weighted(rows: int, floor: int, widths: Widths, parts: int) -> Fraction:
    """The bound with w(y) = min(1, y / q), which stays finite as n grows."""
    event = _Event(widths)
    width = float_up(widths.difference)
    is_simple = min(widths.null, widths.alternative) == 0
    broad: list[tuple[float, int]] = []
    narrow: list[tuple[float, int]] = []
    for start, stop in blocks(rows, floor, parts):
        weight = min(1.0, stop / floor)
        gain = width / floor if start < floor else 0.0
        broad.append((weight * event.broad(start) + gain, stop - start))
        if not is_simple:
            narrow.append((weight * event.narrow(start) + gain, stop - start))
    steps = Fraction(min(floor - 1, rows - 1), floor)
    own = widths.difference * (1 + steps)
    first = widths.difference + max(own, from_the_right(broad))
    if is_simple:  # as in `_unweighted`
        return first
    return min(first, 2 * widths.difference + from_the_right(narrow))
