"""The nodes that the grammar's rules make; each method is named as the rules' aliases are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from grammar import complaints, numbers, tree
from grammar.diagnostics import Diagnostic
from grammar.scan import Token
from grammar.source import Span

__all__ = ["Builder"]

Values = list[Any]


class Builder:
    """Makes nodes out of tokens; `findings` collects what is wrong inside a statement that parses.

    Words of the language come out in the form that `fmt` writes: methods, options and functions in
    lower case, types and flags in upper case. Names come out as given.
    """

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self._numbers: dict[str, Fraction] = {}

    def actions(self) -> dict[str, Callable[[Values, int, int], Any]]:
        """Every alias with its function."""
        return {name: getattr(self, name) for name in dir(self) if name in _ALIASES}

    # --- lists and choices ---------------------------------------------------------------------

    def empty(self, values: Values, start: int, end: int) -> list[Any]:
        return []

    def nothing(self, values: Values, start: int, end: int) -> None:
        return None

    def append(self, values: Values, start: int, end: int) -> list[Any]:
        values[0].append(values[1])
        return values[0]  # type: ignore[no-any-return]

    def first(self, values: Values, start: int, end: int) -> list[Any]:
        return values

    def next(self, values: Values, start: int, end: int) -> list[Any]:
        values[0].append(values[2])
        return values[0]  # type: ignore[no-any-return]

    def second(self, values: Values, start: int, end: int) -> Any:
        return values[1]

    def third(self, values: Values, start: int, end: int) -> Any:
        return values[2]

    def fourth(self, values: Values, start: int, end: int) -> Any:
        return tuple(values[3])

    # --- names ---------------------------------------------------------------------------------

    def word(self, values: Values, start: int, end: int) -> tree.Name:
        return tree.Name(values[0][1], False, Span(start, end))

    def lower_word(self, values: Values, start: int, end: int) -> tree.Name:
        return tree.Name(values[0][1].lower(), False, Span(start, end))

    def upper_word(self, values: Values, start: int, end: int) -> tree.Name:
        return tree.Name(values[0][1].upper(), False, Span(start, end))

    def quoted(self, values: Values, start: int, end: int) -> tree.Name:
        return tree.Name(values[0][1][1:-1].replace('""', '"'), True, Span(start, end))

    def symbol(self, values: Values, start: int, end: int) -> Token:
        return values[0]  # type: ignore[no-any-return]

    def member(self, values: Values, start: int, end: int) -> tree.Member:
        return tree.Member(values[0], values[2], Span(start, end))

    # --- values --------------------------------------------------------------------------------

    def number(self, values: Values, start: int, end: int) -> tree.Number:
        text = values[0][1]
        value = self._numbers.get(text)
        if value is None:
            try:
                value = numbers.value(text)
            except numbers.TooLong as reason:
                span = Span(start, end)
                self.findings.append(complaints.long_number(text, str(reason), span))
                return tree.Number(text, Fraction(0), span)
            self._numbers[text] = value
        return tree.Number(text, value, Span(start, end))

    def text(self, values: Values, start: int, end: int) -> tree.Text:
        return tree.Text(values[0][1][1:-1].replace("''", "'"), Span(start, end))

    def value_word(self, values: Values, start: int, end: int) -> tree.Expression:
        text = values[0][1]
        folded = text.lower()
        if folded == "true" or folded == "false":
            return tree.Truth(folded == "true", Span(start, end))
        return tree.Name(text, False, Span(start, end))

    def auto(self, values: Values, start: int, end: int) -> tree.Auto:
        return tree.Auto(Span(start, end))

    def call(self, values: Values, start: int, end: int) -> tree.Call:
        function = self.lower_word(values, values[0][2], values[0][3])
        return tree.Call(function, tuple(values[2]), Span(start, end))

    def formula_call(self, values: Values, start: int, end: int) -> tree.Call:
        function = self.word(values, values[0][2], values[0][3])
        return tree.Call(function, tuple(values[2]), Span(start, end))

    def group(self, values: Values, start: int, end: int) -> tree.Group:
        return tree.Group(tuple(values[1]), Span(start, end))

    def parenthesis(self, values: Values, start: int, end: int) -> tree.Group:
        return tree.Group((values[1],), Span(start, end))

    def items(self, values: Values, start: int, end: int) -> tree.Items:
        return tree.Items(tuple(values[1]), Span(start, end))

    def no_items(self, values: Values, start: int, end: int) -> tree.Items:
        return tree.Items((), Span(start, end))

    def operation(self, values: Values, start: int, end: int) -> tree.Operation:
        return tree.Operation(values[1][1], values[0], values[2], Span(start, end))

    def sign(self, values: Values, start: int, end: int) -> tree.Sign:
        return tree.Sign(values[0][1], values[1], Span(start, end))

    # --- costs ---------------------------------------------------------------------------------

    def cost_term(self, values: Values, start: int, end: int) -> tree.CostTerm:
        return tree.CostTerm(values[0][1].lower(), values[2], Span(start, end))

    def amount(self, values: Values, start: int, end: int) -> tree.Amount:
        return tree.Amount(tuple(values), span=Span(start, end))

    def share(self, values: Values, start: int, end: int) -> tree.Amount:
        number = self.number(values, values[0][2], values[0][3])
        return tree.Amount(share=number, span=Span(start, end))

    def auto_amount(self, values: Values, start: int, end: int) -> tree.Amount:
        return tree.Amount(auto=True, span=Span(start, end))

    def amount_at(self, values: Values, start: int, end: int) -> tree.Amount:
        amount = values[0]
        return tree.Amount(amount.terms, amount.share, amount.auto, values[2], Span(start, end))

    def costs(self, values: Values, start: int, end: int) -> tree.Costs:
        return tree.Costs(tuple(values[0]), False, Span(start, end))

    def budget(self, values: Values, start: int, end: int) -> tree.Costs:
        return tree.Costs(tuple(values[1]), True, Span(start, end))

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
    name for name in vars(Builder) if not name.startswith("_") and name != "actions"
)
