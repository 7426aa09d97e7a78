"""The value of an expression: an exact rational, a word, a string, a truth or a list.

`log`, `exp`, `sqrt` and a fractional `^` are rounded once to 20 significant digits and are exact
from then on. No data can be mentioned in an expression, so every value is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException, localcontext
from fractions import Fraction
from typing import TypeAlias

from grammar import tree
from grammar.source import Span
from planner.findings import Mistake, Undefined, choices

__all__ = ["Value", "Word", "describe", "evaluate", "positive_integer", "rational"]

_ABOVE = 10**100
_BELOW = 10**60
_FUNCTIONS = ("log", "exp", "sqrt")
_WORK = Context(prec=80, rounding=ROUND_HALF_EVEN)
_ROUND = Context(prec=20, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Word:
    """A name that no LET binds; an option or a column list may know it."""

    text: str
    quoted: bool = False


Value: TypeAlias = "Fraction | Word | str | bool | tuple[Value, ...]"
"""`str` is a string in quotes; the word `auto` is `Word("auto")`."""


def evaluate(node: tree.Expression, names: Mapping[str, Value], free: bool = False) -> Value:
    """The value of an expression over the LET names.

    With `free` an unbound name is a `Word`; without it, a mistake. Raises `Mistake`.
    """
    match node:
        case tree.Number(value=value):
            return _bounded(value, node.span)
        case tree.Text(value=text):
            return text
        case tree.Truth(value=truth):
            return truth
        case tree.Auto():
            return Word("auto")
        case tree.Name(text=text, quoted=quoted):
            if text in names:
                return names[text]
            if free:
                return Word(text, quoted)
            raise Undefined(text, node.span, help=choices(text, names, "defined by LET"))
        case tree.Items(items=items):
            return tuple(evaluate(item, names, free) for item in items)
        case tree.Group(items=items):
            if len(items) == 1:
                return evaluate(items[0], names, free)
            return tuple(evaluate(item, names, free) for item in items)
        case tree.Sign(sign=sign, operand=operand):
            value = rational(operand, names)
            return -value if sign == "-" else value
        case tree.Operation():
            return _operate(node, names)
        case tree.Call():
            return _call(node, names)
        case tree.Member(left=left, right=right):
            raise Mistake(
                "DPQL-E021",
                f"`{left.text}.{right.text}` is not a value",
                node.span,
                note="values are numbers, strings, words and lists; nothing of a dataset or of a "
                "release can be used in one",
            )


def rational(node: tree.Expression, names: Mapping[str, Value]) -> Fraction:
    """The exact number that an expression stands for. Raises `Mistake`."""
    value = evaluate(node, names)
    if isinstance(value, Fraction):
        return value
    raise Mistake("DPQL-E022", f"a number is needed here, not {describe(value)}", _place(node))


def positive_integer(node: tree.Expression, names: Mapping[str, Value], what: str) -> int:
    """The whole number of at least 1 that an expression stands for. Raises `Mistake`."""
    value = rational(node, names)
    if value.denominator != 1 or value < 1 or value > 10**15:
        raise Mistake("DPQL-E023", f"{what} must be a whole number from 1 to 10^15", _place(node))
    return int(value)


def describe(value: Value) -> str:
    """A value in the words of a message."""
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, Fraction):
        return "a number"
    if isinstance(value, Word):
        return f"the word `{value.text}`"
    if isinstance(value, str):
        return "a string"
    return f"a list of {len(value)}"


def _place(node: tree.Expression) -> Span:
    return node.span


def _bounded(value: Fraction, span: Span) -> Fraction:
    if abs(value.numerator) >= _ABOVE or value.denominator >= _BELOW:
        raise Mistake(
            "DPQL-E024",
            "this number is too long",
            span,
            note="a number has at most 100 digits above and 60 below the line of its fraction",
        )
    return value


def _operate(node: tree.Operation, names: Mapping[str, Value]) -> Fraction:
    # Long chains lean to the left: walk down them instead of recursing.
    chain: list[tree.Operation] = []
    left: tree.Expression = node
    while isinstance(left, tree.Operation):
        chain.append(left)
        left = left.left
    value = rational(left, names)
    for step in reversed(chain):
        value = _apply(step, value, rational(step.right, names))
    return value


def _apply(node: tree.Operation, left: Fraction, right: Fraction) -> Fraction:
    match node.operator:
        case "+":
            return _bounded(left + right, node.span)
        case "-":
            return _bounded(left - right, node.span)
        case "*":
            return _bounded(left * right, node.span)
        case "/":
            if right == 0:
                raise Mistake("DPQL-E025", "division by zero", node.span)
            return _bounded(left / right, node.span)
        case "^":
            return _power(left, right, node.span)
        case _:
            raise Mistake(
                "DPQL-E021", f"`{node.operator}` has a meaning in model formulas only", node.span
            )


def _power(base: Fraction, exponent: Fraction, span: Span) -> Fraction:
    if abs(exponent) > 400:
        raise Mistake("DPQL-E024", "an exponent lies in [-400, 400]", span)
    if base == 0 and exponent <= 0:
        raise Mistake("DPQL-E025", "zero has no power of this exponent", span)
    if exponent.denominator == 1:
        size = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
        if size * abs(exponent) > 2000:
            raise Mistake("DPQL-E024", "this power is too large", span)
        return _bounded(base ** int(exponent), span)
    if base < 0:
        raise Mistake("DPQL-E025", "a negative number has no fractional power", span)
    if base == 0:
        return Fraction(0)
    return _rounded(lambda: (_WORK.ln(_decimal(base)) * _decimal(exponent)).exp(_WORK), span)


def _call(node: tree.Call, names: Mapping[str, Value]) -> Fraction:
    function = node.function.text.casefold()
    if function not in _FUNCTIONS:
        raise Mistake(
            "DPQL-E026",
            f"there is no function `{node.function.text}` in values",
            node.function.span,
            help=choices(function, _FUNCTIONS, "functions of values"),
        )
    if len(node.arguments) != 1:
        raise Mistake("DPQL-E026", f"`{function}` takes one number", node.span)
    value = rational(node.arguments[0], names)
    if function == "exp":
        if abs(value) > 1000:
            raise Mistake("DPQL-E024", "the argument of `exp` lies in [-1000, 1000]", node.span)
        return _rounded(lambda: _decimal(value).exp(_WORK), node.span)
    if value < 0 or (function == "log" and value == 0):
        raise Mistake("DPQL-E025", f"`{function}` needs a positive number", node.span)
    if function == "log":
        return _rounded(lambda: _decimal(value).ln(_WORK), node.span)
    return _rounded(lambda: _decimal(value).sqrt(_WORK), node.span)


def _decimal(value: Fraction) -> Decimal:
    return _WORK.divide(Decimal(value.numerator), Decimal(value.denominator))


def _rounded(compute: object, span: Span) -> Fraction:
    try:
        with localcontext(_WORK):
            exact = compute()  # type: ignore[operator]
        return _bounded(Fraction(_ROUND.plus(exact)), span)
    except DecimalException as cause:
        raise Mistake("DPQL-E024", "this value is too large or too small", span) from cause
