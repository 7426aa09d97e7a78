"""Measurements, to typed parameters over declared sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grammar import tree
from planner.bind.options import params_of
from planner.bind.paid import paid_of
from planner.bind.scope import Scope
from planner.bind.shapes import tables_named
from planner.bind.sources import AlreadySaid, sources_of
from planner.bound import BoundMeasurement
from planner.facts import Column, Facts, SourceFacts
from planner.findings import Mistake, choices
from planner.mechanism import Catalogue, Complaint, Mechanism

__all__ = ["Counter", "bind_measurement"]

_WORDS = {tree.On: "ON", tree.Columns: "COLUMNS", tree.Formula: "the formula", tree.By: "BY"}


@dataclass(slots=True)
class Counter:
    """How many statements each method has had; unnamed ones are called `method_k`."""

    seen: dict[str, int] = field(default_factory=dict)

    def next(self, method: str) -> str:
        """The name of an unnamed statement of this method."""
        self.seen[method] = self.seen.get(method, 0) + 1
        return f"{method}_{self.seen[method]}"


def bind_measurement(
    statement: tree.Measurement, catalogue: Catalogue, scope: Scope, counter: Counter
) -> BoundMeasurement | None:
    """The measurement, or None with its mistakes written down."""
    method = statement.method.text.casefold()
    mechanism = catalogue.find(statement.verb, method)
    automatic = counter.next(method)
    name = automatic if statement.name is None else statement.name.text
    place = statement.method.span if statement.name is None else statement.name.span
    fresh = scope.define_text(name, place, "release")
    if mechanism is None:
        known = catalogue.methods(statement.verb)
        scope.findings.error(
            "DPQL-E040",
            f"{statement.verb} has no method `{statement.method.text}` yet",
            statement.method.span,
            help=choices(method, known, f"methods of {statement.verb}")
            or f"this version has no method of {statement.verb}",
        )
        scope.broken.add(name)
        return None
    before = len(scope.findings.items)
    try:
        bound = _bind(statement, mechanism, name, scope)
    except AlreadySaid:
        bound = None
    except Mistake as mistake:
        scope.findings.add(mistake, statement.span)
        bound = None
    failed = any(item.severity == "error" for item in scope.findings.items[before:])
    if bound is None or failed or not fresh:
        scope.broken.add(name)
        return None
    return bound


def _bind(
    statement: tree.Measurement, mechanism: Mechanism, name: str, scope: Scope
) -> BoundMeasurement | None:
    title = f"{mechanism.verb} {mechanism.method}"
    single = scope.once(statement.items, _WORDS, "DPQL-E041")
    params, places = params_of(
        mechanism.params,
        [item for item in statement.items if isinstance(item, tree.Option | tree.Flag)],
        title,
        statement.method.span,
        scope,
    )
    _no_formula(mechanism, single, title, scope)
    on = single.get(tree.On)
    sources: tuple[SourceFacts, ...] | None = None
    try:
        sources = sources_of(
            mechanism, on if isinstance(on, tree.On) else None, title, statement, scope
        )
    except AlreadySaid:
        pass
    except Mistake as mistake:
        scope.findings.add(mistake, statement.span)
    paid = paid_of(statement, mechanism, sources, title, scope)
    if sources is None:
        return None
    listed = single.get(tree.Columns)
    if isinstance(listed, tree.Columns):
        places["columns"] = listed.span
    columns = _columns(
        mechanism, sources[0], listed if isinstance(listed, tree.Columns) else None, title, scope
    )
    if params is None or paid is None or columns is None:
        return None
    places["cost"] = paid[0].span
    places["on"] = on.span if on is not None else statement.method.span
    named = tables_named(params).values()
    tables = tuple(table for table in scope.tables if table.name in named)
    facts = Facts(sources, columns, tables)
    bound = BoundMeasurement(name, mechanism, params, facts, paid, statement.span, places)
    _listen(bound, title, statement, scope)
    return bound


def _no_formula(
    mechanism: Mechanism, single: Mapping[type, tree.Item], title: str, scope: Scope
) -> None:
    if mechanism.takes_formula:
        return
    for kind, word in ((tree.Formula, "a model formula"), (tree.By, "BY")):
        if kind in single:
            scope.findings.error(
                "DPQL-E042",
                f"`{title}` does not take {word}",
                single[kind].span,
                help="leave it out",
            )


def _columns(
    mechanism: Mechanism,
    source: SourceFacts,
    listed: tree.Columns | None,
    title: str,
    scope: Scope,
) -> tuple[Column, ...] | None:
    if not mechanism.takes_columns:
        if listed is not None:
            raise Mistake("DPQL-E042", f"`{title}` does not take COLUMNS", listed.span)
        return ()
    if listed is None:
        return tuple(
            column
            for column in source.columns
            if column.type in ("real", "integer", "boolean")
            and column.bounds is not None
            and not column.pattern
        )
    known = {column.name: column for column in source.columns}
    chosen: dict[str, Column] = {}
    failed = False
    for name in listed.columns:
        column = known.get(name.text)
        problem, note, help = "", "", ""
        if column is None:
            problem = f"`{source.name}` declares no column `{name.text}`"
            help = choices(name.text, known, "columns")
        elif name.text in chosen:
            problem = f"column `{name.text}` is listed twice"
        elif column.type not in ("real", "integer", "boolean", "category", "genotype"):
            problem = f"`{name.text}` is the {column.type.upper()} of `{source.name}`"
            note = "a column with a role of its own cannot be listed under COLUMNS"
        elif column.is_numeric and column.bounds is None:
            problem = f"column `{name.text}` has no bounds"
            note = "without finite bounds one person could move a statistic by any amount"
            help = f"declare it as `{name.text} {column.type.upper()} IN [lo, hi]`"
        if problem:
            code = "DPQL-E048" if column is not None else "DPQL-E034"
            scope.findings.error(code, problem, name.span, note=note, help=help)
            failed = True
        elif column is not None:
            chosen[name.text] = column
    return None if failed else tuple(chosen.values())


def _listen(bound: BoundMeasurement, title: str, statement: tree.Measurement, scope: Scope) -> None:
    for complaint in bound.mechanism.check(bound.params, bound.facts, bound.units):
        _say(complaint, bound, scope)


def _say(complaint: Complaint, bound: BoundMeasurement, scope: Scope) -> None:
    place = bound.place(complaint.option) if complaint.option else bound.span
    if complaint.is_warning:
        scope.findings.warn(
            complaint.code, complaint.message, place, complaint.note, complaint.help
        )
    else:
        scope.findings.error(
            complaint.code, complaint.message, place, note=complaint.note, help=complaint.help
        )
