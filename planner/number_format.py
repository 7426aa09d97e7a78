"""Exact numbers as a reader sees them: short, and rounded against the user."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.exact import round_down, round_up, text

__all__ = ["read_as", "short_delta", "shown"]

_READ = 12
_LONGEST = 9


def shown(value: Fraction, up: bool = True, digits: int = 6) -> str:
    """The value exactly where it is short, else at `digits` significant digits, up or down."""
    exact = text(value)
    if "/" not in exact and len(exact) <= 12:
        return exact
    return text(round_up(value, digits) if up else round_down(value, digits))


def read_as(value: Fraction, digits: int) -> str:
    """A cost for reading: exact where short, else rounded up to `digits` significant digits.

    An excess in its thirteenth digit or later is dropped first.
    Costs carry a rounding of their own in the eighteenth digit, so that a declared mu=1 may come
    to 1 + 1e-18: that reads 1, not 1.0001. Never below the cost by more than 1e-11 of it. Not for
    numbers that are compared, or that somebody is told to type.
    """
    kept = round_down(value, _READ)
    exact = text(kept)
    return exact if len(exact) <= _LONGEST else text(round_up(kept, digits))


def short_delta(value: Fraction) -> str:
    """A delta as it may be typed, such as `1e-5`, rounded up to three digits."""
    up = round_up(value, 3)
    if up >= Fraction(1, 1000):
        return text(up)
    digits, exponent = f"{float(up):.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
