"""Options and flags of a measurement, to its mechanism's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from grammar import tree
from grammar.diagnostics import Label
from grammar.source import Span
from planner.bind.scope import Scope
from planner.bind.shapes import Shape, shapes_of
from planner.calculus.exact import text
from planner.findings import Mistake, choices
from planner.mechanism import Params, Versus
from planner.values import Value, Word, describe, evaluate

__all__ = ["params_of"]

_LIMITS = frozenset(["greater_than", "greater_than_equal", "less_than", "less_than_equal"])
_EITHER = Versus[Any]  # made once: a generic model is costly to name


def params_of(
    model: type[Params],
    items: Sequence[tree.Option | tree.Flag],
    title: str,
    place: Span,
    scope: Scope,
) -> tuple[Params | None, dict[str, Span]]:
    """The parameters and where each is written; None if one of them is wrong.

    Mistakes are written down at their own places; `title` names the method in them.
    """
    shapes = shapes_of(model)
    values: dict[str, Any] = {}
    places: dict[str, Span] = {}
    failed = False
    for item in items:
        name = item.name.text.casefold()
        if name in places:
            scope.findings.error(
                "DPQL-E041",
                f"`{item.name.text}` is given twice",
                item.span,
                labels=[Label(places[name], "first here")],
            )
            failed = True
            continue
        places[name] = item.span
        shape = shapes.get(name)
        if shape is None:
            scope.findings.error(
                "DPQL-E042",
                f"`{title}` has no {'option' if isinstance(item, tree.Option) else 'flag'} "
                f"`{item.name.text}`",
                item.name.span,
                help=choices(name, shapes, "it has") or "it takes no options",
            )
            failed = True
            continue
        try:
            values[name] = _value(name, item, shape, scope)
        except Mistake as mistake:
            scope.findings.add(mistake, item.span)
            failed = True
    if failed:
        return None, places
    return _model(model, values, places, title, place, scope), places


def _value(name: str, item: tree.Option | tree.Flag, shape: Shape, scope: Scope) -> Any:
    if isinstance(item, tree.Flag):
        if not shape.truth:
            raise Mistake(
                "DPQL-E043", f"`{item.name.text}` needs a value", help=f"write `{name}=...`"
            )
        return True
    if shape.versus is not None:
        if item.versus is None:
            raise Mistake("DPQL-E043", f"`{name}` needs two sides", help=f"write `{name}=a VS b`")
        return _EITHER(
            left=shape.versus.take(name, _read(name, item.value, shape.versus, scope)),
            right=shape.versus.take(name, _read(name, item.versus, shape.versus, scope)),
        )
    if item.versus is not None:
        raise Mistake(
            "DPQL-E043", f"`{name}` takes one value, not two", item.versus.span, help="drop VS"
        )
    return shape.take(name, _read(name, item.value, shape, scope))


def _read(name: str, node: tree.Expression, shape: Shape, scope: Scope) -> Value:
    if isinstance(node, tree.Name) and not node.quoted and shape.knows(node.text):
        if node.text in scope.values:
            raise Mistake(
                "DPQL-E044",
                f"`{node.text}` is both a LET and a word that `{name}` knows",
                node.span,
                help="give the LET another name",
            )
        return Word(node.text)
    if shape.column or shape.table or (shape.item is not None and shape.item.column):
        return _names(node)
    value = evaluate(node, scope.values, free=True)
    if isinstance(node, tree.Group) and len(node.items) == 1 and shape.item is not None:
        return (value,)
    return value


def _names(node: tree.Expression) -> Value:
    if isinstance(node, tree.Name):
        return Word(node.text, node.quoted)
    if isinstance(node, tree.Group | tree.Items):
        return tuple(_names(item) for item in node.items)
    raise Mistake("DPQL-E043", "the name of a column is needed here", node.span)


def _model(
    model: type[Params],
    values: dict[str, Any],
    places: dict[str, Span],
    title: str,
    place: Span,
    scope: Scope,
) -> Params | None:
    try:
        return model(**values)
    except ValidationError as failure:
        for error in _told(failure):
            name = str(error["loc"][0]) if error["loc"] else ""
            if error["type"] == "missing":
                scope.findings.error(
                    "DPQL-E045",
                    f"`{title}` needs the option `{name}`",
                    place,
                    note=model.model_fields[name].description or "",
                    help=f"add `{name}=...`",
                )
                continue
            said = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
            if error["type"] in _LIMITS:
                said = f"takes {shapes_of(model)[name].says()}, not {_written(values[name])}"
            scope.findings.error(
                "DPQL-E043",
                f"`{name}` {said}" if name and not said.startswith("`") else said,
                places.get(name, place),
                note=model.model_fields[name].description or "" if name else "",
            )
        return None


def _written(value: Any) -> str:
    return text(Fraction(value)) if isinstance(value, Fraction | int) else describe(value)


def _told(failure: ValidationError) -> list[Any]:
    """The errors; of an option that also takes a word, not that its number is not that word."""
    found = failure.errors(include_url=False, include_input=False)
    told = {error["loc"][:1] for error in found if error["type"] != "literal_error"}
    return [e for e in found if e["type"] != "literal_error" or e["loc"][:1] not in told]
