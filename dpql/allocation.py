"""A proposed split of the budgets of a file: its new text, with what changes in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpql.errors import UsageError
from dpql.pipeline import plan_source
from dpql.rewriting import rewritten, words_of
from executors.registry import REGISTRY
from grammar.diagnostics import Diagnostic, has_errors
from grammar.exchange import SCHEMA
from grammar.parser import parse
from grammar.source import Source
from planner.allocate import Allocation, Proposal, Rule, allocate
from planner.bind.script import bind
from planner.bound import BoundMeasurement
from planner.calculus.cost import Cost
from planner.calculus.exact import text
from planner.calculus.inverse import Unsolvable
from planner.charges import total_of
from planner.check import check
from planner.checked import CheckedPlan
from planner.costing import try_out
from planner.encode import cost_json
from planner.findings import Findings, choices
from planner.number_format import shown
from planner.planned import Plan
from planner.rules import public_tables_are_bound

__all__ = ["Allocated", "Row", "Split", "allocated"]

_CURED = ("DPQL-E068", "DPQL-E071", "DPQL-E077")
"""What a split itself puts right: an open cost, a passed budget."""


@dataclass(frozen=True, slots=True)
class Row:
    """One proposed cost beside the present one (None for `auto`), with the figure it changes.

    `part` is what it takes of what adds up in the BUDGET; None for pairs of eps and delta, and
    where there is no BUDGET.
    """

    proposal: Proposal
    now: Cost | None
    written: str
    part: Fraction | None
    reason: str
    metric: str | None
    before: float | None
    after: float | None

    def json(self) -> dict[str, Any]:
        """The row as JSON; `now` is null where the file says `auto`."""
        source = self.proposal.paid.source
        return {
            "name": self.proposal.measurement.name,
            "dataset": source.dataset,
            "site": source.site,
            "now": None if self.now is None else cost_json(self.now),
            "proposed": cost_json(self.proposal.cost),
            "written": self.written,
            "part": None if self.part is None else text(self.part),
            "why": self.proposal.why,
            "reason": self.reason,
            "metric": self.metric,
            "forecast_now": self.before,
            "forecast": self.after,
        }


@dataclass(frozen=True, slots=True)
class Split:
    """One dataset's BUDGET with the rows that share it; `left` is the part that nothing takes."""

    dataset: str
    budget: Cost | None
    rule: Rule | None
    rows: tuple[Row, ...]
    left: Fraction | None

    def json(self) -> dict[str, Any]:
        """`{"dataset","budget","rule","left","costs"}`."""
        return {
            "dataset": self.dataset,
            "budget": None if self.budget is None else cost_json(self.budget),
            "rule": self.rule,
            "left": None if self.left is None else text(self.left),
            "costs": [row.json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Allocated:
    """A proposal, or the findings that prevent one. Nothing is written anywhere.

    `text` is the query with the proposed costs filled in; it was planned, without an error.
    """

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    splits: tuple[Split, ...] = ()
    text: str | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a proposal."""
        return self.text is not None

    def json(self) -> dict[str, Any]:
        """`{"schema","kind","ok","diagnostics","datasets","text"}`."""
        return {
            "schema": SCHEMA,
            "kind": "allocation",
            "ok": self.ok,
            "diagnostics": [one.json(self.source) for one in self.diagnostics],
            "datasets": [split.json() for split in self.splits],
            "text": self.text,
        }

    def __str__(self) -> str:
        from dpql.allocation_text import allocation_text

        return allocation_text(self)


def allocated(
    source: Source,
    keep: frozenset[str] = frozenset(),
    weights: Mapping[str, Fraction] | None = None,
    data: Mapping[str, str] | None = None,
) -> Allocated:
    """A split of the budgets of a query text by what is expected of its measurements.

    `keep` names measurements whose costs stay; `weights` shares what is left among those of which
    nothing is expected (1 where none is given); `data` says where public tables lie. Raises
    `UsageError` for a name that is none, or a weight that is not above 0.
    """
    weights = dict(weights or {})
    script, said = parse(source)
    bound, more = bind(script, REGISTRY)
    if data and not has_errors(said + more):
        from dpql.public_table import tables_of

        bound, more = bind(script, REGISTRY, tables_of(bound, data))
    found = said + more
    if has_errors(found):
        return Allocated(source, found)
    _names(bound.measurements, {one.release for one in bound.expects}, keep, weights)
    checked, last = check(bound)
    last = tuple(one for one in last if one.code not in _CURED)
    if has_errors(last):
        return Allocated(source, found + last)
    findings = Findings()
    public_tables_are_bound.judge(bound, findings)
    allocation = None if findings.failed else allocate(checked, findings, keep, weights)
    if allocation is None:
        return Allocated(source, found + tuple(findings.items))
    budgets = {dataset.name: dataset.budget for dataset in bound.datasets}
    new = rewritten(source, allocation, budgets)
    planned = plan_source(Source(source.name, new), data)
    if planned.plan is None:
        return Allocated(planned.source, planned.diagnostics)
    splits = tuple(
        _split(dataset.name, dataset.budget, allocation, checked, planned.plan, weights)
        for dataset in bound.datasets
        if allocation.of(dataset.name)
    )
    return Allocated(source, planned.diagnostics, splits, new)


def _names(
    measurements: tuple[BoundMeasurement, ...],
    expected: set[str],
    keep: frozenset[str],
    weights: Mapping[str, Fraction],
) -> None:
    known = [one.name for one in measurements]
    for name in sorted({*keep, *weights} - set(known)):
        raise UsageError(
            f"the file has no measurement `{name}`", help=choices(name, known, "measurements")
        )
    for name, weight in weights.items():
        if weight <= 0:
            raise UsageError(f"the weight of `{name}` is not above 0")
    for one in measurements:
        if one.name in keep and one.is_open:
            raise UsageError(f"`{one.name}` has no cost to keep: it says `auto`")
        if one.name in weights and one.name in keep | expected:
            raise UsageError(
                f"`{one.name}` has no weight: "
                + ("it is kept" if one.name in keep else "its EXPECT decides what it gets")
            )


def _split(
    name: str,
    budget: Cost | None,
    allocation: Allocation,
    checked: CheckedPlan,
    plan: Plan,
    weights: Mapping[str, Fraction],
) -> Split:
    rule = allocation.rules.get(name)
    sharing = sum(one.why == "rest" for one in allocation.of(name))
    rows = tuple(
        _row(one, budget, checked, plan, _reason(one, checked, rule, weights, sharing))
        for one in allocation.of(name)
    )
    left = None
    if budget is not None and budget.unit != "eps_delta":
        spent = total_of([one.price for one in allocation.of(name)], budget.unit)
        left = None if spent is None else 1 - spent / budget.additive
    return Split(name, budget, rule, rows, left)


def _row(one: Proposal, budget: Cost | None, checked: CheckedPlan, plan: Plan, reason: str) -> Row:
    after = next(m for m in plan.measurements if m.name == one.measurement.name).forecast
    metric = _metric(one.measurement, checked, after)
    part = None
    if budget is not None and budget.unit != "eps_delta":
        charge = one.price.charge(budget.unit)
        part = None if charge is None else charge / budget.additive
    before = None if metric is None else _forecast_now(one.measurement, checked, metric)
    return Row(
        one,
        one.paid.cost,
        words_of(one, budget),
        part,
        reason,
        metric,
        before,
        None if metric is None else float(after[metric]),
    )


def _metric(
    measurement: BoundMeasurement, checked: CheckedPlan, forecast: Mapping[str, Any]
) -> str | None:
    """The figure to compare by: what is expected, else the method's metric, else its error."""
    expected = [one.metric for one in checked.bound.expects if one.release == measurement.name]
    names = [*expected, *measurement.mechanism.metrics, "rms_error"]
    return next((name for name in names if isinstance(forecast.get(name), int | float)), None)


def _forecast_now(measurement: BoundMeasurement, checked: CheckedPlan, metric: str) -> float | None:
    prices = tuple(price for price in checked.prices if price.measurement is measurement)
    if measurement.is_open or len(prices) != len(measurement.costs):
        return None
    try:
        value = try_out(measurement, prices).forecast.get(metric)
    except Unsolvable:
        return None
    return float(value) if isinstance(value, int | float) else None


def _reason(
    one: Proposal,
    checked: CheckedPlan,
    rule: Rule | None,
    weights: Mapping[str, Fraction],
    sharing: int,
) -> str:
    name = one.measurement.name
    if one.why == "kept":
        return "kept as it is"
    if one.why == "least":
        goals = [
            f"{name}.{goal.metric} >= {shown(goal.at_least)}"
            for goal in checked.bound.expects
            if goal.release == name
        ]
        return "the least that meets " + " and ".join(goals)
    if sharing == 1:
        return "all that is left"
    if rule == "weights":
        return f"a part of the rest, weight {shown(weights.get(name, Fraction(1)))}"
    if rule == "errors":
        return "a part of the rest that makes the sum of squared errors least"
    return "an equal part of the rest"
