"""The nodes of values, names, costs: one method for each alias of the grammar's rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from grammar import complaints, numbers, tree
from grammar.diagnostics import Diagnostic
from grammar.scan import Token
from grammar.source import Span

__all__ = ["Values", "ValueBuilder"]

Values = list[Any]


class ValueBuilder:
    """Makes nodes out of tokens; `findings` collects what is wrong inside a statement that parses.

    Words of the language come out in the form that `fmt` writes: methods, options and functions in
    lower case, types and flags in upper case. Names come out as given.
    """

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self._numbers: dict[str, Fraction] = {}

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
