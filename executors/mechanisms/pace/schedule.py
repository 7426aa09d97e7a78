"""How the rounds of a search divide what they may spend, whatever they find."""

from __future__ import annotations

from fractions import Fraction

from executors.pricing.allowance import Allowance
from planner.calculus.exact import round_down

__all__ = ["Schedule"]

_DIGITS = 30


class Schedule:
    """Slices of an allowance, one a round; all of them together are the allowance, exactly.

    A round costs r, at first a `rounds`-th of the whole. Where what is left is less than 2 r, or
    in round `limit`, the slice is everything that is left, and the last. `anneal` multiplies r.
    """

    def __init__(self, allowance: Allowance, rounds: int, anneal: Fraction, limit: int) -> None:
        self._allowance = allowance
        self._size = allowance.amount / rounds
        self._anneal = anneal
        self._limit = limit
        self.used = Fraction(0)
        self.round = 0
        self.is_over = False

    @property
    def left(self) -> Fraction:
        """What no round has taken yet."""
        return self._allowance.amount - self.used

    def slice(self) -> Allowance:
        """What the next round may spend. Raises ValueError after the last one."""
        if self.is_over:
            raise ValueError("the last round has taken what was left")
        self.round += 1
        size = self._size
        if self.left < 2 * size or self.round == self._limit:
            size = self.left
            self.is_over = True
        self.used += size
        return Allowance(self._allowance.unit, size)

    def anneal(self) -> None:
        """Make the rounds to come dearer. The new size has 30 digits, so that none grows long."""
        self._size = max(self._size, round_down(self._size * self._anneal, _DIGITS))
