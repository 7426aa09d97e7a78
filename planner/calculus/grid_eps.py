"""The eps that mixed releases have at a delta, composed on a grid of privacy losses."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from flint import ctx

from planner.calculus.ball_arithmetic import ball, upper
from planner.calculus.discretise import GUARD, Part, Pld
from planner.calculus.exact import exact, root_up, round_up
from planner.calculus.pld import BITS, TooLarge, compose, vertices

__all__ = ["STEP", "delta_at", "eps_at", "is_closed", "on_grid", "step_for"]

STEP = Fraction(1, 1000)
"""The step of the grid, where no draw is so small and no plan so large that it needs another."""

_SLACK = 1 - Fraction(1, 10**9)
_FINENESS = 8
_MOST = 1 << 13
_COARSEST = Fraction(1, 4)
_CACHE = 64


def is_closed(parts: tuple[Part, ...]) -> bool:
    """Whether a closed form is exact: a single draw, or Gaussian draws only."""
    return len(parts) == 1 and parts[0].count == 1 and parts[0].kind != "adp"


def eps_at(parts: tuple[Part, ...], delta: Fraction) -> Fraction | None:
    """An eps >= 0 at which all parts together have at most `delta`, rounded up; None if none found.

    None too where the plan is too large for a grid. It is solved at a delta smaller by 1e-9 of
    itself, so that whoever composes in another order agrees. Raises ValueError for a delta outside
    (0, 1).
    """
    if not 0 < exact(delta) < 1:
        raise ValueError("delta must lie in (0, 1)")
    losses = on_grid(parts)
    return None if losses is None else _eps(losses, delta * _SLACK)


def delta_at(parts: tuple[Part, ...], eps: Fraction) -> Fraction | None:
    """A delta that all parts together have at most at `eps` >= 0, rounded up; None as above.

    Raises ValueError for a negative eps.
    """
    if exact(eps) < 0:
        raise ValueError("eps must not be negative")
    losses = on_grid(parts)
    if losses is None:
        return None
    with ctx.workprec(BITS + GUARD):
        place, mass = eps // losses.step, ball(losses.infinite)
        for index, above, below in vertices(losses):
            if index < place:
                break
            mass = above - ball(eps).exp() * below
        return min(Fraction(1), round_up(max(Fraction(0), upper(mass)) / 2**BITS))


def step_for(parts: Iterable[Part]) -> Fraction:
    """1/1000, halved until the least parameter takes eight steps, doubled while draws are long."""
    kept = tuple(parts)
    least = min(root_up(part.param) if part.kind == "gdp" else part.param for part in kept)
    step = STEP
    while step * _FINENESS > least:
        step /= 2
    while _is_long([part.points(step, BITS) for part in kept]):
        step *= 2
    return step


def _is_long(points: list[int]) -> bool:
    return max(points) > _MOST or sum(points) > 4 * _MOST


@lru_cache(maxsize=_CACHE)
def on_grid(parts: tuple[Part, ...]) -> Pld | None:
    """The losses of all parts together, none empty; None where no grid holds them."""
    step = step_for(parts)
    while step <= _COARSEST:
        try:
            return compose(parts, step)
        except TooLarge:
            step *= 2
    return None


def _eps(losses: Pld, delta: Fraction) -> Fraction | None:
    """The least eps >= 0 where the bound of the profile is within `delta`."""
    with ctx.workprec(BITS + GUARD):
        goal = ball(delta * 2**BITS)
        if not goal > losses.infinite:
            return None
        for index, above, below in vertices(losses):
            if index <= 0:
                break
            if not above - ball(losses.step * index).exp() * below <= goal:
                break
        rest = above - goal
        if rest <= 0:
            return Fraction(0)
        return round_up(max(Fraction(0), upper((rest / below).log())))
