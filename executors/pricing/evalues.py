"""Scales of the noise that selects log e-values or hides them, from a privacy budget.

Log e-values are integers in steps of 2^-grid nats; one person moves each of them by at most
`sensitivity_steps`. All results are exact: a scale is rounded up, the range of a selection down.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from executors.pricing.allowance import Allowance
from planner.calculus.exact import double_above, root_above

__all__ = [
    "CEILING",
    "COARSEST_GRID",
    "FINEST_GRID",
    "LARGEST_SCALE",
    "LEAST_SCALE",
    "SMOOTHING_BITS",
    "Rounds",
    "centering_steps",
    "finest_grid",
    "rounds",
    "sensitivity_steps",
    "size_grid",
    "value_scale",
]

CEILING = 1000
"""Log e-values above this count as this, in nats."""

SMOOTHING_BITS = 20
"""Every e-value E becomes (1 - f) E + f with f = 2^-20, so that its logarithm is finite."""

FINEST_GRID = 40
COARSEST_GRID = 20
LARGEST_SCALE = 2**52
LEAST_SCALE = 1024
"""Parameters of the discrete Gaussian, in grid steps, lie in [1024, 2^52)."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What is drawn once the number of hypotheses to select is known.

    `selection` pays for one of `size` draws without replacement, None where all are taken;
    `value` pays for one of `size` noisy values.
    """

    size: int
    selection: Allowance | None
    value: Allowance


def rounds(allowance: Allowance, size: int, hypotheses: int, share: Fraction) -> Rounds:
    """The allowance spread evenly: `share` of it over the selections, the rest over the values.

    With all hypotheses taken nothing is selected, and the values get the whole allowance.
    """
    if size == hypotheses:
        return Rounds(size, None, allowance.part(Fraction(1, size)))
    return Rounds(size, allowance.part(share / size), allowance.part((1 - share) / size))


def sensitivity_steps(sensitivity: Fraction, grid: int) -> int:
    """How many steps one person moves a log e-value: ceil(2^grid sensitivity) + 1.

    `sensitivity` is in nats. The 1 covers the rounding of the logarithm on both sides, which stays
    below a quarter of a step each. Raises ValueError for a sensitivity that is not positive.
    """
    if sensitivity <= 0:
        raise ValueError("a sensitivity is positive")
    return ceil(sensitivity * Fraction(2) ** grid) + 1


def value_scale(steps: int, mu_squared: Fraction) -> int:
    """Parameter of the discrete Gaussian, in steps, that makes one value mu-GDP.

    The least integer s with (steps + 1)^2 <= mu^2 s^2, rounded up to 53 significant bits. With
    `steps + 1` the bound is proved for the discrete law; `steps` alone would not be enough.
    """
    return double_above(root_above((steps + 1) ** 2 / mu_squared))


def centering_steps(scale: int, grid: int) -> int:
    """Steps to subtract so that the noise factor has mean at most 1: ceil(s^2 / 2^(grid+1)) + 1."""
    return -(-(scale * scale) >> (grid + 1)) + 1


def finest_grid(sensitivity: Fraction, mu_squared: Fraction) -> int:
    """The finest grid in [20, 40] whose value scale stays below 2^52; 20 if there is none.

    `mu_squared` is what the least costly value of the statement may cost.
    """
    for grid in range(FINEST_GRID, COARSEST_GRID, -1):
        if value_scale(sensitivity_steps(sensitivity, grid), mu_squared) < LARGEST_SCALE:
            return grid
    return COARSEST_GRID


def size_grid(largest: int) -> tuple[int, ...]:
    """The sizes among which ADAPTIVE chooses: 1, then the next integer or a tenth more."""
    sizes, size = [], 1
    while size <= largest:
        sizes.append(size)
        size = max(size + 1, 11 * size // 10)
    return tuple(sizes)
