"""Privacy losses of several draws together, in exact integers that never fall below the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpz, fmpz_poly

from planner.calculus.ball_arithmetic import ball
from planner.calculus.discretise import GUARD, Part, Pld, discretise

__all__ = ["BITS", "TooLarge", "compose", "vertices"]

BITS = 96
"""Masses of an (eps, delta) claim are multiples of 2^-96."""

_WORK = 1 << 19
_DIFFERENT = 1200
_LEFT = 64
_RIGHT = 32


class TooLarge(ValueError):
    """The grid is so fine that composing on it takes more than a few seconds."""


def compose(parts: Sequence[Part], step: Fraction, bits: int = BITS, work: int = _WORK) -> Pld:
    """The losses of all parts together; each part's worst pair is symmetric in its two sides.

    Sound for every step and number of bits, because masses are only rounded up or moved to
    larger losses. Raises TooLarge beyond 1,200 different parts, and where grid points (8 for
    one of a draw's profile) with lengths of products, times bits/96, would pass `work`.
    Proof: proof.md, "Losses on a grid". Tests: test_calculus_pld.py.
    """
    if len(parts) > _DIFFERENT:
        raise TooLarge("too many different draws")
    meter = _Meter(work * BITS // bits)
    for part in parts:
        meter.spend(8 * part.points(step, bits))
    found = [_power(discretise(part, step, bits), part.count, meter) for part in parts]
    while len(found) > 1:
        found.sort(key=lambda one: len(one.masses))
        pairs = [_product(a, b, meter) for a, b in zip(found[::2], found[1::2], strict=False)]
        found = pairs + found[2 * len(pairs) :]
    return found[0]


def vertices(losses: Pld) -> Iterator[tuple[int, int, arb]]:
    """From the top down (i, A, B): the masses above i step under both laws, in units of 2^-bits.

    A = infinite + sum of m_j, B = sum of m_j e^(-j step), over j > i. Between the losses i step
    and (i+1) step the bound of the profile is A - e^eps B. Each is given at the precision of the
    masses, whatever the caller's.
    """
    step, top = losses.step, losses.low + len(losses.masses) - 1
    precision = losses.bits + GUARD
    with ctx.workprec(precision):
        weight, grow = (-ball(step) * top).exp(), ball(step).exp()
    above, below = losses.infinite, arb(0)
    for place, mass in enumerate(reversed(losses.masses)):
        with ctx.workprec(precision):
            above, below = above + int(mass), below + mass * weight
            weight *= grow
        yield top - place - 1, above, below


class _Meter:
    """How much work is left."""

    def __init__(self, work: int) -> None:
        self._left = work

    def spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise TooLarge("too fine a grid")


def _power(losses: Pld, count: int, meter: _Meter) -> Pld:
    """`count` draws, by repeated squaring."""
    if count == 1:
        return losses
    half = _power(losses, count // 2, meter)
    both = _product(half, half, meter)
    return _product(both, losses, meter) if count % 2 else both


def _product(one: Pld, other: Pld, meter: _Meter) -> Pld:
    """Both together: exact products, rounded up to the unit, then trimmed at both ends.

    The lowest masses, up to 2^-64 in all, are moved to the lowest kept loss, the highest, up to
    2^(32 - bits), to infinity.
    """
    bits = one.bits
    meter.spend(len(one.masses) + len(other.masses))
    almost = fmpz((1 << bits) - 1)
    product = fmpz_poly(list(one.masses)) * fmpz_poly(list(other.masses))
    masses = [(mass + almost) >> bits for mass in product.coeffs()]
    last, cut = len(masses), fmpz(0)
    while last > 1 and cut + masses[last - 1] <= 1 << _RIGHT:
        last -= 1
        cut += masses[last]
    first, moved = 0, fmpz(0)
    while first < last - 1 and moved + masses[first] <= 1 << (bits - _LEFT):
        moved += masses[first]
        first += 1
    masses[first] += moved
    infinite = one.infinite + other.infinite + int(cut)
    return Pld(one.step, bits, one.low + other.low + first, tuple(masses[first:last]), infinite)
