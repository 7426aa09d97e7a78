"""From a checked plan to one that can be approved: scales, forecasts, certificate, hash."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from grammar.diagnostics import Diagnostic
from planner.bound import BoundMeasurement
from planner.calculus.inverse import Unsolvable
from planner.calculus.leaves import Leaf, Loss
from planner.certificate import certify
from planner.charges import reservations
from planner.checked import CheckedPlan, Price
from planner.encode import body_of, plan_hash
from planner.findings import Findings
from planner.mechanism import ForecastModule, Params
from planner.needs import leaves_at
from planner.planned import Plan, PlannedMeasurement
from planner.rules import meets_expectations

__all__ = ["plan"]


def plan(checked: CheckedPlan) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """Resolve every `auto`, solve the noise, forecast, and certify; None where that fails.

    The one place where forecasts are computed: nothing later repeats them.
    """
    findings = Findings()
    planned = []
    for measurement in checked.bound.measurements:
        mine = tuple(price for price in checked.prices if price.measurement is measurement)
        if len(mine) != len(measurement.costs):
            findings.error(
                "DPQL-E068",
                f"the cost of `{measurement.name}` is left open by `auto`",
                measurement.place("cost"),
                note="this version does not choose costs by itself",
                help="write a cost, for example a share of the budget such as `50%`",
            )
            continue
        one = _measurement(measurement, mine, findings)
        if one is not None:
            planned.append(one)
    _hypotheses(checked, findings)
    if findings.failed:
        return None, tuple(findings.items)
    meets_expectations.judge(checked.bound.expects, tuple(planned), findings)
    body = body_of(checked.bound, tuple(planned))
    digest = plan_hash(body)
    certificate = certify(body, digest, reservations(checked))
    done = Plan(checked, tuple(planned), body, digest, certificate)
    return done, tuple(findings.items)


def _measurement(
    bound: BoundMeasurement, prices: tuple[Price, ...], findings: Findings
) -> PlannedMeasurement | None:
    module = cast(ForecastModule, import_module(bound.mechanism.forecast))
    units = {price.paid.source.name: price.cost.unit for price in prices}
    try:
        params: Params = module.resolve(bound.params, bound.facts, prices[0].cost)
        leaves: list[Leaf] = []
        for price in prices:
            leaves += leaves_at(
                bound.mechanism, params, bound.facts, units, price.paid.source, price.cost
            )
    except Unsolvable as reason:
        findings.error("DPQL-E069", str(reason), bound.place("cost"))
        return None
    loss = Loss(tuple(leaves))
    forecast: Mapping[str, Any] = module.forecast(params, bound.facts, loss)
    for warning in forecast.get("warnings", ()):
        findings.warn(warning["code"], warning["message"], bound.span, help=warning.get("help", ""))
    shown = {name: value for name, value in forecast.items() if name != "warnings"}
    return PlannedMeasurement(bound, params, prices, loss, shown)


def _hypotheses(checked: CheckedPlan, findings: Findings) -> None:
    for dataset in checked.bound.datasets:
        for column in dataset.facts.columns:
            if column.pattern and column.hypotheses is None:
                findings.error(
                    "DPQL-E031",
                    f"how many columns `{column.name}` names is not known",
                    dataset.span,
                    help="add `HYPOTHESES m` to the pattern",
                )
