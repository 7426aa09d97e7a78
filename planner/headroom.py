"""What the costs written in a file leave for one whose amount is open."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from planner.bound import BoundDataset, BoundMeasurement, SourceCost
from planner.calculus.cost import Cost
from planner.calculus.exact import root_down, round_down
from planner.calculus.shares import part_of
from planner.candidate_costs import candidate, place_below
from planner.charges import total_of
from planner.checked import CheckedPlan, Price
from planner.costing import price_at, with_verdict
from planner.findings import Findings
from planner.rules import fits_budget

__all__ = ["Headroom"]

_LEAST = Fraction(1, 10**12)
_MOST = Fraction(10**6)
_LEAST_SHARE = Fraction(1, 10**6)
_DIGITS = 12


class Headroom:
    """What is left for one measurement with a cost of `auto`; every other open cost counts nothing.

    An amount is that of every open source, in their one unit; where their units differ, or are
    pairs of eps and delta, or with `in_shares`, it is the share that each takes of its dataset's
    BUDGET. Losses are added by closed forms, or with `grid` composed as when a budget is judged.
    """

    def __init__(
        self,
        measurement: BoundMeasurement,
        checked: CheckedPlan,
        in_shares: bool = False,
        grid: bool = False,
    ) -> None:
        self.measurement = measurement
        self.checked = checked
        self.grid = grid
        self.open = tuple(paid for paid in measurement.costs if paid.cost is None)
        units = {paid.sought for paid in self.open}
        loose = any(paid.sought == "eps_delta" and not paid.delta for paid in self.open)
        self.in_shares = in_shares or len(units) > 1 or loose
        self.names = tuple(dict.fromkeys(paid.source.dataset for paid in self.open))

    @property
    def has_common_measure(self) -> bool:
        """Whether one amount can be given to all open sources."""
        return not self.in_shares or all(
            (budget := self._budget(paid)) is not None and budget.unit == paid.sought
            for paid in self.open
        )

    @property
    def may_grow(self) -> bool:
        """Whether composition on a grid may leave more room than closed forms do."""
        budgets = [self.checked.bound.dataset(name).budget for name in self.names]
        return not self.grid and any(
            budget is not None and budget.unit in ("eps_delta", "mu") for budget in budgets
        )

    @property
    def is_bounded(self) -> bool:
        """Whether some budget limits it."""
        return any(self.checked.bound.dataset(name).budget is not None for name in self.names)

    def prices(self, amount: Fraction) -> tuple[Price, ...]:
        """The prices of the measurement, source by source. Raises Unsolvable."""
        return tuple(
            price_at(
                self.measurement, paid, self._cost(paid, amount) if paid.cost is None else paid.cost
            )
            for paid in self.measurement.costs
        )

    def most(self) -> Fraction | None:
        """The most that fits beside all costs written in the file; None where nothing does.

        Of three digits, or just what is left where that is known exactly.
        """
        limit = Fraction(1) if self.in_shares else _MOST
        if self._fits(limit):
            return limit
        bad, good = place_below(limit), place_below(_LEAST_SHARE if self.in_shares else _LEAST)
        if not self._fits(candidate(good)):
            return None
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._fits(candidate(middle)):
                good = middle
            else:
                bad = middle
        left = self._left()
        return left if left > candidate(good) and self._fits(left) else candidate(good)

    def explain(self, findings: Findings) -> None:
        """Write down why nothing fits: no conversion into the budget's unit, or nothing is left."""
        said = Findings()
        for dataset, prices in self._spending(Fraction(1)):
            fits_budget.judge(dataset, prices, said)
        for one in said.items:
            if one.code == "DPQL-E067":
                findings.items.append(one)
                return
        findings.error(
            "DPQL-E078",
            f"nothing is left of the budget for `{self.measurement.name}`",
            self.measurement.place("cost"),
            help="raise the BUDGET, or lower the other costs",
        )

    def _budget(self, paid: SourceCost) -> Cost | None:
        return self.checked.bound.dataset(paid.source.dataset).budget

    def _cost(self, paid: SourceCost, amount: Fraction) -> Cost:
        budget = self._budget(paid)
        if self.in_shares and budget is not None:
            return part_of(budget, amount)
        return Cost(paid.sought or "rho", amount, paid.delta)

    def _left(self) -> Fraction:
        """What is left of the one budget, exactly or rounded down; 0 where that is not asked."""
        if self.in_shares or len(self.open) > 1:
            return Fraction(0)
        (paid,) = self.open
        budget = self._budget(paid)
        if budget is None or budget.unit != paid.sought:
            return Fraction(0)
        spent = total_of(self.checked.prices_of(paid.source.dataset), budget.unit)
        if spent is None or spent >= budget.additive:
            return Fraction(0)
        left = budget.additive - spent
        return root_down(left, _DIGITS) if budget.unit == "mu" else round_down(left, _DIGITS)

    def _fits(self, amount: Fraction) -> bool:
        return all(
            fits_budget.fits(dataset, prices, self.grid)
            for dataset, prices in self._spending(amount)
        )

    def _spending(self, amount: Fraction) -> Iterable[tuple[BoundDataset, tuple[Price, ...]]]:
        """Each dataset with an open cost, with all that would be spent on it."""
        mine = self.prices(amount)
        for name in self.names:
            others = [
                p for p in self.checked.prices_of(name) if p.measurement is not self.measurement
            ]
            here = [price for price in mine if price.paid.source.dataset == name]
            dataset = self.checked.bound.dataset(name)
            if dataset.budget is not None:
                unit = dataset.budget.unit
                here = [with_verdict(price, unit) for price in here]
            yield dataset, (*others, *here)
