"""Exact numbers as a reader sees them: short, and rounded against the user."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.exact import round_down, round_up, text

__all__ = ["read_as", "shown"]

_READ = 12


def shown(value: Fraction, up: bool = True, digits: int = 6) -> str:
    """The value exactly where it is short, else at `digits` significant digits, up or down."""
    exact = text(value)
    if "/" not in exact and len(exact) <= 12:
        return exact
    return text(round_up(value, digits) if up else round_down(value, digits))


def read_as(value: Fraction, digits: int) -> str:
    """A cost for reading: `shown` upwards, but for an excess in its thirteenth digit or later.

    Costs carry a rounding of their own in the eighteenth digit, so that a declared mu=1 may come
    to 1 + 1e-18: that reads 1, not 1.0001. Never below the cost by more than 1e-11 of it. Not for
    numbers that are compared, or that somebody is told to type.
    """
    return shown(round_down(value, _READ), digits=digits)
