"""Expressions have exact values, and mistakes in them have places."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar import tree
from grammar.parser import parse
from grammar.source import Source
from planner.findings import Mistake
from planner.values import Value, evaluate


def value(text: str, **names: Value) -> Value:
    script, findings = parse(Source("t", f"LET z = {text}"))
    assert findings == ()
    statement = script.statements[0]
    assert isinstance(statement, tree.Let)
    return evaluate(statement.value, names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("-2^2", Fraction(-4)),
        ("2^3^2", Fraction(512)),
        ("2^-1", Fraction(1, 2)),
        ("1 - 2 - 3", Fraction(-4)),
        ("8/4/2", Fraction(1)),
        ("2 + 3*4", Fraction(14)),
        ("(2 + 3)*4", Fraction(20)),
        ("1e-3", Fraction(1, 1000)),
        (".5 + 1.", Fraction(3, 2)),
        ("+5", Fraction(5)),
        ("-(-5)", Fraction(5)),
        ("4^0.5", Fraction(2)),
        ("sqrt(2)^1", Fraction("1.4142135623730950488")),
        ("exp(0)", Fraction(1)),
        ("log(1)", Fraction(0)),
        ("0^2", Fraction(0)),
        ("0^0.5", Fraction(0)),
    ],
)
def test_numbers_are_exact(text: str, expected: Fraction) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("function", ["log", "exp", "sqrt"])
@given(st.fractions(min_value="1/1000", max_value=80, max_denominator=10**6))
def test_functions_are_rounded_once_to_twenty_digits(function: str, number: Fraction) -> None:
    found = value(f"{function}({number.numerator}/{number.denominator})")
    with mpmath.workdps(60):
        exact = getattr(mpmath, function)(mpmath.mpf(number.numerator) / number.denominator)
        if exact == 0:
            assert found == 0
            return
        assert isinstance(found, Fraction)
        relative = abs(mpmath.mpf(found.numerator) / found.denominator / exact - 1)
    assert relative <= 5.0001e-20


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nothing", "DPQL-E020"),
        ("a.b", "DPQL-E021"),
        ("[1, 2] + 1", "DPQL-E022"),
        ("'a' + 1", "DPQL-E022"),
        ("true * 2", "DPQL-E022"),
        ("1/0", "DPQL-E025"),
        ("0^0", "DPQL-E025"),
        ("0^(-1)", "DPQL-E025"),
        ("(-2)^0.5", "DPQL-E025"),
        ("log(0)", "DPQL-E025"),
        ("sqrt(-1)", "DPQL-E025"),
        ("2^401", "DPQL-E024"),
        ("(10^99)^2", "DPQL-E024"),
        ("1/10^60*1/10", "DPQL-E024"),
        ("(1/3)^400", "DPQL-E024"),
        ("exp(2000)", "DPQL-E024"),
        ("exp(300)", "DPQL-E024"),
        ("sin(1)", "DPQL-E026"),
        ("exp(1, 2)", "DPQL-E026"),
    ],
)
def test_what_has_no_value_is_a_mistake_with_a_place(text: str, code: str) -> None:
    with pytest.raises(Mistake) as caught:
        value(text)
    assert caught.value.finding.code == code
    assert caught.value.finding.span is not None
    assert caught.value.finding.span.end > caught.value.finding.span.start


def test_names_stand_for_their_values() -> None:
    assert value("[a, 2*a]", a=Fraction(3)) == (Fraction(3), Fraction(6))
    assert value("a", a=(Fraction(1),)) == (Fraction(1),)


def test_a_long_chain_of_operators_leans_to_the_left() -> None:
    assert value("-".join(["1"] * 150)) == -148
