"""The conclusions that need no data, no sensitivity and no forecast."""

from __future__ import annotations

from grammar.diagnostics import Diagnostic
from planner.bound import BoundMeasurement, BoundPlan
from planner.calculus.inverse import Unsolvable, declared
from planner.checked import CheckedPlan, Price
from planner.findings import Findings
from planner.graph import graph_of
from planner.needs import needs_at
from planner.rules import fits_budget, only_measurements_cross

__all__ = ["check"]


def check(bound: BoundPlan) -> tuple[CheckedPlan, tuple[Diagnostic, ...]]:
    """Price every statement and hold the totals against the budgets of the file.

    The checked plan may be used further only where no diagnostic is an error.
    """
    findings = Findings()
    prices: list[Price] = []
    for measurement in bound.measurements:
        prices += _prices(measurement, findings)
    graph = graph_of(bound)
    only_measurements_cross.judge(graph, findings)
    for dataset in bound.datasets:
        mine = tuple(price for price in prices if price.paid.source.dataset == dataset.name)
        fits_budget.judge(dataset, mine, findings)
    return CheckedPlan(bound, tuple(prices), graph), tuple(findings.items)


def _prices(measurement: BoundMeasurement, findings: Findings) -> list[Price]:
    units = {p.source.name: p.cost.unit for p in measurement.costs if p.cost is not None}
    prices = []
    for paid in measurement.costs:
        if paid.cost is None:
            findings.remark(
                "DPQL-E068",
                f"the cost of `{measurement.name}` is left open by `auto`",
                paid.span,
            )
            continue
        try:
            needs = needs_at(
                measurement.mechanism, measurement.params, measurement.facts, units, paid.source
            )
            leaves = declared(needs, paid.cost)
        except Unsolvable as reason:
            findings.error("DPQL-E069", str(reason), paid.span)
            continue
        prices.append(Price(measurement, paid, paid.cost, leaves))
    return prices
