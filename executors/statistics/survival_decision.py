"""p-values and thresholds of a noisy log likelihood ratio.

Without noise E exp(L) <= 1 under the null (claim 2 of the cox mechanism's proof.md), so a noisy
value c has the p-value E min(1, exp(noise - c)): the rule `finite`. The rule `normal` takes L for
normal with mean -s^2/2 and variance s^2, at the worst s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from scipy.special import erfcx

__all__ = ["LEAST_P", "Noise", "Rule", "p_value", "power", "threshold"]

LEAST_P = 1e-300
"""Smaller p-values are given as this: beyond it doubles run out, and none is ever 0."""

Rule = Literal["finite", "normal"]


@dataclass(frozen=True, slots=True)
class Noise:
    """Laplace noise of scale b, or Gaussian noise of standard deviation g."""

    law: Literal["laplace", "gaussian"]
    scale: float


def p_value(statistic: float, noise: Noise, rule: Rule = "finite") -> float:
    """The largest chance, under the null, of a noisy value of at least `statistic`.

    In [LEAST_P, 1], and never rising in the statistic but for its own rounding.
    """
    if rule == "finite":
        known = _finite_laplace if noise.law == "laplace" else _finite_gaussian
    else:
        known = _normal_laplace if noise.law == "laplace" else _normal_gaussian
    return min(1.0, max(LEAST_P, known(statistic, noise.scale)))


@lru_cache(maxsize=256)
def threshold(level: float, noise: Noise, rule: Rule = "finite") -> float:
    """The least value whose p-value is at most `level`, by bisection, rounded up.

    `level` lies above LEAST_P. One that rounds to 1 is taken as the double below 1, since
    every p-value is at most 1.
    """
    level = min(level, math.nextafter(1.0, 0.0))
    most = 1.0
    while p_value(most, noise, rule) > level:
        most *= 2.0
    least = -most
    while p_value(least, noise, rule) <= level:
        least *= 2.0
    for _ in range(200):
        middle = (least + most) / 2.0
        if middle in (least, most):
            break
        if p_value(middle, noise, rule) <= level:
            most = middle
        else:
            least = middle
    return most


def power(limit: float, mean: float, deviation: float, noise: Noise) -> float:
    """P(N(mean, deviation^2) + noise > limit)."""
    if noise.law == "gaussian":
        return _upper((limit - mean) / math.hypot(deviation, noise.scale))
    return exceeds(limit, mean, deviation, noise.scale)


def exceeds(limit: float, mean: float, deviation: float, scale: float) -> float:
    """P(N(mean, deviation^2) + Laplace(scale) > limit)."""
    if deviation == 0.0:
        gap = limit - mean
        tail = 0.5 * math.exp(-abs(gap) / scale)
        return tail if gap >= 0 else 1.0 - tail
    u, k = (limit - mean) / deviation, deviation / scale
    return _upper(u) + 0.5 * (_tilted(u, k, -1.0) - _tilted(u, k, 1.0))


def _tilted(u: float, k: float, sign: float) -> float:
    """exp(k^2/2 + sign u k) Phi(-sign u - k), without overflow."""
    argument = (k + sign * u) / math.sqrt(2.0)
    if argument < 0.0:
        return math.exp(k * k / 2.0 + sign * u * k) * 0.5 * math.erfc(argument)
    return 0.5 * float(erfcx(argument)) * math.exp(-u * u / 2.0)


def _finite_laplace(c: float, b: float) -> float:
    """h_b(c) = E min(1, exp(Z - c)), Z Laplace of scale b; one form for b near 1 as well."""
    if c < 0.0:
        return 1.0 - math.exp(c / b) * b / (2.0 * (1.0 + b))
    rest = 0.5 * math.exp(-c / b) + math.exp(-c) / (2.0 * (b + 1.0))
    slope = 1.0 - 1.0 / b
    tilt = c * slope
    if abs(tilt) > 1.0:
        return rest + (math.exp(-c / b) - math.exp(-c)) / (2.0 * b * slope)
    growth = 1.0 if tilt == 0.0 else math.expm1(tilt) / tilt
    return rest + math.exp(-c) * c / (2.0 * b) * growth


def _finite_gaussian(c: float, g: float) -> float:
    """E min(1, exp(Z - c)), Z normal of sd g: Phi(-c/g) + exp(-c + g^2/2) Phi(c/g - g)."""
    return _upper(c / g) + _tilted(c / g, g, -1.0)


def _normal_gaussian(c: float, g: float) -> float:
    """sup over s of P(N(-s^2/2, s^2 + g^2) >= c), in closed form."""
    if c < g * g:
        return _upper(c / g)
    return _upper(math.sqrt(2.0 * c - g * g))


def _normal_laplace(c: float, b: float) -> float:
    """sup over s of P(N(-s^2/2, s^2) + Laplace(b) >= c): its limit at 0, a grid, a refinement."""
    limit = 0.5 * math.exp(-c / b) if c >= 0.0 else 1.0 - 0.5 * math.exp(c / b)

    def chance(exponent: float) -> float:
        s = 10.0**exponent
        return exceeds(c, -s * s / 2.0, s, b)

    grid = [-3.0 + k / 100.0 for k in range(601)]
    best = max(range(601), key=lambda k: chance(grid[k]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 600)]
    return max(limit, chance(grid[best]), _largest(chance, low, high))


def _largest(function: Callable[[float], float], low: float, high: float) -> float:
    """The maximum of a unimodal function, by golden section to 1e-12."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-12:
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
    return max(at_left, at_right)


def _upper(z: float) -> float:
    """P(N(0, 1) > z)."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))
