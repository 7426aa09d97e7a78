"""The least mu that several releases have together, below the sum of their own squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from planner.calculus.convert import (
    laplace_to_mu_squared,
    pure_to_mu_squared,
    range_to_mu_squared,
)
from planner.calculus.discretise import Part
from planner.calculus.exact import root_up, round_up, sum_up
from planner.calculus.gaussian_fit import is_within, least_mu_squared, rho_of
from planner.calculus.pld import TooLarge, compose

__all__ = ["Joint", "joint", "least_possible", "sum_of"]

_BITS = 128
_FINEST, _COARSEST = Fraction(1, 16000), Fraction(1, 4)
_POINTS = 1 << 11
_CHECKED = 1 << 22
_ERROR = Fraction(1, 5000)
_WORTH = Fraction(1, 1000)
_SLACK = 1 + Fraction(1, 10**7)
_STABLE = 1 - Fraction(1, 10**9)
_CACHE = 64


@dataclass(frozen=True, slots=True)
class Joint:
    """mu squared of all parts together: of the composed ones, with the Gaussian ones apart added.

    `step` and `bits` are those of the grid that proves `composed`; `apart` is the mu squared of
    Gaussian draws that were left off it.
    """

    composed: Fraction
    apart: Fraction
    step: Fraction
    bits: int

    @property
    def mu_squared(self) -> Fraction:
        return self.composed + self.apart


def sum_of(parts: Iterable[Part]) -> Fraction:
    """The sum of the parts' own mu squared, each converted tightly."""
    return sum_up(part.count * _SQUARES[part.kind](part.param) for part in parts)


def least_possible(parts: Iterable[Part]) -> Fraction:
    """No mu squared below this can be shown on a grid: twice the KL of the worst pairs.

    mu-GDP implies that the divergence is at most mu^2/2. It only saves work.
    """
    kept = tuple(parts)
    ranges = (part.count * _logistic(part.param) for part in kept if part.kind == "br")
    return 2 * rho_of([part for part in kept if part.kind != "br"]) + sum_up(ranges)


def _logistic(eta: Fraction) -> Fraction:
    """Below 2 eta coth(eta/2) - 4, twice the KL of the logistic shift: by series or asymptote."""
    return max(eta**2 / 3 * (1 - eta**2 / 60), 2 * eta - 4)


@lru_cache(maxsize=_CACHE)
def joint(parts: tuple[Part, ...]) -> Joint | None:
    """The least mu squared found that is proved and below the sum; None where there is none.

    Tried are the bounded draws composed beside the Gaussian ones, then all on one grid.
    None too where the gain is certainly below a thousandth, or the grid would be too long.
    """
    if any(part.kind not in _SQUARES for part in parts) or sum(part.count for part in parts) < 2:
        return None
    best: Joint | None = None
    least = least_possible(parts)
    bounded = tuple(part for part in parts if part.kind != "gdp")
    apart = sum_up(part.param for part in parts if part.kind == "gdp")
    goal = sum_of(parts)
    for some, rest in dict.fromkeys(((bounded, apart), (parts, Fraction(0)))):
        if sum(part.count for part in some) < 2 or least > goal * (1 - _WORTH):
            continue
        found = _composed(some, goal - rest, least - rest)
        if found is not None:
            best = Joint(found[0], rest, *found[1:])
            goal = best.mu_squared
    return best


def _composed(
    parts: tuple[Part, ...], goal: Fraction, least: Fraction
) -> tuple[Fraction, Fraction, int] | None:
    """mu squared below the goal with its step and bits; more bits as long as the tail decides."""
    best: tuple[Fraction, Fraction, int] | None = None
    bits, wanted = 0, _BITS
    while wanted > bits and least < goal * (1 - _WORTH):
        bits, step = wanted, _step(parts, wanted)
        if sum(part.count * part.points(step, bits) for part in parts) * bits > _CHECKED:
            break  # whoever checks it without trimming would need too long
        try:
            losses = compose(parts, step, bits)
        except TooLarge:
            break
        estimate, wanted = least_mu_squared(losses, parts)
        value = round_up(estimate * _SLACK)
        if value < goal and is_within(losses, parts, value):
            best, goal = (value, step, bits), value
    return best


def _step(parts: tuple[Part, ...], bits: int) -> Fraction:
    """A step that blurs the sum by little, coarser where the grid would be long."""
    whole = rho_of(parts)
    size = root_up(2 * whole)
    bounded = sum_up(part.count * part.param for part in parts if part.kind != "gdp")
    gaussian = [part.reach(bits) for part in parts if part.kind == "gdp"]
    span = min(sum_up([*gaussian, bounded]), Part("gdp", size * size).reach(bits))
    step = _FINEST
    while step < _COARSEST:
        long = span > 2 * _POINTS * step or sum_up(gaussian) > _POINTS * step
        blur = sum_up(_blur(part, 2 * step) for part in parts)
        if not long and blur > _ERROR * whole:
            break
        step *= 2
    return step


def _blur(part: Part, step: Fraction) -> Fraction:
    """About how much rho one kind of draws gains by being joined at points `step` apart."""
    size = root_up(part.param) if part.kind == "gdp" else part.param
    ratio = round_up(step / size * _STABLE, 3)
    return part.count * rho_of([Part(part.kind, part.param)]) * min(ratio * ratio / 8, ratio)


_SQUARES: dict[str, Callable[[Fraction], Fraction]] = {
    "pure": pure_to_mu_squared,
    "lap": laplace_to_mu_squared,
    "br": range_to_mu_squared,
    "gdp": lambda mu_squared: mu_squared,
}
