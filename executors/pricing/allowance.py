"""An amount of privacy that one draw, or several together, may spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from planner.calculus.exact import double_above, root_above, round_down
from planner.calculus.leaves import Leaf
from planner.calculus.targets import target

__all__ = ["Allowance", "Share"]

_MOST_PARTS = 10**12


def _short(share: Fraction) -> Fraction:
    """Products of shares are exact, and have to stay numbers that a plan can write."""
    if share.denominator > _MOST_PARTS:
        raise ValueError("takes at most 12 decimal places, or a fraction as short")
    return share


Share: TypeAlias = Annotated[
    Fraction, Field(ge=Fraction(1, 10**9), le=1 - Fraction(1, 10**9)), AfterValidator(_short)
]
"""The part of a cost that an option may set apart, never so small that no noise can be priced."""

_ETA_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Allowance:
    """An amount of privacy in what adds up: mu squared, or rho."""

    unit: Literal["mu_squared", "rho"]
    amount: Fraction

    def __post_init__(self) -> None:
        if self.amount <= 0:
            raise ValueError("an allowance holds a positive amount")

    @classmethod
    def behind(cls, cap: Leaf) -> Allowance:
        """What the filter of a `gdp` or `zcdp` cap may spend."""
        if cap.kind not in ("gdp", "zcdp"):
            raise ValueError("this filter is capped in mu or rho")
        return cls("rho", cap.param) if cap.kind == "zcdp" else cls("mu_squared", cap.param**2)

    @property
    def mu_squared(self) -> Fraction:
        """The square of mu that a Gaussian draw may cost: mu^2, or 2 rho."""
        return self.amount if self.unit == "mu_squared" else 2 * self.amount

    def part(self, share: Fraction) -> Allowance:
        """That share of the amount."""
        return Allowance(self.unit, self.amount * share)

    def eta(self) -> Fraction:
        """The range of one exponential-mechanism draw that costs the whole allowance.

        mu: 2 log(Phi(mu/2) / Phi(-mu/2)); this is the inverse of mu = 2 Phi^-1(1/(1 + e^(-eta/2))).
        rho: sqrt(8 rho). Lowered by 10^-16 of itself, then rounded down to 15 significant digits,
        so that the charge of it, rounded up to 18, still fits.
        """
        ideal = target("br", self.unit, self.amount).estimate
        return round_down(ideal * (1 - Fraction(1, 10**16)), _ETA_DIGITS)

    def scale(self, sensitivity: int) -> int:
        """Parameter s of the discrete Gaussian for one draw that costs at most the whole allowance.

        `sensitivity` D is in L2 and integers. s >= D/mu + 1, rounded up to 53 significant bits;
        then (D/s)(1 + 1/(20 s^2)) <= mu wherever mu <= D, and D^2/(2 s^2) <= rho with mu^2 = 2 rho.
        """
        return double_above(root_above(sensitivity**2 / self.mu_squared) + 1)
