"""A split of every BUDGET over the measurements of a file, by what is expected of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from planner.allocate_rest import Rest, fill
from planner.bound import BoundDataset, BoundMeasurement, SourceCost
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.calculus.shares import balanced
from planner.checked import CheckedPlan, Price
from planner.costing import price_at, try_out, with_verdict
from planner.findings import Findings
from planner.least_cost import cost_words, least
from planner.number_format import shown
from planner.rules import fits_budget
from planner.rules.scaling import noise_factor

__all__ = ["Allocation", "Proposal", "Rule", "Why", "allocate"]

Why: TypeAlias = Literal["kept", "least", "rest"]
Rule: TypeAlias = Literal["weights", "errors", "equal"]
"""How the rest is shared: by given weights, so that squared errors sum to the least, or equally."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one measurement should spend at one source; `as_share` where that is an `n%`."""

    measurement: BoundMeasurement
    paid: SourceCost
    cost: Cost
    as_share: bool
    why: Why
    price: Price


@dataclass(frozen=True, slots=True)
class Allocation:
    """The proposals in file order, with the rule by which each dataset's rest was shared."""

    proposals: tuple[Proposal, ...]
    rules: Mapping[str, Rule]

    def of(self, dataset: str) -> tuple[Proposal, ...]:
        """The proposals that a dataset's people would pay."""
        return tuple(one for one in self.proposals if one.paid.source.dataset == dataset)


def allocate(
    checked: CheckedPlan,
    findings: Findings,
    keep: frozenset[str] = frozenset(),
    weights: Mapping[str, Fraction] | None = None,
) -> Allocation | None:
    """A split in which everything fits and every EXPECT is met; None with an error written.

    Costs of the measurements in `keep`, and on datasets without a BUDGET, stay as they are and are
    subtracted first. Each other measurement with an EXPECT gets the least cost that meets it. The
    remaining ones share the rest: by `weights` (1 where none is given) if there are any; else, if
    all of them forecast an error in one measure, so that the squares of these sum to the least;
    else in equal parts of what adds up. Every cost keeps its unit and the way it was written, so
    that no method changes its noise. The plan may pass its budgets before; afterwards it does not.
    """
    return _Allocator(checked, findings, keep, dict(weights or {})).run()


