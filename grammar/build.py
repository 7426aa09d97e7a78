"""The nodes of statements: one method for each alias of the grammar's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar import complaints, tree
from grammar.build_values import ValueBuilder, Values
from grammar.source import Span

__all__ = ["Builder"]


class Builder(ValueBuilder):
    """Makes the statements of a file."""

    def actions(self) -> dict[str, Callable[[Values, int, int], Any]]:
        """Every alias with its function."""
        return {name: getattr(self, name) for name in dir(self) if name in _ALIASES}

    # --- DATASET -------------------------------------------------------------------------------

    def dataset(self, values: Values, start: int, end: int) -> tree.Dataset:
        return tree.Dataset(values[1], tuple(values[2]), Span(start, end))

    def from_uri(self, values: Values, start: int, end: int) -> tree.From:
        return tree.From(values[1], Span(start, end))

    def rows(self, values: Values, start: int, end: int) -> tree.Rows:
        return tree.Rows(values[1], Span(start, end))

    def unit(self, values: Values, start: int, end: int) -> tree.Unit:
        return tree.Unit(values[1], values[3] if len(values) > 2 else None, Span(start, end))

    def population(self, values: Values, start: int, end: int) -> tree.Population:
        return tree.Population(values[1], Span(start, end))

    def neighbors(self, values: Values, start: int, end: int) -> tree.Neighbors:
        return tree.Neighbors(values[1], Span(start, end))

    def sites(self, values: Values, start: int, end: int) -> tree.Sites:
        maximum = values[5] if len(values) > 4 else None
        return tree.Sites(tuple(values[2]), maximum, Span(start, end))

    def site(self, values: Values, start: int, end: int) -> tree.Site:
        return tree.Site(values[0], values[2] if len(values) > 1 else None, Span(start, end))

    def declarations(self, values: Values, start: int, end: int) -> tree.ColumnDeclarations:
        return tree.ColumnDeclarations(tuple(values[2]), Span(start, end))

    def declaration(self, values: Values, start: int, end: int) -> tree.ColumnDeclaration:
        return self._declaration(values, None, Span(start, end))

    def category(self, values: Values, start: int, end: int) -> tree.ColumnDeclaration:
        return self._declaration(values, tuple(values[3]), Span(start, end))

    def _declaration(
        self, values: Values, levels: tuple[tree.Text, ...] | None, span: Span
    ) -> tree.ColumnDeclaration:
        details: dict[str, Any] = {}
        for word, value, place in values[-1]:
            if word in details:
                self.findings.append(complaints.given_twice(word, place))
            details[word] = value
        return tree.ColumnDeclaration(
            values[0],
            values[1],
            details.get("IN"),
            levels,
            details.get("HYPOTHESES"),
            details.get("SENSITIVITY"),
            details.get("ASSERTED_BY"),
            span,
        )

    def range(self, values: Values, start: int, end: int) -> tuple[str, Any, Span]:
        return "IN", (values[2], values[4]), Span(start, end)

    def detail(self, values: Values, start: int, end: int) -> tuple[str, Any, Span]:
        return values[0][0], values[1], Span(start, end)

    def center(self, values: Values, start: int, end: int) -> tree.Center:
        return tree.Center(values[1], Span(start, end))

    def norm(self, values: Values, start: int, end: int) -> tree.Norm:
        return tree.Norm(tuple(values[2]), values[5], Span(start, end))

    # --- POLICY --------------------------------------------------------------------------------

    def policy(self, values: Values, start: int, end: int) -> tree.Policy:
        return tree.Policy(values[1], tuple(values[2]), Span(start, end))

    def cap(self, values: Values, start: int, end: int) -> tree.Cap:
        scope = values[3]
        text = isinstance(scope, tree.Text)
        return tree.Cap(
            values[1],
            values[2],
            scope if text else None,
            None if text else scope,
            Span(start, end),
        )

    def allow(self, values: Values, start: int, end: int) -> tree.Allow:
        return tree.Allow(tuple(values[2]), Span(start, end))

    def allowance(self, values: Values, start: int, end: int) -> tuple[tree.Name, tree.Name | None]:
        return values[0], values[1] if len(values) > 1 else None

    def forbid(self, values: Values, start: int, end: int) -> tree.Forbid:
        return tree.Forbid(tuple(values[3]), Span(start, end))

    def require(self, values: Values, start: int, end: int) -> tree.Require:
        return tree.Require(values[1], values[4] if len(values) > 3 else None, Span(start, end))

    def verb(self, values: Values, start: int, end: int) -> tree.Name:
        # Of the token's kind: its text is the misspelt word where one was corrected.
        return tree.Name(values[0][0], False, Span(start, end))

    # --- measurements --------------------------------------------------------------------------

    def measurement(self, values: Values, start: int, end: int) -> tree.Measurement:
        return tree.Measurement(
            values[0].text,
            values[1],
            tuple(values[2]),
            values[4] if len(values) > 3 else None,
            Span(start, end),
        )

    def evalues(self, values: Values, start: int, end: int) -> tree.Evalues:
        return tree.Evalues(values[1], tuple(values[2]), Span(start, end))

    def on(self, values: Values, start: int, end: int) -> tree.On:
        return tree.On((values[1],), values[3] if len(values) > 2 else None, Span(start, end))

    def on_several(self, values: Values, start: int, end: int) -> tree.On:
        return tree.On(tuple(values[2]), None, Span(start, end))

    def option(self, values: Values, start: int, end: int) -> tree.Option:
        name = self.lower_word(values, values[0][2], values[0][3])
        versus = values[4] if len(values) > 3 else None
        return tree.Option(name, values[2], versus, Span(start, end))

    def flag(self, values: Values, start: int, end: int) -> tree.Flag:
        span = Span(start, end)
        return tree.Flag(tree.Name(values[0][1].upper(), False, span), span)

    def columns(self, values: Values, start: int, end: int) -> tree.Columns:
        return tree.Columns(tuple(values[2]), Span(start, end))

    def formula(self, values: Values, start: int, end: int) -> tree.Formula:
        return tree.Formula(values[0], values[2], Span(start, end))

    def by(self, values: Values, start: int, end: int) -> tree.By:
        return tree.By(values[1], Span(start, end))

    # --- statements that cost nothing ----------------------------------------------------------

    def let(self, values: Values, start: int, end: int) -> tree.Let:
        return tree.Let(values[1], values[3], Span(start, end))

    def study(self, values: Values, start: int, end: int) -> tree.Study:
        return tree.Study(tuple(values[1]), Span(start, end))

    def entry(self, values: Values, start: int, end: int) -> tuple[tree.Name, tree.Text]:
        return values[0], values[2]

    def derive(self, values: Values, start: int, end: int) -> tree.Derive:
        given = values[5]
        return tree.Derive(
            values[1],
            values[3],
            tuple(value for value in given if not isinstance(value, tree.Option)),
            tuple(value for value in given if isinstance(value, tree.Option)),
            Span(start, end),
        )

    def expect(self, values: Values, start: int, end: int) -> tree.Expect:
        return tree.Expect(values[1], values[3], values[4][1], values[5], Span(start, end))


_ALIASES = frozenset(
    name
    for owner in (ValueBuilder, Builder)
    for name in vars(owner)
    if not name.startswith("_") and name != "actions"
)
