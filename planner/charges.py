"""What a plan would charge to each ledger key, in every unit in which that can be claimed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from planner.calculus.compose import over_sites
from planner.calculus.cost import Unit
from planner.calculus.exact import text
from planner.checked import CheckedPlan, Price

__all__ = ["Native", "native_charges", "reservations", "total_of"]

Native: TypeAlias = Literal["eps", "rho", "mu2"]
_UNITS: tuple[tuple[Native, Unit], ...] = (("eps", "eps"), ("rho", "rho"), ("mu2", "mu"))


def total_of(prices: Iterable[Price], unit: Unit) -> Fraction | None:
    """What a person pays in all, in eps, rho or mu squared; None if a part cannot be claimed.

    Charges at sites add up within a site; the dearest sites that one person may be at add up.
    """
    kept = tuple(prices)
    return over_sites(
        [(p.paid.source.dataset, p.paid.source.site, p.charge(unit)) for p in kept],
        max((p.paid.source.max_sites for p in kept), default=1),
    )


def native_charges(
    checked: CheckedPlan, dataset: str, site: str | None = None
) -> dict[Native, Fraction]:
    """What the key of a dataset, or of one of its sites, would be charged, by native unit.

    A site's key pays for what is released at the site alone, a dataset's for all of its people.
    """
    prices = tuple(
        price
        for price in checked.prices_of(dataset)
        if site is None or price.paid.source.site == site
    )
    found: dict[Native, Fraction] = {}
    if not prices:
        return found
    for native, unit in _UNITS:
        amount = total_of(prices, unit)
        if amount is not None:
            found[native] = amount
    return found


def reservations(checked: CheckedPlan) -> list[dict[str, Any]]:
    """One entry a payer and unit: `{"key","dataset","site","unit","amount"}`."""
    entries = []
    for dataset in checked.bound.datasets:
        for site in checked.payers_of(dataset.name):
            for native, amount in native_charges(checked, dataset.name, site).items():
                entries.append(
                    {
                        "key": dataset.key_of(site),
                        "dataset": dataset.name,
                        "site": site,
                        "unit": native,
                        "amount": text(amount),
                    }
                )
    return entries
