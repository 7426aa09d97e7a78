"""Where the covariates of a survival analysis lie, by public declaration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.calculus.exact import root_up

__all__ = ["Domain", "box"]

DIGITS = 30
"""Significant digits of a width that is not rational, rounded up."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A box, or the part of it that lies in an l2 ball about `center`.

    `lo` and `hi` hold one number a covariate; `center` lies in the box. With a ball it is a double,
    so that pricing and running centre at the same point. Only differences of covariates enter any
    statistic, so the centre of a box without a ball does not matter.
    """

    lo: tuple[Fraction, ...]
    hi: tuple[Fraction, ...]
    center: tuple[Fraction, ...]
    radius: Fraction | None = None

    def width(self, direction: Sequence[Fraction]) -> Fraction:
        """An upper bound of max - min of direction . x over the domain, exact for a box."""
        in_box = sum(
            (abs(a) * (hi - lo) for a, lo, hi in zip(direction, self.lo, self.hi, strict=True)),
            Fraction(0),
        )
        if self.radius is None or in_box == 0:
            return in_box
        in_ball = 2 * self.radius * _length(direction)
        largest = max(abs(a) for a in direction)
        ahead = [a / largest for a in direction]
        back = [-a for a in ahead]
        both = largest * (self._support(ahead) + self._support(back))
        return min(in_box, in_ball, both)

    def _support(self, direction: Sequence[Fraction]) -> Fraction:
        """An upper bound of max direction . (x - center) over the box and the ball together.

        The largest coordinate of `direction` has size 1.

        For every split direction = p + r the bound max_box p.y + radius |r| holds; the split of the
        true maximiser y = clip(t direction, lo, hi), r = y / t, attains it, so an inexact t costs
        tightness and never safety.
        """
        radius = self._ball()
        low = [lo - c for lo, c in zip(self.lo, self.center)]
        high = [hi - c for hi, c in zip(self.hi, self.center)]
        corner = [
            hi if a > 0 else lo if a < 0 else Fraction(0) for a, lo, hi in zip(direction, low, high)
        ]
        if sum(y * y for y in corner) <= radius * radius:
            return sum((a * y for a, y in zip(direction, corner)), Fraction(0))
        stretch = _stretch(
            [float(a) for a in direction],
            [float(y) for y in low],
            [float(y) for y in high],
            float(radius),
        )
        point = [min(max(stretch * a, lo), hi) for a, lo, hi in zip(direction, low, high)]
        pull = [y / stretch for y in point]
        push = [a - r for a, r in zip(direction, pull)]
        in_box = sum((max(p * lo, p * hi) for p, lo, hi in zip(push, low, high)), Fraction(0))
        return in_box + radius * _length(pull)

    def _ball(self) -> Fraction:
        if self.radius is None:
            raise ValueError("the domain has no ball")
        return self.radius


def box(lo: Sequence[Fraction], hi: Sequence[Fraction]) -> Domain:
    """The domain of a box alone."""
    center = tuple((a + b) / 2 for a, b in zip(lo, hi, strict=True))
    return Domain(tuple(lo), tuple(hi), center)


def _stretch(
    direction: Sequence[float], low: Sequence[float], high: Sequence[float], radius: float
) -> Fraction:
    """A t > 0 where clip(t direction, low, high) is about as long as the ball's radius."""

    def length(t: float) -> float:
        return math.hypot(*(min(max(t * a, lo), hi) for a, lo, hi in zip(direction, low, high)))

    least, most = 0.0, radius
    while length(most) < radius and most < 1e300:
        most *= 2.0
    for _ in range(200):
        middle = (least + most) / 2.0
        if length(middle) < radius:
            least = middle
        else:
            most = middle
    return Fraction(most)


def _length(vector: Sequence[Fraction]) -> Fraction:
    """The l2 norm, rounded up."""
    return root_up(sum((part * part for part in vector), Fraction(0)), DIGITS)
