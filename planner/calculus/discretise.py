"""One draw's privacy loss on a grid, never smaller than it is: the PLD by connecting the dots."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

from flint import arb, ctx, fmpz

from planner.calculus.ball_arithmetic import ball, complement
from planner.calculus.exact import root_up

__all__ = ["GUARD", "Part", "Pld", "discretise"]

GUARD = 96
"""Working bits beyond those of the masses."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """`count` draws of one family: param is eps0 (pure, lap, adp), eta (br) or mu squared (gdp)."""

    kind: str
    param: Fraction
    count: int = 1
    delta: Fraction = Fraction(0)

    def reach(self, bits: int) -> Fraction:
        """The loss up to which one draw is put on the grid; beyond, it counts as infinite."""
        if self.kind == "gdp":
            return self.param / 2 + isqrt(3 * bits // 2) * root_up(self.param)
        return self.param

    def points(self, step: Fraction, bits: int) -> int:
        """How many multiples of `step` above 0 one draw takes."""
        return max(1, ceil(self.reach(bits) / step))


@dataclass(frozen=True, slots=True)
class Pld:
    """Masses of a privacy loss at (low + k) step, in units of 2^-bits, with that at infinity.

    Each is at least that of a law whose profile lies above the profile of what is described.
    """

    step: Fraction
    bits: int
    low: int
    masses: tuple[fmpz, ...]
    infinite: int


def discretise(part: Part, step: Fraction, bits: int) -> Pld:
    """One draw: its profile at multiples of h = `step`, joined by lines in e^eps.

    With d_i the profile at ih and g_i = (d_{i-1} - d_i)/(1 - e^-h), the lines have the masses
    g_i - e^-h g_{i+1} at ih and e^(-ih) times that at -ih, for the pair is symmetric; so
    d_{-1} = 1 - e^-h (1 - d_1). Proof: proof.md, "Losses on a grid".
    """
    with ctx.workprec(bits + GUARD):
        count, profile = part.points(step, bits), _PROFILES[part.kind](part)
        unit, small = arb(2) ** bits, (-ball(step)).exp()
        heights = [profile(ball(step * place)) * unit for place in range(count + 1)]
        heights.insert(0, unit - small * (unit - heights[1]))
        gaps = [(a - b) / (1 - small) for a, b in itertools.pairwise(heights)]
        right = [a - small * b for a, b in zip(gaps, [*gaps[1:], arb(0)], strict=True)]
        left, weight = list[arb](), arb(1)
        for mass in right[1:]:
            weight *= small
            left.append(weight * mass)
        masses = tuple(_ceiling(mass) for mass in (*reversed(left), *right))
        return Pld(step, bits, -count, masses, int(_ceiling(heights[-1])))


def _gaussian(part: Part) -> Callable[[arb], arb]:
    mu, root = ball(part.param).sqrt(), arb(2).sqrt()
    shift, wide = mu / (2 * root), mu * root

    def value(eps: arb) -> arb:
        at = eps / wide
        return (complement(at - shift) - eps.exp() * complement(at + shift)) / 2

    return value


def _response(part: Part) -> Callable[[arb], arb]:
    """pure and adp: delta + (1 - delta) (e^eps0 - e^eps)+ / (1 + e^eps0)."""
    most, delta = ball(part.param), ball(part.delta)
    whole = (1 - delta) / (1 + (-most).exp())
    return lambda eps: delta + whole * _left(eps - most)


def _laplace(part: Part) -> Callable[[arb], arb]:
    most = ball(part.param)
    return lambda eps: _left((eps - most) / 2)


def _range(part: Part) -> Callable[[arb], arb]:
    most = ball(part.param)
    whole = -(-most).expm1()

    def value(eps: arb) -> arb:
        gap = _left((eps - most) / 2)
        # Not gap**2, which is no number where a ball holds 0.
        return gap * gap / whole

    return value


_PROFILES: dict[str, Callable[[Part], Callable[[arb], arb]]] = {
    "gdp": _gaussian,
    "pure": _response,
    "adp": _response,
    "lap": _laplace,
    "br": _range,
}


def _left(beyond: arb) -> arb:
    """(1 - e^beyond)+, exactly 0 where `beyond` is certainly not negative."""
    return arb(0) if beyond >= 0 else (-beyond.expm1()).max(arb(0))


def _ceiling(value: arb) -> fmpz:
    """An integer that is not below max(0, value), the next one above the ball."""
    return max(fmpz(0), value.upper().ceil().unique_fmpz())
