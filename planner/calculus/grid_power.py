"""The trade-off of composed releases: the power of tests, read from losses on a grid.

A bound delta(eps) of the profile gives power(a) <= delta(eps) + e^eps a at every eps. On
[ih, (i+1)h] it is A_i - e^eps B_i, so the best of these lines at a has the i with
B_i <= a <= B_{i-1}: the points (B_i, A_i), joined, bound the power of every test. Any i is sound,
so floats may choose it. Proof: proof.md, Risk. Checked: closed trade-offs of one draw, other
libraries' of several, tests/planner/calculus/test_calculus_grid_power.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb, ctx

from planner.calculus.ball_arithmetic import ball, upper
from planner.calculus.discretise import GUARD, Pld
from planner.calculus.exact import exact, round_up
from planner.calculus.pld import vertices

__all__ = ["powers"]


def powers(losses: Pld, rates: Iterable[Fraction]) -> tuple[Fraction, dict[Fraction, Fraction]]:
    """The largest advantage and, by rate of false alarms, the largest power; rounded up.

    Raises ValueError for a rate outside (0, 1).
    """
    wanted = sorted({exact(rate) for rate in rates}, reverse=True)
    if not all(0 < rate < 1 for rate in wanted):
        raise ValueError("a rate of false alarms lies in (0, 1)")
    found: dict[Fraction, Fraction] = {}
    advantage = Fraction(1)
    with ctx.workprec(losses.bits + GUARD):
        marks = [float(rate) * float(1 << losses.bits) for rate in wanted]
        top = losses.low + len(losses.masses) - 1
        before = (top, losses.infinite, arb(0))
        for vertex in vertices(losses):
            index, above, below = vertex
            while marks and float(below) > marks[-1]:
                marks.pop()
                rate = wanted.pop()
                found[rate] = _line(losses, *before, rate)
            if index == 0:
                advantage = _share(losses, above - below)
            if index <= 0 and not marks:
                break
            before = vertex
        found |= {rate: _line(losses, *before, rate) for rate in wanted}
    return advantage, found


def _line(losses: Pld, index: int, above: int, below: arb, rate: Fraction) -> Fraction:
    """A_i + e^(ih) (a - B_i)."""
    steep = (ball(losses.step) * index).exp()
    return _share(losses, above + steep * (ball(rate * (1 << losses.bits)) - below))


def _share(losses: Pld, mass: arb) -> Fraction:
    if mass >= 1 << losses.bits:  # e^(ih) may be too large for a fraction
        return Fraction(1)
    return min(Fraction(1), round_up(max(Fraction(0), upper(mass)) / (1 << losses.bits)))
