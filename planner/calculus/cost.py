"""A declared amount of privacy in one unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

__all__ = ["LEDGER_UNITS", "UNITS", "WRITTEN", "Cost", "LedgerUnit", "Unit"]

Unit: TypeAlias = Literal["eps", "eps_delta", "rho", "mu"]
UNITS: tuple[Unit, ...] = ("eps", "eps_delta", "rho", "mu")
WRITTEN: dict[Unit, str] = {"eps": "eps=", "eps_delta": "eps=, delta=", "rho": "rho=", "mu": "mu="}
"""How a cost or a budget of each unit begins in a file."""

LedgerUnit: TypeAlias = Literal["eps", "rho", "mu2"]
LEDGER_UNITS: dict[LedgerUnit, Unit] = {"eps": "eps", "rho": "rho", "mu2": "mu"}
"""What adds up, as certificates and ledgers write it: eps, rho, or the square of mu."""


@dataclass(frozen=True, slots=True)
class Cost:
    """`eps=e`, `eps=e, delta=d`, `rho=r` or `mu=m`, as an exact rational.

    `amount` is e, r or m; `delta` is positive for the unit `eps_delta` and 0 otherwise. A share of
    a mu budget has an exact square and an irrational root: `square` is then mu squared, and
    `amount` its root rounded down.
    """

    unit: Unit
    amount: Fraction
    delta: Fraction = Fraction(0)
    square: Fraction | None = None

    @property
    def additive(self) -> Fraction:
        """What adds up over statements: eps, rho, or mu squared."""
        if self.unit != "mu":
            return self.amount
        return self.amount**2 if self.square is None else self.square
