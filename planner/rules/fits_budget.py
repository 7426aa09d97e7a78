"""What the statements of a file spend on a dataset fits the dataset's BUDGET."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from grammar.diagnostics import Label
from planner.bound import BoundDataset
from planner.calculus.compose import Bound
from planner.calculus.cost import Cost, Unit
from planner.calculus.exact import root_down, root_up, text
from planner.calculus.joint_total import could_be
from planner.charges import charge_of, is_within, pair_of, total_of
from planner.checked import Price
from planner.findings import Findings
from planner.number_format import shown
from planner.rules.conversion import way_out
from planner.rules.scaling import noise_factor

__all__ = ["fits", "judge"]

_COMPOSED = 100
"""In a longer plan the place where a budget breaks is found by closed forms alone."""

_ADDS_UP = {
    "eps": "eps adds up over analyses of the same people",
    "rho": "rho adds up over analyses of the same people",
    "mu": "mu adds up in squares over analyses of the same people",
}


@dataclass(slots=True)
class _Spent:
    """A running sum over a dataset: the sites add up within a site, then the `most` dearest do."""

    most: int
    whole: Fraction = Fraction(0)
    sites: dict[str, Fraction] = field(default_factory=dict)

    def add(self, site: str | None, amount: Fraction) -> None:
        if site is None:
            self.whole += amount
        else:
            self.sites[site] = self.sites.get(site, Fraction(0)) + amount

    @property
    def total(self) -> Fraction:
        return self.whole + sum(sorted(self.sites.values())[-self.most :], Fraction(0))


def judge(dataset: BoundDataset, prices: Sequence[Price], findings: Findings) -> None:
    """Write an error at the statement with which the spending passes the budget.

    A statement whose charge in the budget's unit only a plan can tell is left out until then.
    """
    budget = dataset.budget
    if budget is None:
        return
    prices = [price for price in prices if price.has_verdict(budget.unit)]
    if budget.unit == "eps_delta":
        _pairs(dataset, budget, prices, findings)
    elif not (budget.unit == "mu" and _composed(dataset, budget, prices, findings)):
        _sums(dataset, budget, prices, findings)


def fits(dataset: BoundDataset, prices: Sequence[Price], grid: bool = True) -> bool:
    """Whether the prices fit the budget: what `judge` finds, without words.

    Without `grid` no losses are composed on one, which is fast; what fits so fits.
    """
    budget = dataset.budget
    if budget is not None:
        prices = [price for price in prices if price.has_verdict(budget.unit)]
    if budget is None or not prices:
        return True
    if budget.unit == "eps_delta":
        bound = pair_of(prices, budget.delta, grid)
        return bound is not None and bound.eps <= budget.amount
    if grid:
        return is_within(prices, budget.unit, budget.additive)
    spent = total_of(prices, budget.unit)
    return spent is not None and spent <= budget.additive


def _composed(
    dataset: BoundDataset, budget: Cost, prices: Sequence[Price], findings: Findings
) -> bool:
    """Whether a mu budget holds the whole though not the sum of its parts; then it is said."""
    spent = total_of(prices, budget.unit)
    if spent is None or spent <= budget.additive:
        return False
    if not is_within(prices, budget.unit, budget.additive):
        return False
    charge = charge_of(prices, budget.unit)
    if charge is None:
        return False
    findings.remark(
        "DPQL-W231",
        f"the budget of `{dataset.name}` suffices because the losses of the whole plan are "
        f"composed on a grid: together mu={_number(charge.amount, budget.unit)}",
        note=f"the statements' own costs would add up to mu={_number(spent, budget.unit)}",
    )
    return True


def _sums(dataset: BoundDataset, budget: Cost, prices: Sequence[Price], findings: Findings) -> None:
    spent = _Spent(dataset.facts.max_sites)
    labels: list[Label] = []
    said = False
    for price in prices:
        amount = price.charge(budget.unit)
        if amount is None:
            _inconvertible(dataset, budget.unit, price, prices, findings)
            continue
        before = spent.total
        spent.add(price.paid.source.site, amount)
        here = _number(amount, budget.unit)
        if spent.total > budget.additive and not said:
            said = True
            over = spent.total - budget.additive
            findings.error(
                "DPQL-E071",
                f"the plan spends {budget.unit}={_number(spent.total, budget.unit)}, the budget of "
                f"`{dataset.name}` is {budget.unit}={shown(budget.amount)}",
                price.paid.span,
                here=_passes(over, budget.unit),
                note=_ADDS_UP[budget.unit] + _composed_too(budget, prices),
                help=_fits_here(budget, before, price) + _or_scaled(dataset, prices),
                labels=labels,
            )
        labels.append(Label(price.paid.span, f"{here} spent here"))


def _pairs(
    dataset: BoundDataset, budget: Cost, prices: Sequence[Price], findings: Findings
) -> None:
    """(eps, delta): the sums of the declared pairs, or the composed leaves at the budget's delta.

    Both bound the same plan, so it fits if one of them does. Losses are composed on a grid only
    where no closed form fits.
    """

    def least(count: int, grid: bool = True) -> Bound | None:
        return pair_of(prices[:count], budget.delta, grid)

    def fits(bound: Bound | None) -> bool:
        return bound is not None and bound.eps <= budget.amount

    if not prices or fits(least(len(prices), grid=False)):
        return
    bound = least(len(prices))
    if bound is not None and bound.eps <= budget.amount:
        findings.remark(
            "DPQL-W231",
            f"the budget of `{dataset.name}` suffices because the losses of the whole plan are "
            f"composed on a grid: eps={shown(bound.eps)} at delta={text(budget.delta)}",
            note="every closed form alone would pass the budget",
        )
        return
    # What is spent only grows, so the statement that breaks the budget is found by halving.
    grid = len(prices) <= _COMPOSED
    counts = range(1, len(prices) + 1)
    broken = bisect_left(counts, True, key=lambda count: not fits(least(count, grid)))
    bound = least(counts[broken], grid)
    total = "no finite eps" if bound is None else f"eps={shown(bound.eps)}"
    findings.error(
        "DPQL-E071",
        f"the plan spends {total} at delta={text(budget.delta)}, the budget of "
        f"`{dataset.name}` is eps={shown(budget.amount)}, delta={text(budget.delta)}",
        prices[broken].paid.span,
        here="passes the budget here",
        note="costs at one delta are composed, not added; the least of all sound bounds is shown",
        help="lower this cost, or raise the budget with the custodian's consent"
        + _or_scaled(dataset, prices),
    )


def _inconvertible(
    dataset: BoundDataset, unit: Unit, price: Price, prices: Sequence[Price], findings: Findings
) -> None:
    reason, help = way_out(price, prices, unit, dataset.name)
    findings.error(
        "DPQL-E067",
        f"`{price.measurement.name}` cannot be charged to a budget in {unit}",
        price.paid.span,
        note=reason,
        help=help,
    )


def _composed_too(budget: Cost, prices: Sequence[Price]) -> str:
    """What the whole costs where that is less than the sum, and still too much."""
    if budget.unit != "mu":
        return ""
    leaves = [leaf for price in prices for leaf in price.leaves]
    if not could_be(leaves, budget.additive):
        return ""
    charge = charge_of(prices, budget.unit)
    if charge is None or charge.by == "sum":
        return ""
    return f"; all together cost mu={_number(charge.amount, budget.unit)}, above the budget too"


def _number(additive: Fraction, unit: Unit) -> str:
    return shown(root_up(additive) if unit == "mu" else additive)


def _passes(over: Fraction, unit: Unit) -> str:
    if unit == "mu":
        return f"passes the budget by {shown(over)} in mu squared"
    return f"passes the budget by {shown(over)}"


def _fits_here(budget: Cost, before: Fraction, price: Price) -> str:
    left = budget.additive - before
    if left <= 0:
        return "nothing is left of the budget here; drop this statement or lower another"
    if price.cost.unit != budget.unit:
        return "lower the cost of this statement, or of one above"
    if price.paid.cost is None:
        return "expect less of this statement, or lower another"
    fits = root_down(left) if budget.unit == "mu" else left
    return f"{budget.unit}={shown(fits, up=False)} fits here"


def _or_scaled(dataset: BoundDataset, prices: Sequence[Price]) -> str:
    factor = noise_factor(dataset, prices)
    if factor is None:
        return ""
    return f"; or all fit with {shown(factor)} times the noise in each"
