"""What the statements of a file spend on a dataset fits the dataset's BUDGET."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from grammar.diagnostics import Label
from planner.bound import BoundDataset
from planner.calculus.compose import eps_at
from planner.calculus.cost import Cost, Unit
from planner.calculus.exact import root_down, root_up, text
from planner.calculus.leaves import Priced
from planner.checked import Price
from planner.findings import Findings
from planner.rules.conversion import way_out
from planner.rules.scaling import noise_factor
from planner.shown import shown

__all__ = ["judge"]

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
    """Write an error at the statement with which the spending passes the budget."""
    budget = dataset.budget
    if budget is None:
        return
    if budget.unit == "eps_delta":
        _pairs(dataset, budget, prices, findings)
    else:
        _sums(dataset, budget, prices, findings)


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
                note=_ADDS_UP[budget.unit],
                help=_fits_here(budget, before, price) + _or_scaled(dataset, prices),
                labels=labels,
            )
        labels.append(Label(price.paid.span, f"{here} spent here"))


def _pairs(
    dataset: BoundDataset, budget: Cost, prices: Sequence[Price], findings: Findings
) -> None:
    """(eps, delta): the sums of the declared pairs, or the composed leaves at the budget's delta.

    Both bound the same plan, so it fits if one of them does.
    """
    most = dataset.facts.max_sites
    eps_spent, delta_spent = _Spent(most), _Spent(most)
    summable = True
    leaves: list[Priced] = []
    for price in prices:
        if price.cost.unit in ("eps", "eps_delta"):
            eps_spent.add(price.paid.source.site, price.cost.amount)
            delta_spent.add(price.paid.source.site, price.cost.delta)
        else:
            summable = False
        eps, delta = eps_spent.total, delta_spent.total
        leaves += price.leaves
        bound = eps_at(leaves, budget.delta, most)
        composed = None if bound is None else bound.eps
        if summable and eps <= budget.amount and delta <= budget.delta:
            continue
        if composed is not None and composed <= budget.amount:
            continue
        least = min(
            [
                bound
                for bound in (composed, eps if summable and delta <= budget.delta else None)
                if bound is not None
            ],
            default=None,
        )
        total = "no finite eps" if least is None else f"eps={shown(least)}"
        findings.error(
            "DPQL-E071",
            f"the plan spends {total} at delta={text(budget.delta)}, the budget of "
            f"`{dataset.name}` is eps={shown(budget.amount)}, delta={text(budget.delta)}",
            price.paid.span,
            here="passes the budget here",
            note="costs at one delta are composed, not added; the least of all sound bounds is "
            "shown",
            help="lower this cost, or raise the budget with the custodian's consent"
            + _or_scaled(dataset, prices),
        )
        return


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
