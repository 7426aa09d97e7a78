"""The plan's body: exactly what its hash covers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

import rfc8785

from grammar.exchange import SCHEMA
from planner.bound import BoundDataset, BoundDerive, BoundExpect, BoundPlan
from planner.calculus.cost import Cost
from planner.calculus.exact import text
from planner.checked import Price
from planner.facts import Column, SourceFacts
from planner.mechanism import Params, Versus
from planner.planned import PlannedMeasurement

__all__ = ["LANGUAGE", "body_of", "canonical", "cost_json", "plan_hash"]

LANGUAGE = "1"


def body_of(bound: BoundPlan, planned: tuple[PlannedMeasurement, ...]) -> dict[str, Any]:
    """The body as plain JSON; exact numbers are strings, counts are integers."""
    return {
        "schema": SCHEMA,
        "language": LANGUAGE,
        "datasets": [_dataset(dataset) for dataset in bound.datasets],
        "evalues": [],
        "statements": [_statement(measurement) for measurement in planned],
        "derived": [_derived(derived) for derived in bound.derived],
        "expect": [_expect(expect) for expect in bound.expects],
        "study": dict(bound.study),
    }


def canonical(body: Mapping[str, Any]) -> bytes:
    """The RFC 8785 bytes of a body."""
    return rfc8785.dumps(dict(body))


def plan_hash(body: Mapping[str, Any]) -> str:
    """sha256 over the canonical bytes, in hexadecimal."""
    return sha256(canonical(body)).hexdigest()


def cost_json(cost: Cost) -> dict[str, str]:
    """A declared cost as `{"eps"}`, `{"eps","delta"}`, `{"rho"}` or `{"mu"}`.

    A share of a mu budget adds `mu_squared`, which is exact where mu is not.
    """
    if cost.unit == "eps_delta":
        return {"eps": text(cost.amount), "delta": text(cost.delta)}
    written: dict[str, str] = {cost.unit: text(cost.amount)}
    if cost.square is not None:
        written["mu_squared"] = text(cost.square)
    return written


def value_json(value: Any) -> Any:
    """A parameter as JSON: exact numbers and whole numbers are strings.

    Raises TypeError for a value that no option can have.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Fraction):
        return text(Fraction(value))
    if isinstance(value, Versus):
        return {"left": value_json(value.left), "right": value_json(value.right)}
    if isinstance(value, tuple):
        return [value_json(part) for part in value]
    raise TypeError(f"a parameter cannot be a {type(value).__name__}")


def params_json(params: Params, autos: frozenset[str]) -> dict[str, Any]:
    """Every parameter with its default written out; `{"auto": value}` where it said `auto`."""
    written = {}
    for name in sorted(type(params).model_fields):
        value = value_json(getattr(params, name))
        written[name] = {"auto": value} if name in autos else value
    return written


def _dataset(dataset: BoundDataset) -> dict[str, Any]:
    facts = dataset.facts
    return {
        "name": facts.dataset,
        "population": facts.population,
        "relation": "replace",
        "rows": facts.rows,
        "unit": {"column": facts.unit, "max": facts.max_rows},
        "sites": _sites(facts),
        "columns": [_column(column) for column in facts.columns],
        "norm": None
        if facts.norm is None
        else {
            "columns": list(facts.norm.columns),
            "bound": text(facts.norm.bound),
            "center": [text(number) for number in facts.norm.center],
        },
        "budget": None if dataset.budget is None else cost_json(dataset.budget),
    }


def _sites(facts: SourceFacts) -> dict[str, Any] | None:
    if not facts.sites:
        return None
    return {
        "max": facts.max_sites,
        "members": [{"name": name, "rows": rows} for name, rows in facts.sites],
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "lo": None if column.lo is None else text(column.lo),
        "hi": None if column.hi is None else text(column.hi),
        "levels": list(column.levels),
        "sensitivity": None if column.sensitivity is None else text(column.sensitivity),
        "asserted_by": column.asserted_by or None,
        "pattern": column.pattern,
        "hypotheses": column.hypotheses,
    }


def _statement(planned: PlannedMeasurement) -> dict[str, Any]:
    bound = planned.bound
    return {
        "name": bound.name,
        "verb": bound.mechanism.verb,
        "method": bound.mechanism.method,
        "version": bound.mechanism.version,
        "on": [{"dataset": s.dataset, "site": s.site} for s in bound.facts.sources],
        "columns": [column.name for column in bound.facts.columns],
        "formula": None,
        "by": None,
        "params": params_json(planned.params, bound.autos),
        "cost": [
            {
                "dataset": price.paid.source.dataset,
                "site": price.paid.source.site,
                "declared": _declared(price),
            }
            for price in planned.prices
        ],
        "leaves": [leaf.json() for leaf in planned.loss.leaves],
    }


def _declared(price: Price) -> dict[str, Any]:
    """The cost at one source; `{"auto": cost}` where it said `auto`."""
    written = cost_json(price.cost)
    return {"auto": written} if price.paid.cost is None else written


def _derived(derived: BoundDerive) -> dict[str, Any]:
    return {
        "name": derived.name,
        "function": derived.function.name,
        "of": derived.release,
        "params": params_json(derived.params, frozenset()),
    }


def _expect(expect: BoundExpect) -> dict[str, Any]:
    return {
        "release": expect.release,
        "metric": expect.metric,
        "at_least": text(expect.at_least),
    }
