"""A plan as others read it: the JSON that `dpql plan --format json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from dpql.pipeline import Planned
from grammar.exchange import SCHEMA
from planner.bound import BoundDataset
from planner.calculus import compose, risk
from planner.calculus.cost import Cost
from planner.calculus.exact import root_up, text
from planner.calculus.inverse import declared
from planner.calculus.leaves import Draft
from planner.charges import charge_of
from planner.checked import CheckedPlan, Price
from planner.decode import Executable
from planner.encode import cost_json
from planner.needs import needs_at
from planner.planned import Plan, PlannedMeasurement

__all__ = ["Remaining", "cost_of_dataset", "cost_of_loss", "cost_of_price", "plan_json"]

Remaining = Mapping[str, Mapping[str, Any]]
"""What a ledger has left, by key: `{"unit", "remaining"}` and more."""


def plan_json(planned: Planned, remaining: Remaining | None = None) -> dict[str, Any]:
    """The whole view; without a plan only the findings are filled in."""
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "plan_hash": None,
        "ok": planned.ok,
        "diagnostics": [finding.json(planned.source) for finding in planned.diagnostics],
    }
    plan = planned.plan
    if plan is None:
        return head
    return {
        **head,
        "plan_hash": plan.hash,
        "body": plan.body,
        "datasets": [
            _dataset(dataset, plan.checked, remaining or {})
            for dataset in plan.checked.bound.datasets
        ],
        "keys": _keys(plan.checked, remaining or {}),
        "statements": [
            _statement(one, written, planned)
            for one, written in zip(plan.measurements, plan.body["statements"], strict=True)
        ],
        "derived": plan.body["derived"],
        "expect": _expect(plan),
        "graph": plan.checked.graph.json(),
        "certificate": plan.certificate,
        "risk": {
            dataset.name: risk_of(plan.checked, dataset) for dataset in plan.checked.bound.datasets
        },
    }


def deltas_of(prices: Iterable[Price], budget: Cost | None) -> tuple[Fraction, ...]:
    """Every delta that a cost or a budget names."""
    named = [price.cost.delta for price in prices] + ([] if budget is None else [budget.delta])
    return tuple(dict.fromkeys(delta for delta in named if delta > 0))


def cost_of_price(price: Price) -> dict[str, Any]:
    """The cost of one statement at one source, in every unit."""
    written = compose.view(price.leaves, deltas_of([price], None))
    return _with_declared(written, price.cost)


def cost_of_loss(statement: Executable) -> dict[str, Any]:
    """The cost of a statement of a plan that is run, in every unit."""
    units = {source.name: cost.unit for source, cost in statement.costs}
    leaves: list[Draft] = []
    for source, cost in statement.costs:
        needs = needs_at(statement.mechanism, statement.params, statement.facts, units, source)
        leaves += declared(needs, cost)
    deltas = tuple(dict.fromkeys(c.delta for _, c in statement.costs if c.delta > 0))
    most = max((source.max_sites for source, _ in statement.costs), default=1)
    written = compose.view(leaves, deltas, most)
    if len(statement.costs) > 1:
        return written
    return _with_declared(written, statement.costs[0][1])


def cost_of_dataset(
    checked: CheckedPlan, dataset: BoundDataset, site: str | None = None
) -> dict[str, Any]:
    """What the statements cost the people of a dataset in every unit; at a site, what it pays."""
    prices = [
        price
        for price in checked.prices_of(dataset.name)
        if site is None or price.paid.source.site == site
    ]
    if not prices:
        zero = dict.fromkeys(("eps", "rho", "mu", "mu_squared", "mu_of_parts"), "0")
        return {**zero, "mu_by": "sum", "eps_delta": []}
    leaves = [leaf for price in prices for leaf in price.leaves]
    written = compose.view(leaves, deltas_of(prices, dataset.budget), dataset.facts.max_sites)
    return _as_charged(written, prices)


def risk_of(checked: CheckedPlan, dataset: BoundDataset) -> dict[str, Any] | None:
    """What an attacker who knows all other people can learn of one: bounds, as floats."""
    prices = checked.prices_of(dataset.name)
    if not prices:
        return None
    leaves = tuple(leaf for price in prices for leaf in price.leaves)
    return risk.view(leaves, dataset.facts.max_sites)


def _as_charged(view: dict[str, Any], prices: Iterable[Price]) -> dict[str, Any]:
    """The view with the mu that the whole is charged, where that is less than the sum."""
    charge = charge_of(prices, "mu")
    if charge is None or charge.by == "sum":
        return view
    mu, square = text(root_up(charge.amount)), text(charge.amount)
    return {**view, "mu": mu, "mu_squared": square, "mu_by": charge.by}


def _with_declared(view: dict[str, Any], cost: Cost) -> dict[str, Any]:
    """The view with the declared pair of an (eps, delta) cost among its pairs."""
    if cost.unit != "eps_delta":
        return view
    declared = {**cost_json(cost), "by": "declared"}
    others = [pair for pair in view["eps_delta"] if pair["delta"] != declared["delta"]]
    return {**view, "eps_delta": [*others, declared]}


def _dataset(dataset: BoundDataset, checked: CheckedPlan, remaining: Remaining) -> dict[str, Any]:
    facts = dataset.facts
    return {
        "name": facts.dataset,
        "population": facts.population,
        "key": dataset.key,
        "relation": "replace",
        "location": dataset.uri,
        "rows": facts.rows,
        "unit": {"column": facts.unit, "max": facts.max_rows},
        "budget": None if dataset.budget is None else cost_json(dataset.budget),
        "total": cost_of_dataset(checked, dataset),
        "remaining": remaining.get(dataset.key, {}).get("remaining"),
        "spent_by": [price.measurement.name for price in checked.prices_of(dataset.name)],
        "sites": [
            {
                "name": site.site,
                "rows": site.rows,
                "total": cost_of_dataset(checked, dataset, site.site),
                "remaining": remaining.get(f"{dataset.key}/{site.site}", {}).get("remaining"),
            }
            for site in dataset.sites
        ],
    }


def _keys(checked: CheckedPlan, remaining: Remaining) -> list[dict[str, Any]]:
    shown = []
    for key, members in checked.by_key().items():
        prices = [
            price
            for dataset, site in members
            for price in checked.prices_of(dataset.name)
            if site is None or price.paid.source.site == site
        ]
        leaves = [leaf for price in prices for leaf in price.leaves]
        most = max(dataset.facts.max_sites for dataset, _ in members)
        left = remaining.get(key, {})
        shown.append(
            {
                "key": key,
                "datasets": [dataset.name for dataset, _ in members],
                "unit": left.get("unit"),
                "total": _as_charged(compose.view(leaves, max_sites=most), prices)
                if leaves
                else None,
                "risk": risk.view(leaves, most) if len(members) > 1 and leaves else None,
                "remaining": left.get("remaining"),
            }
        )
    return shown


def _statement(
    one: PlannedMeasurement, body: Mapping[str, Any], planned: Planned
) -> dict[str, Any]:
    mechanism = one.bound.mechanism
    return {
        "name": one.name,
        "verb": mechanism.verb,
        "method": mechanism.method,
        "version": mechanism.version,
        "on": body["on"],
        "columns": body["columns"],
        "params": body["params"],
        "span": planned.source.json(one.bound.span),
        "cost": [
            {
                "dataset": price.paid.source.dataset,
                "site": price.paid.source.site,
                "declared": cost_json(price.cost),
                "auto": price.paid.cost is None,
                "total": cost_of_price(price),
            }
            for price in one.prices
        ],
        "leaves": body["leaves"],
        "forecast": dict(one.forecast),
        "releases": list(mechanism.releases),
        "assumptions": list(mechanism.assumptions(one.params, one.bound.facts)),
    }


def _expect(plan: Plan) -> list[dict[str, Any]]:
    by_name = {one.name: one for one in plan.measurements}
    return [
        {**written, "forecast": by_name[written["release"]].forecast.get(written["metric"])}
        for written in plan.body["expect"]
    ]
