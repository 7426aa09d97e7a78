"""Standard deviations of linear scores when covariates spread evenly over their domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from executors.pricing.survival_domain import Domain

__all__ = ["drift", "even_score", "even_spread"]


def even_spread(domain: Domain, direction: Sequence[Fraction]) -> float:
    """The sd of direction . x: w/sqrt(12) a side of a box, C/sqrt(d+2) in a ball; the smaller."""
    sides = zip(direction, domain.lo, domain.hi, strict=True)
    in_box = math.sqrt(sum((float(a) * float(hi - lo)) ** 2 for a, lo, hi in sides) / 12.0)
    if domain.radius is None:
        return in_box
    length = math.sqrt(sum(float(a) ** 2 for a in direction))
    return min(in_box, float(domain.radius) * length / math.sqrt(len(direction) + 2))


def even_score(domain: Domain, null: Sequence[Fraction], truth: Sequence[Fraction]) -> Fraction:
    """The spread of (truth-null).x that `spread=auto` stands for, to 4 significant digits."""
    step = tuple(b - a for a, b in zip(null, truth, strict=True))
    return Fraction(f"{even_spread(domain, step):.4g}")


def drift(
    rows: int, event_rate: Fraction, resolution: Fraction, horizon: Fraction, sd: float
) -> float:
    """How many standard deviations coarse times move the statistic under a null b0 != 0.

    (a/2) sqrt(n event_rate) sd(b0.x), a = event_rate resolution / horizon the share of a risk set
    with an event within one unit of the recorded time.
    """
    share = float(event_rate * resolution / horizon)
    return share / 2.0 * math.sqrt(rows * float(event_rate)) * sd
