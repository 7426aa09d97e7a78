"""What a plan would charge to each ledger key, in every unit in which that can be claimed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planner.calculus.compose import Bound, eps_at, over_sites
from planner.calculus.cost import LEDGER_UNITS, LedgerUnit, Unit
from planner.calculus.exact import text
from planner.calculus.joint_total import could_be, joint_total
from planner.checked import CheckedPlan, Price

__all__ = [
    "Charge",
    "charge_of",
    "is_within",
    "native_charges",
    "pair_of",
    "reservations",
    "total_of",
]


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount in eps, rho or mu squared; `by` is "sum", or "PLD" where composing lowered it."""

    amount: Fraction
    by: str


def total_of(prices: Iterable[Price], unit: Unit) -> Fraction | None:
    """The sum of the statements' own charges, in eps, rho or mu squared; None if one has none.

    Charges at sites add up within a site; the dearest sites that one person may be at add up.
    """
    kept = tuple(prices)
    return over_sites(
        [(p.paid.source.dataset, p.paid.source.site, p.charge(unit)) for p in kept], _most(kept)
    )


def charge_of(prices: Iterable[Price], unit: Unit) -> Charge | None:
    """What a plan of these statements is charged as a whole: the sum, or less where that is proved.

    In mu, draws of several kinds together cost less than the sum of their own mu squared. It holds
    for all statements of one plan together; proof: calculus/proof.md, "Joint mu".
    """
    kept = tuple(prices)
    total = total_of(kept, unit)
    if total is None:
        return None
    if unit == "mu":
        joint = joint_total((leaf for price in kept for leaf in price.leaves), _most(kept))
        if joint is not None and joint.mu_squared < total:
            return Charge(joint.mu_squared, joint.by)
    return Charge(total, "sum")


def is_within(prices: Iterable[Price], unit: Unit, limit: Fraction) -> bool:
    """Whether the charge of the whole is at most `limit` (mu squared for mu).

    Nothing is composed where the sum fits, or where composing cannot help.
    """
    kept = tuple(prices)
    total = total_of(kept, unit)
    if total is None or total <= limit:
        return total is not None
    if unit != "mu":
        return False
    leaves = [leaf for p in kept for leaf in p.leaves]
    if not could_be(leaves, limit, _most(kept)):
        return False
    charge = charge_of(kept, unit)
    return charge is not None and charge.amount <= limit


def pair_of(prices: Iterable[Price], delta: Fraction, grid: bool = True) -> Bound | None:
    """The least eps of the whole at `delta`: by the sum of declared pairs, or composed.

    Both bound the same plan. Without `grid` no losses are composed on one.
    """
    kept = tuple(prices)
    most = _most(kept)
    bound = eps_at((leaf for price in kept for leaf in price.leaves), delta, most, grid=grid)
    if any(price.cost.unit not in ("eps", "eps_delta") for price in kept):
        return bound
    at = [(price.paid.source.dataset, price.paid.source.site, price.cost) for price in kept]
    eps = over_sites([(dataset, site, cost.amount) for dataset, site, cost in at], most)
    spent = over_sites([(dataset, site, cost.delta) for dataset, site, cost in at], most)
    if eps is None or spent is None or spent > delta or (bound is not None and bound.eps <= eps):
        return bound
    return Bound(eps, "sum")


def native_charges(
    checked: CheckedPlan, dataset: str, site: str | None = None
) -> dict[LedgerUnit, Fraction]:
    """What the key of a dataset, or of one of its sites, would be charged, by native unit.

    A site's key pays for what is released at the site alone, a dataset's for all of its people.
    """
    prices = tuple(
        price
        for price in checked.prices_of(dataset)
        if site is None or price.paid.source.site == site
    )
    found: dict[LedgerUnit, Fraction] = {}
    if not prices:
        return found
    for native, unit in LEDGER_UNITS.items():
        charge = charge_of(prices, unit)
        if charge is not None:
            found[native] = charge.amount
    return found


def _most(prices: tuple[Price, ...]) -> int:
    return max((price.paid.source.max_sites for price in prices), default=1)


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
