"""Exact amounts of privacy as the ledger writes, adds and shows them."""

from __future__ import annotations

import math
from fractions import Fraction

from dpql.errors import LedgerDamaged
from planner.calculus.cost import LedgerUnit
from planner.calculus.exact import number, root_down, root_up
from planner.number_format import shown as brief

__all__ = ["added", "amount", "bounded", "recorded", "shown", "stored", "taken_back"]

FINEST = 10**60


def amount(written: str) -> Fraction:
    """The exact value of a plain decimal or `p/q`; ValueError for a sign, an exponent, NaN."""
    if not isinstance(written, str):
        raise ValueError("an amount is written as a text, such as `0.1` or `1/3`")
    value = number(written)
    if value < 0:
        raise ValueError(f"`{written[:60]}` is negative, and an amount is not")
    return value


def stored(value: Fraction) -> str:
    """The reduced `p/q` that the database holds."""
    return f"{value.numerator}/{value.denominator}"


def recorded(written: str) -> Fraction:
    """The value of a `p/q` that the database holds; `LedgerDamaged` if it is not reduced."""
    top, _, bottom = str(written).partition("/")
    if not (top + bottom).isascii() or not (top.isdigit() and bottom.isdigit()):
        raise LedgerDamaged("an amount in the ledger is not a number", help="`dpql ledger verify`")
    if len(bottom) > 61 or len(top) > 200 or int(bottom) == 0:
        raise LedgerDamaged("an amount in the ledger is too long", help="`dpql ledger verify`")
    value = Fraction(int(top), int(bottom))
    if stored(value) != written:
        raise LedgerDamaged("an amount in the ledger is not reduced", help="`dpql ledger verify`")
    return value


def bounded(value: Fraction) -> Fraction:
    """`value`, rounded up to a multiple of 10^-60 where its denominator is larger than 10^60."""
    if value.denominator <= FINEST:
        return value
    return Fraction(math.ceil(value * FINEST), FINEST)


def added(spent: Fraction, charge: Fraction) -> Fraction:
    """What is spent after a charge: the exact sum, never less."""
    return bounded(spent + charge)


def taken_back(spent: Fraction, charge: Fraction) -> Fraction:
    """What is spent after a reservation was released; a rounding up stays spent."""
    return bounded(max(spent - charge, Fraction(0)))


def shown(unit: LedgerUnit, value: Fraction, *, up: bool = False) -> str:
    """`rho=0.1` for people, in the stated direction where it must be rounded; mu2 as mu."""
    if unit != "mu2":
        return f"{unit}={brief(value, up, 9)}"
    root = (root_up if up else root_down)(value)
    return f"mu={brief(root, up, 9)}"
