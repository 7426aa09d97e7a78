"""What a plan would charge to each ledger key, in every unit in which that can be claimed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from planner.calculus.cost import Unit
from planner.calculus.exact import text
from planner.checked import CheckedPlan, Price

__all__ = ["Native", "native_charges", "reservations", "total_of"]

Native: TypeAlias = Literal["eps", "rho", "mu2"]
_UNITS: tuple[tuple[Native, Unit], ...] = (("eps", "eps"), ("rho", "rho"), ("mu2", "mu"))


def total_of(prices: Iterable[Price], unit: Unit) -> Fraction | None:
    """The sum of charges in eps, rho or mu squared; None if one of them cannot be claimed."""
    amount = Fraction(0)
    for price in prices:
        part = price.charge(unit)
        if part is None:
            return None
        amount += part
    return amount


def native_charges(checked: CheckedPlan, dataset: str) -> dict[Native, Fraction]:
    """What a dataset's key would be charged, by native unit, where it can be."""
    prices = checked.prices_of(dataset)
    found: dict[Native, Fraction] = {}
    if not prices:
        return found
    for native, unit in _UNITS:
        amount = total_of(prices, unit)
        if amount is not None:
            found[native] = amount
    return found


def reservations(checked: CheckedPlan) -> list[dict[str, Any]]:
    """One entry a dataset and unit: `{"key","dataset","site","unit","amount"}`."""
    entries = []
    for dataset in checked.bound.datasets:
        for native, amount in native_charges(checked, dataset.name).items():
            entries.append(
                {
                    "key": dataset.key,
                    "dataset": dataset.name,
                    "site": None,
                    "unit": native,
                    "amount": text(amount),
                }
            )
    return entries
