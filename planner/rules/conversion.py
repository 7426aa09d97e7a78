"""Why a cost cannot be charged to a budget in another unit, with the way out."""

from __future__ import annotations

from collections.abc import Sequence

from planner.calculus.convert import NATIVE, Unconvertible, charge
from planner.calculus.cost import WRITTEN, Unit
from planner.calculus.leaves import Kind, Priced
from planner.checked import Price

__all__ = ["listed", "way_out"]


def way_out(price: Price, prices: Sequence[Price], unit: Unit, dataset: str) -> tuple[str, str]:
    """The reason and what to type, for a price that has no rule into the budget's unit.

    What is offered helps: a cost in the budget's own unit where the method honours one, and a
    BUDGET in the units into which every price on the dataset (`prices`) has a rule.
    """
    ways = []
    mechanism = price.measurement.mechanism
    if unit in mechanism.units:
        ways.append(f"give this cost as {WRITTEN[unit]}")
    others: list[Unit] = ["rho", "mu"]
    budgets = [WRITTEN[one] for one in others if all(p.charge(one) is not None for p in prices)]
    budgets.append(WRITTEN["eps_delta"])
    declare = f"declare the BUDGET of `{dataset}` as {listed(budgets)}"
    kind = _offending(price.leaves, unit)
    if kind == "adp":
        ways.append("use a method with a Gaussian or pure form")
    return _reason(kind, unit), ", or ".join([*ways, declare])


def listed(words: Sequence[str]) -> str:
    """Several costs in a row, the last after `or`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _offending(leaves: Sequence[Priced], unit: Unit) -> Kind:
    """The kind of leaf that is least chargeable: adp before zcdp before Gaussian noise."""
    kinds = {leaf.kind for leaf in leaves if _has_no_rule(leaf, unit)}
    return next(kind for kind in _WORST_FIRST if kind in kinds)


_WORST_FIRST: tuple[Kind, ...] = ("adp", "zcdp", "gdp", "gauss", "dgauss")


def _has_no_rule(leaf: Priced, unit: Unit) -> bool:
    try:
        charge(leaf, NATIVE[unit])
    except Unconvertible:
        return True
    return False


def _reason(kind: Kind, unit: Unit) -> str:
    if kind == "adp":
        return (
            "a declared eps with a delta may fail outright with that chance, and no amount of "
            f"{unit} covers a failure"
        )
    if kind == "zcdp" and unit == "mu":
        return "this method spends rho step by step, and rho does not bound mu at sqrt(2 rho)"
    return "this method draws Gaussian noise, whose privacy loss has no bound without a delta"
