"""The conclusions that need no data, no sensitivity and no forecast."""

from __future__ import annotations

from grammar.diagnostics import Diagnostic
from planner.bound import BoundDataset, BoundMeasurement, BoundPlan
from planner.calculus.inverse import Unsolvable
from planner.checked import CheckedPlan, Price
from planner.costing import price_at
from planner.findings import Findings
from planner.graph import graph_of
from planner.rules import fits_budget, only_measurements_cross, open_costs_have_goals

__all__ = ["DRAWS_DEPEND", "LEFT_OPEN", "check"]

LEFT_OPEN = "DPQL-E068"
"""The code of the note that a cost is open: true of a check, no longer of a plan."""

DRAWS_DEPEND = "DPQL-E158"
"""The code of the note that draws depend on the amount: true of a check, no longer of a plan."""


def check(bound: BoundPlan) -> tuple[CheckedPlan, tuple[Diagnostic, ...]]:
    """Price every statement and hold the totals against the budgets of the file.

    The checked plan may be used further only where no diagnostic is an error.
    """
    findings = Findings()
    prices: list[Price] = []
    for measurement in bound.measurements:
        prices += _prices(measurement, findings)
    open_costs_have_goals.judge(bound, findings)
    graph = graph_of(bound)
    only_measurements_cross.judge(graph, findings)
    for dataset in bound.datasets:
        mine = tuple(price for price in prices if price.paid.source.dataset == dataset.name)
        fits_budget.judge(dataset, mine, findings)
        _note_open(dataset, mine, findings)
    return CheckedPlan(bound, tuple(prices), graph), tuple(findings.items)


def _note_open(dataset: BoundDataset, prices: tuple[Price, ...], findings: Findings) -> None:
    """Say whose charge to the dataset's BUDGET only a plan can tell."""
    budget = dataset.budget
    for price in prices:
        if budget is not None and not price.has_verdict(budget.unit):
            findings.remark(
                DRAWS_DEPEND,
                f"what `{price.measurement.name}` draws depends on its cost, so that what it takes "
                f"from the BUDGET of `{dataset.name}` is left to `dpql plan`",
                price.paid.span,
            )


def _prices(measurement: BoundMeasurement, findings: Findings) -> list[Price]:
    prices = []
    for paid in measurement.costs:
        if paid.cost is None:
            findings.remark(
                LEFT_OPEN,
                f"the cost of `{measurement.name}` is left open by `auto`",
                paid.span,
                help="`dpql plan` finds the least that meets the EXPECT clauses on it",
            )
            continue
        try:
            prices.append(price_at(measurement, paid, paid.cost))
        except Unsolvable as reason:
            findings.error("DPQL-E069", reason.reason, paid.span, help=reason.suggestion)
    return prices
