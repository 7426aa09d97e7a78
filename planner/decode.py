"""A plan's body, back to what can be run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from grammar.exchange import SCHEMA
from planner.bind.shapes import Shape, shapes_of
from planner.calculus.cost import Cost
from planner.calculus.exact import number
from planner.calculus.leaves import Leaf, Loss
from planner.encode import LANGUAGE, plan_hash
from planner.facts import Column, Facts, Norm, SourceFacts
from planner.mechanism import Catalogue, Derivation, Mechanism, Params, Query, Versus

__all__ = ["Executable", "PlanError", "RunnableDerive", "RunnablePlan", "decode"]


class PlanError(ValueError):
    """A body that is not a plan of this version; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Executable:
    """One measurement as the executor needs it: no price can be changed any more."""

    name: str
    mechanism: Mechanism
    params: Params
    facts: Facts
    loss: Loss
    costs: tuple[tuple[SourceFacts, Cost], ...]

    def query_at(self, source: SourceFacts) -> Query:
        """What is read at one of its sources."""
        return self.mechanism.query(self.params, replace(self.facts, sources=(source,)))


@dataclass(frozen=True, slots=True)
class RunnableDerive:
    """One derivation of a release of the same plan."""

    name: str
    function: Derivation
    release: str
    params: Params


@dataclass(frozen=True, slots=True)
class RunnablePlan:
    """A plan as it is run: rebuilt from its body alone."""

    body: Mapping[str, Any]
    hash: str
    datasets: tuple[SourceFacts, ...]
    statements: tuple[Executable, ...]
    derived: tuple[RunnableDerive, ...]

    @property
    def sources(self) -> tuple[SourceFacts, ...]:
        """The datasets and sites that are read, each once, in file order."""
        used = (source for statement in self.statements for source in statement.facts.sources)
        return tuple(dict.fromkeys(used))

    def dataset(self, name: str) -> SourceFacts:
        """The dataset of that name."""
        return next(dataset for dataset in self.datasets if dataset.dataset == name)


def decode(body: Mapping[str, Any], catalogue: Catalogue) -> RunnablePlan:
    """Rebuild a plan from its body. Raises PlanError for anything that is not one."""
    try:
        return _decode(body, catalogue)
    except PlanError:
        raise
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False)[0]
        raise PlanError(f"a parameter is wrong: {first['msg']}") from failure
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration, IndexError) as failure:
        raise PlanError("the plan's body is not well formed") from failure


def _decode(body: Mapping[str, Any], catalogue: Catalogue) -> RunnablePlan:
    if body.get("schema") != SCHEMA or body.get("language") != LANGUAGE:
        raise PlanError(f"this is no plan of schema {SCHEMA}, language {LANGUAGE}")
    datasets = tuple(_dataset(one) for one in body["datasets"])
    by_name = {facts.dataset: facts for facts in datasets}
    statements = tuple(_statement(one, by_name, catalogue) for one in body["statements"])
    derived = tuple(_derived(one, catalogue) for one in body["derived"])
    plan = RunnablePlan(body, plan_hash(body), datasets, statements, derived)
    _require_whole(plan)
    return plan


def _require_whole(plan: RunnablePlan) -> None:
    """Every name stands once, and whatever refers to one finds it. Raises PlanError.

    A run derives and stores by name after it has charged: nothing may be missing by then.
    """
    for names in (
        [facts.dataset for facts in plan.datasets],
        *([column.name for column in facts.columns] for facts in plan.datasets),
        [*(one.name for one in plan.statements), *(one.name for one in plan.derived)],
    ):
        if "" in names or len(set(names)) < len(names):
            raise PlanError("a name of the plan is empty or stands twice")
    made = {one.name: one.mechanism for one in plan.statements}
    for derived in plan.derived:
        source = made.get(derived.release)
        if source is None or f"{source.verb} {source.method}" not in derived.function.accepts:
            raise PlanError(f"`{derived.name}` is derived from no release of the plan that fits")
    for expect in plan.body["expect"]:
        goal = made.get(expect["release"])
        if goal is None or expect["metric"] not in goal.metrics:
            raise PlanError("the plan expects a figure that none of its releases forecasts")
        number(expect["at_least"])
    for facts in plan.datasets:
        _require_dataset(facts)
    for dataset in plan.body["datasets"]:
        if dataset["budget"] is not None and cost_of(dataset["budget"]).amount <= 0:
            raise PlanError(f"the budget of `{dataset['name']}` is not positive")
    for statement in plan.statements:
        if tuple(source for source, _ in statement.costs) != statement.facts.sources:
            raise PlanError(f"`{statement.name}` does not pay for just what it reads")
        if any(cost.amount <= 0 for _, cost in statement.costs):
            raise PlanError(f"the cost of `{statement.name}` is not positive")


