"""Whether a plan's noise follows from the plan's own declarations."""

from __future__ import annotations

from collections.abc import Mapping

from dpql.errors import PlanRefused
from grammar.diagnostics import Diagnostic, Severity
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
from planner.calculus.inverse import Unsolvable
from planner.calculus.leaves import Leaf
from planner.decode import Executable, RunnablePlan, cost_of
from planner.facts import SourceFacts
from planner.needs import leaves_at

__all__ = ["bound_of", "complaints", "require"]


def require(plan: RunnablePlan) -> None:
    """Raise `PlanRefused` unless every method accepts its statement, with just the leaves it has.

    A certificate proves a cost from sensitivities and scales, but takes the sensitivities from the
    plan. Here they are computed again from bounds, options and costs. No forecast is repeated.
    """
    for found in complaints(bound_of(plan)):
        if found.severity is Severity.ERROR:
            raise PlanRefused(
                f"a statement of the plan is refused: {found.message}",
                note=found.note,
                help="plan the query anew",
            )
    for statement in plan.statements:
        try:
            leaves = _leaves(statement)
        except (Unsolvable, ValueError, TypeError, KeyError, ArithmeticError) as failure:
            raise PlanRefused(
                f"the noise of `{statement.name}` cannot be computed again",
                help="plan the query anew",
            ) from failure
        if leaves != statement.loss.leaves:
            raise PlanRefused(
                f"the noise of `{statement.name}` does not follow from its declarations",
                note="the noise of a plan is computed from its bounds, options and costs; this one "
                "was changed by hand, or made by another version of the program",
                help="plan the query anew, and let it be reviewed anew",
            )


def bound_of(plan: RunnablePlan) -> BoundPlan:
    """The declarations of a plan, without places in a text."""
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


def complaints(bound: BoundPlan) -> tuple[Diagnostic, ...]:
    """What methods and functions of DERIVE find wrong with their options and columns."""
    found = []
    for one in bound.measurements:
        for said in one.mechanism.check(one.params, one.facts, one.units):
            severity = Severity.WARNING if said.is_warning else Severity.ERROR
            found.append(Diagnostic(said.code, said.message, None, severity, said.note, said.help))
    facts = {one.name: one.facts for one in bound.measurements}
    for derived in bound.derived:
        if derived.function.check is not None:
            for said in derived.function.check(derived.params, facts[derived.release]):
                found.append(
                    Diagnostic(said.code, said.message, None, Severity.ERROR, said.note, said.help)
                )
    return tuple(found)


def _dataset(facts: SourceFacts, budget: Mapping[str, str] | None) -> BoundDataset:
    sites = tuple(facts.at(name) for name, _ in facts.sites)
    return BoundDataset(facts, sites, None if budget is None else cost_of(budget))


def _measurement(statement: Executable) -> BoundMeasurement:
    return BoundMeasurement(
        statement.name,
        statement.mechanism,
        statement.params,
        statement.facts,
        tuple(SourceCost(source, cost) for source, cost in statement.costs),
    )


def _leaves(statement: Executable) -> tuple[Leaf, ...]:
    mechanism, params, facts = statement.mechanism, statement.params, statement.facts
    units = {source.name: cost.unit for source, cost in statement.costs}
    return tuple(
        leaf
        for source, cost in statement.costs
        for leaf in leaves_at(mechanism, params, facts, units, source, cost)
    )
