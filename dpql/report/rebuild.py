"""A plan computed anew from the declarations in its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpql.errors import PlanRefused
from dpql.pipeline import Planned
from dpql.plan_file import PlanFile
from executors.registry import REGISTRY
from grammar.diagnostics import Diagnostic, Severity, has_errors
from grammar.source import Source
from planner.bound import (
    BoundDataset,
    BoundDerive,
    BoundExpect,
    BoundMeasurement,
    BoundPlan,
    SourceCost,
)
from planner.calculus.exact import number
from planner.certificate import certify
from planner.charges import reservations
from planner.check import check
from planner.decode import Executable, PlanError, RunnablePlan, cost_of, decode
from planner.encode import canonical
from planner.facts import SourceFacts
from planner.plan import plan

__all__ = ["rebuild"]


def rebuild(file: PlanFile) -> Planned:
    """The plan that the body's facts, options and costs lead to, with all findings.

    Nothing else of the file is believed: sensitivities, noise scales, totals, forecasts and the
    certificate are computed again. Raises `PlanRefused` where the body is not of this version, or
    where it holds another noise or another column than its own declarations lead to.
    """
    try:
        bound = _bound(decode(file.body, REGISTRY))
    except PlanError as failure:
        raise PlanRefused(str(failure), help="plan the query anew") from failure
    complaints = _complaints(bound)
    if has_errors(complaints):
        return Planned(bound.source, complaints, None, None)
    checked, findings = check(bound)
    findings = complaints + findings
    if has_errors(findings):
        return Planned(bound.source, findings, None, None)
    made, more = plan(checked)
    findings += more
    if made is None:
        return Planned(bound.source, findings, checked, None)
    if canonical(_plain(made.body)) != canonical(_plain(file.body)):
        raise PlanRefused(
            "the body of the plan does not follow from its own declarations",
            note="the noise of a plan is computed from its bounds, options and costs; this one "
            "was changed by hand, or made by another version of the program",
            help="plan the query anew, and let it be reviewed anew",
        )
    certificate = certify(file.body, file.hash, reservations(checked))
    kept = replace(made, body=file.body, hash=file.hash, certificate=certificate)
    return Planned(bound.source, findings, checked, None if has_errors(findings) else kept)


def _bound(plan: RunnablePlan) -> BoundPlan:
    body = plan.body
    budgets = {one["name"]: one["budget"] for one in body["datasets"]}
    return BoundPlan(
        Source("<plan>", ""),
        tuple(_dataset(facts, budgets[facts.dataset]) for facts in plan.datasets),
        tuple(_measurement(statement) for statement in plan.statements),
        tuple(BoundDerive(d.name, d.function, d.release, d.params) for d in plan.derived),
        tuple(
            BoundExpect(one["release"], one["metric"], number(one["at_least"]))
            for one in body["expect"]
        ),
        tuple(body["study"].items()),
    )


def _dataset(facts: SourceFacts, budget: Mapping[str, str] | None) -> BoundDataset:
    sites = tuple(replace(facts, site=name, rows=rows) for name, rows in facts.sites)
    return BoundDataset(facts, sites, None if budget is None else cost_of(budget))


def _measurement(statement: Executable) -> BoundMeasurement:
    return BoundMeasurement(
        statement.name,
        statement.mechanism,
        statement.params,
        statement.facts,
        tuple(SourceCost(source, cost) for source, cost in statement.costs),
    )


def _complaints(bound: BoundPlan) -> tuple[Diagnostic, ...]:
    """What the methods find wrong with their options and columns."""
    found = []
    for one in bound.measurements:
        units = {p.source.name: p.cost.unit for p in one.costs if p.cost is not None}
        for said in one.mechanism.check(one.params, one.facts, units):
            severity = Severity.WARNING if said.is_warning else Severity.ERROR
            found.append(Diagnostic(said.code, said.message, None, severity, said.note, said.help))
    return tuple(found)


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with every `{"auto": value}` of an option replaced by its value.

    Once an `auto` was replaced nothing tells it from a value that was written.
    """
    return {
        **body,
        "statements": [
            {**one, "params": {name: _chosen(value) for name, value in one["params"].items()}}
            for one in body["statements"]
        ],
    }


def _chosen(value: Any) -> Any:
    return value["auto"] if isinstance(value, dict) and set(value) == {"auto"} else value
