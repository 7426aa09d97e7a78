"""Integer vectors with probability proportional to exp(-rate |z|), drawn exactly.

In the l-infinity norm, P(z) is proportional to exp(-g |z|_inf): as e^(-g m) is (1 - e^(-g)) times
the sum of e^(-g K) over K >= m, a cube of half-width K is drawn with weight (2K+1)^d e^(-g K), then
a uniform point of it. The sum of d+1 geometric numbers has the weight C(K+d, d) e^(-g K); it is
kept with the rational chance (2K+1)^d / (2^d (K+1)...(K+d)).

In the l2 norm, P(z) is proportional to exp(-g ceil|z|_2): a draw of the first law is kept with
chance exp(-g (ceil|z|_2 - |z|_inf)).

Every coin is a comparison of a uniform integer with an integer: no floating-point number occurs.
How many coins are thrown depends on what is drawn, not on data. Proof: proof.md, claim 7. Checked:
tests/executors/noise/test_knorm.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt, prod

from executors.pricing.drawable import Norm

__all__ = ["Uniform", "draw_knorm"]

Uniform = Callable[[int], int]
"""A uniform integer in [0, n)."""


def draw_knorm(below: Uniform, norm: Norm, rate: Fraction, width: int) -> list[int]:
    """`width` integers z with P(z) proportional to exp(-rate |z|), |z|_2 rounded up for l2.

    Raises ValueError for a rate that is not positive, or a width below 1.
    """
    if rate <= 0 or width < 1:
        raise ValueError("a vector of noise has a positive rate and at least one coordinate")
    while True:
        found = _cube(below, rate, width)
        if norm == "linf":
            return found
        excess = _length(found) - max(abs(value) for value in found)
        if _keeps_exp(below, rate * excess):
            return found


def _cube(below: Uniform, rate: Fraction, width: int) -> list[int]:
    while True:
        edge = sum(_geometric(below, rate) for _ in range(width + 1))
        weight = (2 * edge + 1) ** width
        of = 2**width * prod(range(edge + 1, edge + width + 1))
        if below(of) < weight:
            return [below(2 * edge + 1) - edge for _ in range(width)]


def _length(vector: list[int]) -> int:
    """|z|_2, rounded up."""
    square = sum(value * value for value in vector)
    root = isqrt(square)
    return root if root * root == square else root + 1


def _geometric(below: Uniform, rate: Fraction) -> int:
    """k >= 0 with P(k) proportional to exp(-rate k).

    With rate = s/t the number x = u + t v, u below t kept with chance exp(-u/t) and v geometric of
    rate 1, has P(x) proportional to exp(-x/t); so its quotient by s has the law asked for.
    """
    s, t = rate.numerator, rate.denominator
    while True:
        u = below(t)
        if _keeps(below, u, t):
            break
    v = 0
    while _keeps(below, 1, 1):
        v += 1
    return (u + t * v) // s


def _keeps_exp(below: Uniform, exponent: Fraction) -> bool:
    """True with chance exp(-exponent), for any exponent >= 0."""
    whole, rest = divmod(exponent.numerator, exponent.denominator)
    return all(_keeps(below, 1, 1) for _ in range(whole)) and _keeps(
        below, rest, exponent.denominator
    )


def _keeps(below: Uniform, numerator: int, denominator: int) -> bool:
    """True with chance exp(-x), x = numerator / denominator in [0, 1].

    Coins of chance x/1, x/2, ... are thrown until one fails; k succeed first with chance x^k / k!,
    so that an even number of them has the chance 1 - x + x^2/2 - ...
    """
    k = 0
    while below(denominator * (k + 1)) < numerator:
        k += 1
    return k % 2 == 0
