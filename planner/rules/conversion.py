"""Why a cost cannot be charged to a budget in another unit, with the way out."""

from __future__ import annotations

from collections.abc import Iterable

from planner.calculus.cost import Unit
from planner.calculus.leaves import Priced

__all__ = ["way_out"]

_NAMES = {"eps": "eps=", "eps_delta": "eps=, delta=", "rho": "rho=", "mu": "mu="}


def way_out(leaves: Iterable[Priced], cost: Unit, unit: Unit, dataset: str) -> tuple[str, str]:
    """The reason and what to type, for leaves that have no rule into `unit`."""
    kinds = {leaf.kind for leaf in leaves}
    if "adp" in kinds and unit in ("eps", "rho", "mu"):
        return (
            "a declared eps with a delta may fail outright with that chance, and no amount of "
            f"{unit} covers a failure",
            f"use a method with a Gaussian or pure form, or declare the BUDGET of `{dataset}` as "
            "eps=, delta=",
        )
    if "zcdp" in kinds and unit == "mu":
        return (
            "this method spends rho adaptively, and rho does not bound mu at sqrt(2 rho)",
            f"give this cost as mu=, or the BUDGET of `{dataset}` as rho=",
        )
    if unit == "eps":
        return (
            "this method draws Gaussian noise, whose privacy loss has no bound without a delta",
            f"declare the BUDGET of `{dataset}` as rho=, mu= or eps=, delta=",
        )
    return (
        f"there is no sound conversion from {_NAMES[cost]} to {_NAMES[unit]} for it",
        f"declare the BUDGET of `{dataset}` as {_NAMES[cost]}",
    )