class _Allocator:
    def __init__(
        self,
        checked: CheckedPlan,
        findings: Findings,
        keep: frozenset[str],
        weights: dict[str, Fraction],
    ) -> None:
        self.checked = checked
        self.findings = findings
        self.keep = keep
        self.weights = weights
        self.expected = {one.release for one in checked.bound.expects}
        self.rules: dict[str, Rule] = {}
        self.found: dict[tuple[str, str], tuple[Price, Why]] = {}

    def run(self) -> Allocation | None:
        """The allocation, or None with an error written."""
        if not any(one.budget for one in self.checked.bound.datasets):
            self.findings.error(
                "DPQL-E079",
                "no dataset has a BUDGET to split",
                help="add one, for example `BUDGET rho=0.5`",
            )
            return None
        for dataset in self._budgeted():
            self._can_be_charged(dataset)
        if self.findings.failed:
            return None
        for measurement in self.checked.bound.measurements:
            self._keep(measurement)
        kept = tuple(price for price, _ in self.found.values())
        for measurement in self.checked.bound.measurements:
            if measurement.name in self.expected:
                self._least(measurement, kept)
        if self.findings.failed:
            return None
        for dataset in self._budgeted():
            self._goals_fit(dataset)
        if self.findings.failed:
            return None
        for dataset in self._budgeted():
            self._fill(dataset)
        if self.findings.failed:
            return None
        return Allocation(tuple(self._proposals()), self.rules)

    def _budgeted(self) -> Iterable[BoundDataset]:
        return (one for one in self.checked.bound.datasets if one.budget is not None)

    def _can_be_charged(self, dataset: BoundDataset) -> None:
        """Write an error at each cost that has no rule into the BUDGET's unit."""
        budget = dataset.budget
        for price in self.checked.prices_of(dataset.name):
            if budget is not None and budget.unit != "eps_delta":
                settled = with_verdict(price, budget.unit)
                if settled.charge(budget.unit) is None:
                    fits_budget.judge(dataset, (settled,), self.findings)

    def _moves(self, measurement: BoundMeasurement, paid: SourceCost) -> bool:
        """Whether a cost is to be proposed anew; one that is open always is."""
        budget = self.checked.bound.dataset(paid.source.dataset).budget
        return paid.cost is None or (measurement.name not in self.keep and budget is not None)

    def _keep(self, measurement: BoundMeasurement) -> None:
        for paid in measurement.costs:
            if paid.cost is not None and not self._moves(measurement, paid):
                price = price_at(measurement, paid, paid.cost)
                budget = self.checked.bound.dataset(paid.source.dataset).budget
                price = price if budget is None else with_verdict(price, budget.unit)
                self.found[measurement.name, paid.source.name] = price, "kept"

    def _opened(self, measurement: BoundMeasurement) -> BoundMeasurement:
        """The measurement with every cost that moves left open, in its own unit."""
        return replace(
            measurement,
            costs=tuple(
                self._open(paid) if self._moves(measurement, paid) else paid
                for paid in measurement.costs
            ),
        )

    def _open(self, paid: SourceCost) -> SourceCost:
        """The cost to be sought; an eps keeps its delta where no BUDGET in pairs gives another."""
        budget = self.checked.bound.dataset(paid.source.dataset).budget
        stays = paid.cost is not None and budget is not None and budget.unit != "eps_delta"
        delta = paid.cost.delta if stays and paid.cost is not None else Fraction(0)
        return replace(paid, cost=None, sought=paid.unit, delta=delta)

    def _least(self, measurement: BoundMeasurement, kept: tuple[Price, ...]) -> None:
        opened = self._opened(measurement)
        if not opened.is_open:
            return
        others = tuple(price for price in kept if price.measurement is not measurement)
        shares = all(paid.share is not None for paid in opened.costs if paid.cost is None)
        planned = least(opened, replace(self.checked, prices=others), self.findings, shares)
        for price in () if planned is None else planned.prices:
            if price.paid.cost is None:
                self.found[measurement.name, price.paid.source.name] = price, "least"

    def _goals_fit(self, dataset: BoundDataset) -> None:
        """Write an error where what is kept and expected passes the budget together."""
        prices = self._prices(dataset)
        if fits_budget.fits(dataset, prices):
            return
        said = Findings()
        fits_budget.judge(dataset, prices, said)
        over = said.items[0]
        factor = noise_factor(dataset, prices)
        self.findings.error(
            "DPQL-E079",
            f"what is expected and kept needs more than the BUDGET of `{dataset.name}`: "
            f"{over.message}",
            dataset.budget_span,
            note="the least that meets each EXPECT: "
            + ", ".join(f"`{p.measurement.name}` {cost_words((p,))}" for p in prices),
            help="expect less, or raise the BUDGET"
            + (f"; all fit with {shown(factor)} times the noise in each" if factor else ""),
        )

    def _fill(self, dataset: BoundDataset) -> None:
        open_ = [
            (measurement, paid)
            for measurement in self.checked.bound.measurements
            for paid in measurement.costs
            if paid.source.dataset == dataset.name
            and (measurement.name, paid.source.name) not in self.found
        ]
        if not open_:
            return
        fixed = self._prices(dataset)
        rest = [Rest(one, paid, Fraction(1), paid.share is not None) for one, paid in open_]
        self.rules[dataset.name] = "equal"
        if any(one.name in self.weights for one, _ in open_):
            self.rules[dataset.name] = "weights"
            rest = [
                replace(one, weight=self.weights.get(one.measurement.name, Fraction(1)))
                for one in rest
            ]
        filled = fill(dataset, fixed, rest)
        if filled is not None and self.rules[dataset.name] == "equal":
            importance = self._importance(dataset, filled)
            if importance is not None and dataset.budget is not None:
                self.rules[dataset.name] = "errors"
                parts = balanced(importance, dataset.budget.unit)
                rest = [replace(one, weight=w) for one, w in zip(rest, parts, strict=True)]
                filled = fill(dataset, fixed, rest)
        if filled is None:
            names = ", ".join(f"`{one.name}`" for one, _ in open_)
            self.findings.error(
                "DPQL-E079",
                f"nothing of the BUDGET of `{dataset.name}` is left for {names}",
                dataset.budget_span,
                note="what is kept, and the least that meets each EXPECT, is all of it",
                help="expect less, raise the BUDGET, or drop a statement",
            )
            return
        for price in filled:
            self.found[price.measurement.name, price.paid.source.name] = price, "rest"

    def _importance(self, dataset: BoundDataset, prices: tuple[Price, ...]) -> list[float] | None:
        """a_i of each, from its forecast error at an equal part; None where one forecasts none.

        The square of the root mean square error, times the part that buys it (in eps: its square).
        """
        budget = dataset.budget
        if len(prices) < 2 or budget is None:
            return None
        found = []
        for price in prices:
            part = _size(price, budget)
            error = _error(price)
            if part is None or error is None:
                return None
            found.append(error**2 * part ** (2 if budget.unit == "eps" else 1))
        return found

    def _prices(self, dataset: BoundDataset) -> tuple[Price, ...]:
        return tuple(
            price for price, _ in self.found.values() if price.paid.source.dataset == dataset.name
        )

    def _proposals(self) -> Iterable[Proposal]:
        for measurement in self.checked.bound.measurements:
            for paid in measurement.costs:
                price, why = self.found[measurement.name, paid.source.name]
                yield Proposal(measurement, paid, price.cost, paid.share is not None, why, price)


def _size(price: Price, budget: Cost) -> float | None:
    """What a price takes of what adds up; of pairs, the mu squared of its leaves."""
    charge = price.charge("mu" if budget.unit == "eps_delta" else budget.unit)
    return None if charge is None else float(charge)


def _error(price: Price) -> float | None:
    """The forecast root mean square error of all released numbers, in units of half ranges."""
    if len(price.measurement.costs) > 1:
        return None
    try:
        forecast = try_out(price.measurement, (price,)).forecast
    except Unsolvable:
        return None
    error = forecast.get("rms_error")
    return float(error) if isinstance(error, float) and error > 0 else None