def _require_dataset(facts: SourceFacts) -> None:
    for column in facts.columns:
        if column.lo is not None and column.hi is not None and column.lo >= column.hi:
            raise PlanError(f"the range of `{column.name}` is empty")
    norm = facts.norm
    if norm is not None and (
        len(norm.center) != len(norm.columns) or None in map(facts.column, norm.columns)
    ):
        raise PlanError(f"the NORM of `{facts.dataset}` does not fit its columns")
    sites = dict(facts.sites)
    if sites and (len(sites) < len(facts.sites) or sum(sites.values()) != facts.rows):
        raise PlanError(f"the sites of `{facts.dataset}` do not add up to its rows")


def _dataset(one: Mapping[str, Any]) -> SourceFacts:
    norm = one["norm"]
    sites = one["sites"]
    return SourceFacts(
        dataset=one["name"],
        rows=one["rows"],
        columns=tuple(_column(column) for column in one["columns"]),
        population=one["population"],
        unit=one["unit"]["column"],
        max_rows=one["unit"]["max"],
        sites=() if sites is None else tuple((s["name"], s["rows"]) for s in sites["members"]),
        max_sites=1 if sites is None else sites["max"],
        norm=None
        if norm is None
        else Norm(
            tuple(norm["columns"]),
            number(norm["bound"]),
            tuple(number(part) for part in norm["center"]),
        ),
    )


def _column(one: Mapping[str, Any]) -> Column:
    return Column(
        name=one["name"],
        type=one["type"],
        lo=None if one["lo"] is None else number(one["lo"]),
        hi=None if one["hi"] is None else number(one["hi"]),
        levels=tuple(one["levels"]),
        sensitivity=None if one["sensitivity"] is None else number(one["sensitivity"]),
        asserted_by=one["asserted_by"] or "",
        pattern=one["pattern"],
        hypotheses=one["hypotheses"],
    )


def _statement(
    one: Mapping[str, Any], datasets: Mapping[str, SourceFacts], catalogue: Catalogue
) -> Executable:
    mechanism = catalogue.find(one["verb"], one["method"])
    if mechanism is None:
        raise PlanError(f"this installation has no {one['verb']} {one['method']}")
    if mechanism.version != one["version"]:
        raise PlanError(
            f"the plan uses version {one['version']} of {one['verb']} {one['method']}, "
            f"this installation has version {mechanism.version}"
        )
    sources = tuple(datasets[on["dataset"]].at(on["site"]) for on in one["on"])
    columns = []
    for name in one["columns"]:
        column = sources[0].column(name)
        if column is None:
            raise PlanError(f"a statement names the undeclared column `{name}`")
        columns.append(column)
    costs = tuple(
        (datasets[paid["dataset"]].at(paid["site"]), cost_of(paid["declared"]))
        for paid in one["cost"]
    )
    return Executable(
        one["name"],
        mechanism,
        params_of(mechanism.params, one["params"]),
        Facts(sources, tuple(columns)),
        Loss(tuple(Leaf.from_json(leaf) for leaf in one["leaves"])),
        costs,
    )


def _derived(one: Mapping[str, Any], catalogue: Catalogue) -> RunnableDerive:
    function = catalogue.derivation(one["function"])
    if function is None:
        raise PlanError(f"this installation has no function `{one['function']}`")
    params = params_of(function.params, one["params"])
    return RunnableDerive(one["name"], function, one["of"], params)


def cost_of(written: Mapping[str, Any]) -> Cost:
    """The cost that `cost_json` wrote, or what a cost of `auto` became."""
    if set(written) == {"auto"}:
        written = written["auto"]
    if "eps" in written:
        if "delta" in written:
            return Cost("eps_delta", number(written["eps"]), number(written["delta"]))
        return Cost("eps", number(written["eps"]))
    if "rho" in written:
        return Cost("rho", number(written["rho"]))
    square = written.get("mu_squared")
    return Cost("mu", number(written["mu"]), square=None if square is None else number(square))


def params_of(model: type[Params], written: Mapping[str, Any]) -> Params:
    """The parameters that `params_json` wrote, every `auto` replaced by what it became.

    Raises PlanError for a name that is no option.
    """
    shapes = shapes_of(model)
    values: dict[str, Any] = {}
    for name, value in written.items():
        if name not in shapes:
            raise PlanError(f"there is no option `{name}`")
        if isinstance(value, dict) and set(value) == {"auto"}:
            value = value["auto"]
        values[name] = _value(shapes[name], value)
    return model(**values)


def _value(shape: Shape, value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        if shape.versus is None:
            raise PlanError("a parameter has two sides that takes one")
        return Versus[Any](
            left=_value(shape.versus, value["left"]), right=_value(shape.versus, value["right"])
        )
    if isinstance(value, list):
        if shape.item is None:
            raise PlanError("a parameter is a list that takes one value")
        return tuple(_value(shape.item, part) for part in value)
    if not isinstance(value, str):
        raise PlanError("a parameter is written in an unknown way")
    if value in shape.words or shape.column or shape.table:
        return value
    if shape.number or shape.integer:
        exact: Fraction = number(value)
        return exact if shape.number else int(exact)
    return value
