"""Statements that cost nothing: STUDY, DERIVE, EXPECT."""

from __future__ import annotations

from collections.abc import Mapping

from grammar import tree
from planner.bind.options import params_of
from planner.bind.scope import Scope
from planner.bound import BoundDerive, BoundExpect, BoundMeasurement
from planner.findings import choices
from planner.mechanism import Catalogue
from planner.values import rational

__all__ = ["bind_derive", "bind_expect", "bind_study"]


def bind_study(statement: tree.Study, scope: Scope, so_far: dict[str, str]) -> None:
    """Add the entries to `so_far`; a key given twice is an error."""
    for key, text in statement.entries:
        name = key.text.casefold()
        if name in so_far:
            scope.findings.error("DPQL-E028", f"STUDY says `{key.text}` twice", key.span)
        so_far[name] = text.value


def bind_derive(
    statement: tree.Derive,
    catalogue: Catalogue,
    releases: Mapping[str, BoundMeasurement],
    scope: Scope,
) -> BoundDerive | None:
    """The derivation, or None with its mistakes written down."""
    fresh = scope.define(statement.name, "derived name")
    scope.broken.add(statement.name.text)
    word = statement.function.text.casefold()
    function = catalogue.derivation(word)
    if function is None:
        scope.findings.error(
            "DPQL-E040",
            f"DERIVE has no function `{statement.function.text}` yet",
            statement.function.span,
            help=choices(word, catalogue.derivations(), "functions"),
        )
        return None
    title = f"{function.name}(...)"
    if len(statement.arguments) != 1:
        scope.findings.error(
            "DPQL-E049", f"`{title}` takes one release", statement.span, help="name it first"
        )
        return None
    argument = statement.arguments[0]
    if not isinstance(argument, tree.Name):
        scope.findings.error("DPQL-E049", "the name of a release is needed here", argument.span)
        return None
    params, places = params_of(function.params, statement.options, title, statement.span, scope)
    release = releases.get(argument.text)
    if release is None:
        if argument.text not in scope.broken:
            scope.findings.error(
                "DPQL-E049",
                f"there is no release `{argument.text}` above",
                argument.span,
                help=choices(argument.text, releases, "releases"),
            )
        return None
    kind = f"{release.mechanism.verb} {release.mechanism.method}"
    if kind not in function.accepts:
        scope.findings.error(
            "DPQL-E049",
            f"`{title}` cannot be taken of `{argument.text}`, a {kind}",
            argument.span,
            help="it takes " + ", ".join(function.accepts),
        )
        return None
    if params is None or not fresh:
        return None
    if function.check is not None:
        complaints = function.check(params, release.facts)
        for one in complaints:
            place = places.get(one.option, statement.span)
            scope.findings.error(one.code, one.message, place, note=one.note, help=one.help)
        if complaints:
            return None
    scope.broken.discard(statement.name.text)
    return BoundDerive(statement.name.text, function, argument.text, params, statement.span)


def bind_expect(
    statement: tree.Expect, releases: Mapping[str, BoundMeasurement], scope: Scope
) -> BoundExpect | None:
    """The expectation, or None with its mistakes written down."""
    value = rational(statement.value, scope.values)
    release = releases.get(statement.release.text)
    if release is None:
        if statement.release.text not in scope.broken:
            scope.findings.error(
                "DPQL-E049",
                f"there is no release `{statement.release.text}` above",
                statement.release.span,
                help=choices(statement.release.text, releases, "releases"),
            )
        return None
    if statement.comparison != ">=":
        scope.findings.error(
            "DPQL-E066",
            f"EXPECT compares with `>=`, not `{statement.comparison}`",
            statement.span,
            note="every metric is one of which more is better",
        )
        return None
    metric = statement.metric.text.casefold()
    title = f"{release.mechanism.verb} {release.mechanism.method}"
    if metric not in release.mechanism.metrics:
        scope.findings.error(
            "DPQL-E066",
            f"`{title}` forecasts no `{statement.metric.text}`",
            statement.metric.span,
            help=choices(metric, release.mechanism.metrics, "its metrics")
            or "it has no metric that EXPECT may name",
        )
        return None
    return BoundExpect(statement.release.text, metric, value, statement.span)
