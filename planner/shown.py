"""Exact numbers as a reader sees them: short, and rounded against the user."""

from __future__ import annotations

from fractions import Fraction

from planner.calculus.exact import round_down, round_up, text

__all__ = ["shown"]


def shown(value: Fraction, up: bool = True, digits: int = 6) -> str:
    """The value exactly where it is short, else at `digits` significant digits, up or down."""
    exact = text(value)
    if "/" not in exact and len(exact) <= 12:
        return exact
    return text(round_up(value, digits) if up else round_down(value, digits))
