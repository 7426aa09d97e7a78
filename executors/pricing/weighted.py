"""Parts of one release that carry less noise than its leaf."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

__all__ = ["weighted_scale"]


def weighted_scale(scale: int, weight: Fraction) -> int:
    """The integer scale of a part that carries `weight` >= 1 times less noise: ceil(s / w) + 1.

    A part that moves by d then costs (d/t)(1 + 1/(20 t^2)) in mu at its own scale t. With
    t >= s/w + 1 and x = w/s <= 1 that is at most (w d/s)(1 + x^2/20)/(1 + x) <= w d/s. So parts of
    weighted L2 move D cost at most D/s together, which the leaf charges; in rho likewise. Raises
    ValueError for a weight below 1 or above the scale.
    """
    if weight == 1:
        return scale
    if not 1 < weight <= scale:
        raise ValueError("a weight lies between 1 and the scale")
    return ceil(scale / weight) + 1
