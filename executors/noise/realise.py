"""How the ideal law of a leaf is drawn exactly, at no more than its cost.

Values are rounded to a public grid of step g = 2^k, integer noise is added, and the sum is scaled
back. The scale of the noise is inflated so far that rounding is paid for:

- Gaussian: rounding moves the L2 distance of neighbours to at most D/g + sqrt(w) steps (w numbers
  at once), and integer noise of scale s costs mu <= (distance + sqrt(w)) / s. With
  s >= sigma (D + 2 g sqrt(w)) / (D g) this is at most D / sigma, the leaf's mu.
- Laplace: the L1 distance becomes at most D/g + w steps, and integer noise of scale s is dominated
  by continuous Laplace noise of eps' <= (distance / s)(1 + 1/(4 s)). With s0 = b (D + g w) / (D g)
  and s >= s0 + 1/4 this is at most D / b, the leaf's eps.

- K-norm noise has the rate eps / (distance rounded up to an integer), so it costs eps.

The first two hold for every g with s >= 1; a coarser grid only inflates more. Proof: proof.md
beside this file. Checked: tests/executors/noise/test_realise.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from executors.noise.sampler import LARGEST_SCALE
from executors.pricing.drawable import Norm
from planner.calculus.exact import double_above, root_up

__all__ = ["Grid", "Value", "gaussian_grid", "integers", "knorm_grid", "laplace_grid", "reals"]

Value: TypeAlias = float | int | Fraction

_FINENESS = 20
"""The grid has at least 2^20 steps per sensitivity of a coordinate and per noise scale."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The step 2^exponent and the integer noise scale in steps."""

    exponent: int
    scale: int

    @property
    def step(self) -> Fraction:
        """g."""
        return Fraction(2) ** self.exponent

    @property
    def width(self) -> Fraction:
        """The noise scale in the units of the values."""
        return self.scale * self.step


def gaussian_grid(sensitivity: Fraction, sigma: Fraction, width: int) -> Grid:
    """The grid for Gaussian noise on `width` numbers of L2 sensitivity `sensitivity`."""
    root = root_up(Fraction(width))
    finest = min(_log2(sigma), _log2(sensitivity**2 / width) // 2) - _FINENESS
    return _fitted(
        finest, lambda step: sigma * (sensitivity + 2 * step * root) / (sensitivity * step)
    )


def laplace_grid(sensitivity: Fraction, scale: Fraction, width: int) -> Grid:
    """The grid for Laplace noise on `width` numbers of L1 sensitivity `sensitivity`."""
    finest = min(_log2(scale), _log2(sensitivity / width)) - _FINENESS
    quarter = Fraction(1, 4)
    return _fitted(
        finest,
        lambda step: scale * (sensitivity + step * width) / (sensitivity * step) + quarter,
    )


def knorm_grid(
    norm: Norm, sensitivity: Fraction, scale: Fraction, width: int
) -> tuple[Grid, Fraction]:
    """The grid for K-norm noise on `width` numbers of sensitivity D in `norm`, with its rate.

    Rounding moves neighbours to at most D/g + 1 steps in l-infinity, D/g + sqrt(w) in l2, rounded
    up to an integer; noise of that rate costs at most (D / scale), whatever the grid. The grid's
    `scale` is 1 / rate, in steps, rounded up.
    """
    finest = min(_log2(scale), _log2(sensitivity)) - _FINENESS
    steps = sensitivity / Fraction(2) ** finest
    moved = math.ceil(steps) + 1 if norm == "linf" else math.ceil(steps + root_up(Fraction(width)))
    rate = sensitivity / scale / moved
    return Grid(finest, math.ceil(1 / rate)), rate


def integers(
    values: Sequence[Value], grid: Grid, domain: tuple[Value, Value] | None = None
) -> list[int]:
    """Each value in steps of the grid, rounded to the nearest integer, exactly.

    A value that is not finite becomes 0: whether one occurs may depend on data, so it must not
    raise. Mechanisms hand over finite values. Then values are clamped to `domain`.
    """
    numbers = [_exact(value) for value in values]
    if domain is not None:
        lo, hi = Fraction(domain[0]), Fraction(domain[1])
        numbers = [min(max(number, lo), hi) for number in numbers]
    return [_nearest(number, grid.exponent) for number in numbers]


def reals(steps: Sequence[int], grid: Grid) -> list[float]:
    """Integers in steps of the grid as the nearest doubles; saturates instead of overflowing."""
    return [_double(value, grid.exponent) for value in steps]


def _fitted(exponent: int, needed: Callable[[Fraction], Fraction]) -> Grid:
    """The finest grid from `exponent` on whose scale the samplers take."""
    scale = _scale(needed(Fraction(2) ** exponent))
    while scale > LARGEST_SCALE:
        exponent += max(1, scale.bit_length() - LARGEST_SCALE.bit_length())
        coarser = _scale(needed(Fraction(2) ** exponent))
        if coarser >= scale:
            raise ValueError("the noise is too large for its sensitivity to be drawn exactly")
        scale = coarser
    return Grid(exponent, scale)


def _scale(needed: Fraction) -> int:
    return double_above(max(1, math.ceil(needed)))


def _log2(value: Fraction) -> int:
    """The e with 2^e <= value < 2^(e+1)."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def _exact(value: Value) -> Fraction:
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    number = float(value)
    return Fraction(number) if math.isfinite(number) else Fraction(0)


def _nearest(value: Fraction, exponent: int) -> int:
    """floor(value / 2^exponent + 1/2)."""
    up, down = max(0, -exponent), max(0, exponent)
    return ((value.numerator << up + 1) + (value.denominator << down)) // (
        value.denominator << down + 1
    )


def _double(value: int, exponent: int) -> float:
    scaled = value * Fraction(2) ** exponent
    try:
        return float(scaled)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
