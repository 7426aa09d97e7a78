"""A bound plan whose every cost is known: what `check` makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from planner.bound import BoundDataset, BoundMeasurement, BoundPlan, SourceCost
from planner.calculus.compose import total
from planner.calculus.convert import NATIVE
from planner.calculus.cost import Cost, Unit
from planner.calculus.leaves import Draft
from planner.graph import Graph

__all__ = ["CheckedPlan", "Price"]


@dataclass(frozen=True, slots=True)
class Price:
    """One measurement at one source: its cost and the leaves that follow from it.

    The leaves carry parameters only; sensitivities and scales are solved by `plan`. `is_open`:
    their kinds depend on options that `plan` settles, so only its own unit has a verdict yet.
    """

    measurement: BoundMeasurement
    paid: SourceCost
    cost: Cost
    leaves: tuple[Draft, ...]
    is_open: bool = False

    def has_verdict(self, unit: Unit) -> bool:
        """Whether its charge to a budget in `unit` is known before `plan`."""
        return not self.is_open or unit == self.cost.unit

    def charge(self, unit: Unit) -> Fraction | None:
        """What it adds to a budget in `unit`: eps, rho, or mu squared.

        In the unit of its own cost that is its declared share, exactly; in another one the
        conversion of its declared leaf parameters, rounded up. None where nothing may be claimed.
        """
        if unit == self.cost.unit:
            return self.cost.additive
        if unit == "eps_delta":
            raise ValueError("pairs of eps and delta do not add up")
        return total(self.leaves, NATIVE[unit])


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A bound plan with its prices and its graph; no budget in the file is passed."""

    bound: BoundPlan
    prices: tuple[Price, ...]
    graph: Graph

    def prices_of(self, dataset: str) -> tuple[Price, ...]:
        """The prices that a dataset's people pay, in file order."""
        return tuple(price for price in self.prices if price.paid.source.dataset == dataset)

    def payers_of(self, dataset: str) -> tuple[str | None, ...]:
        """Who pays for a dataset's statements: None for the whole, or the names of its sites."""
        return tuple(dict.fromkeys(price.paid.source.site for price in self.prices_of(dataset)))

    def by_key(self) -> dict[str, list[tuple[BoundDataset, str | None]]]:
        """Every ledger key with the datasets and sites that it pays for, in file order.

        A dataset on which nothing is spent has its key too.
        """
        found: dict[str, list[tuple[BoundDataset, str | None]]] = {}
        for dataset in self.bound.datasets:
            for site in self.payers_of(dataset.name) or (None,):
                found.setdefault(dataset.key_of(site), []).append((dataset, site))
        return found
