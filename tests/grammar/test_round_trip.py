"""Printing and parsing undo each other."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from grammar import tree
from grammar.numbers import value
from grammar.parser import parse
from grammar.printer import format_source, print_script
from grammar.source import Source
from grammar.words import LOCAL_WORDS, RESERVED

SPECIAL = {"AUTO", "TRUE", "FALSE", "EPS", "DELTA", "RHO", "MU"}
LOCAL = LOCAL_WORDS["DATASET"] | LOCAL_WORDS["POLICY"]
TEXT = st.text(
    st.characters(
        codec="utf-8", categories=("Lu", "Ll", "Nd", "Po", "Sm", "Zs"), max_codepoint=0x17F
    ),
    max_size=8,
)


def _plain(word: str) -> bool:
    return word.upper() not in RESERVED | SPECIAL | LOCAL


words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(_plain)
names = words.map(tree.Name) | TEXT.filter(bool).map(lambda text: tree.Name(text, quoted=True))
own_names = names | st.sampled_from(sorted(LOCAL)).map(tree.Name)
lower = words.map(lambda word: tree.Name(word.lower()))
upper = words.map(lambda word: tree.Name(word.upper()))
texts = TEXT.map(tree.Text)
numbers = st.from_regex(
    r"([0-9]{1,5}(\.[0-9]{0,4})?|\.[0-9]{1,4})([eE][+-]?[0-9])?", fullmatch=True
).map(lambda text: tree.Number(text, value(text)))
members = st.builds(tree.Member, names, names)
references = names | members


def several(strategy: st.SearchStrategy, least: int = 1, most: int = 3) -> st.SearchStrategy:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


TIGHT = {"|": 0, "+": 1, "-": 1, "*": 2, "/": 2, ":": 3, "^": 5}


def tightness(node: tree.Expression) -> int:
    if isinstance(node, tree.Operation):
        return TIGHT[node.operator]
    return 4 if isinstance(node, tree.Sign) else 6


def within(node: tree.Expression, least: int) -> tree.Expression:
    return node if tightness(node) >= least else tree.Group((node,))


def operation(operator: str, left: tree.Expression, right: tree.Expression) -> tree.Operation:
    tight = TIGHT[operator]
    if operator == "^":
        return tree.Operation("^", within(left, 6), within(right, 4))
    return tree.Operation(operator, within(left, tight), within(right, tight + 1))


def sign(mark: str, operand: tree.Expression) -> tree.Sign:
    return tree.Sign(mark, within(operand, 4))


def grown(inner: st.SearchStrategy) -> st.SearchStrategy:
    return (
        several(inner, 0).map(tree.Items)
        | several(inner).map(tree.Group)
        | st.builds(sign, st.sampled_from("+-"), inner)
        | st.builds(operation, st.sampled_from("+-*/^"), inner, inner)
        | st.builds(tree.Call, lower, several(inner))
    )


atoms = (
    numbers | texts | names | members | st.just(tree.Auto()) | st.builds(tree.Truth, st.booleans())
)
values = st.recursive(atoms, grown, max_leaves=8)
terms = st.recursive(
    numbers | names,
    lambda inner: (
        inner.map(lambda node: tree.Group((node,)))
        | st.builds(sign, st.sampled_from("+-"), inner)
        | st.builds(operation, st.sampled_from("+-*:|"), inner, inner)
        | st.builds(tree.Call, words.map(tree.Name), several(inner))
    ),
    max_leaves=8,
)


def terms_of(unit: str) -> st.SearchStrategy:
    return st.builds(tree.CostTerm, st.just(unit), values)


amounts = (
    st.sampled_from(["eps", "rho", "mu"]).flatmap(terms_of).map(lambda term: tree.Amount((term,)))
    | st.tuples(terms_of("eps"), terms_of("delta")).map(tree.Amount)
    | numbers.map(lambda number: tree.Amount(share=number))
    | st.just(tree.Amount(auto=True))
)
payments = st.builds(
    lambda amount, at: tree.Amount(amount.terms, amount.share, amount.auto, at),
    amounts,
    st.none() | references,
)
costs = st.builds(tree.Costs, several(payments), st.booleans())
options = st.builds(tree.Option, lower, values, st.none() | values)
response = names | st.builds(tree.Call, words.map(tree.Name), several(terms))
items = st.tuples(
    several(options, 0),
    several(upper.map(tree.Flag), 0, 2),
    st.none()
    | several(references).map(tree.On)
    | st.builds(tree.On, st.tuples(references), references),
    st.none() | st.builds(tree.Formula, response, terms),
    st.none() | names.map(tree.By),
    st.none() | several(names).map(tree.Columns),
    st.none() | costs,
).map(lambda parts: tuple(part for part in (*parts[0], *parts[1], *parts[2:]) if part is not None))
shuffled = items.flatmap(lambda given: st.permutations(given).map(tuple))
methods = lower | st.sampled_from(sorted(RESERVED)).map(lambda word: tree.Name(word.lower()))

ranges = st.tuples(values, values)
columns = st.builds(
    tree.ColumnDeclaration,
    own_names | texts,
    upper,
    st.none() | ranges,
    st.none() | several(texts),
    st.none() | values,
    st.none() | values,
    st.none() | texts,
)
clauses = (
    texts.map(tree.From)
    | values.map(tree.Rows)
    | st.builds(tree.Unit, own_names, st.none() | values)
    | own_names.map(tree.Population)
    | lower.map(tree.Neighbors)
    | st.builds(
        tree.Sites, several(st.builds(tree.Site, own_names, st.none() | values)), st.none() | values
    )
    | several(columns).map(tree.ColumnDeclarations)
    | values.map(tree.Center)
    | st.builds(tree.Norm, several(own_names), values)
    | st.builds(tree.Costs, several(payments), st.just(True))
)
verbs = st.sampled_from(["TEST", "PEEL", "COVARIANCE", "FIT", "RELEASE"])
caps = st.builds(tree.Cap, amounts, st.none() | values, st.none() | texts) | st.builds(
    tree.Cap, amounts, st.none() | values, st.none(), several(own_names)
)
policies = (
    caps
    | several(st.tuples(verbs.map(tree.Name), st.none() | methods)).map(tree.Allow)
    | several(own_names).map(tree.Forbid)
    | st.builds(tree.Require, values, st.none() | amounts)
)
statements = (
    st.builds(tree.Dataset, own_names, several(clauses, 0))
    | st.builds(tree.Let, names, values)
    | several(st.tuples(names, texts)).map(tree.Study)
    | st.builds(tree.Evalues, names, shuffled)
    | st.builds(tree.Policy, own_names, several(policies, 0))
    | st.builds(tree.Measurement, verbs, methods, shuffled, st.none() | names)
    | st.builds(
        tree.Derive,
        names,
        lower,
        several(values),
        several(st.builds(tree.Option, lower, values), 0),
    )
    | st.builds(
        tree.Expect, names, names, st.sampled_from([">=", "<=", ">", "<", "=", "==", "!="]), values
    )
)
scripts = several(statements, 0).map(lambda given: tree.Script(Source("x.dpql", ""), given))


@settings(max_examples=200, deadline=None)
@given(scripts)
def test_parsing_a_printed_tree_gives_the_tree(script: tree.Script) -> None:
    _check_round_trip(script)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(scripts)
def test_parsing_many_printed_trees_gives_the_trees(script: tree.Script) -> None:
    _check_round_trip(script)


def _check_round_trip(script: tree.Script) -> None:
    printed = print_script(script)
    again, findings = parse(Source("x.dpql", printed))
    assert not [finding for finding in findings if finding.severity == "error"], printed
    assert again == script
    assert hash(again) == hash(script)
    assert print_script(again) == printed


@settings(max_examples=100, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(statements, st.data())
def test_comments_stay_and_formatting_is_a_fixed_point(
    statement: tree.Statement, data: st.DataObject
) -> None:
    printed = print_script(tree.Script(Source("x.dpql", ""), (statement,)))
    marked = _with_comments(printed, data)
    once, findings = format_source(Source("x.dpql", marked))
    assert not [finding for finding in findings if finding.severity == "error"], marked
    twice, _ = format_source(Source("x.dpql", once))
    assert twice == once, marked
    before, after = parse(Source("x", marked))[0], parse(Source("x", once))[0]
    assert before == after
    assert sorted(c.text for c in before.comments) == sorted(c.text for c in after.comments)


def _with_comments(printed: str, data: st.DataObject) -> str:
    """Comments before and behind some lines, and before some tokens."""
    from grammar.scan import scan

    tokens = scan(printed).tokens
    result, done = "", 0
    for number, token in enumerate(tokens):
        result += printed[done : token[2]]
        done = token[2]
        choice = data.draw(st.integers(0, 12))
        same_line = number and tokens[number - 1][0] in (
            "TEST",
            "PEEL",
            "COVARIANCE",
            "FIT",
            "RELEASE",
        )
        if choice == 0:
            result += f"/* block {number} */ "
        elif choice == 1 and not same_line:
            result += f"-- line {number}\n"
        elif choice == 2 and not same_line:
            result += f"\n\n  -- own {number}\n"
        elif choice == 3 and not same_line:
            result += f"/* two\n     lines {number} */ "
    return result + printed[done:] + data.draw(st.sampled_from(["", "-- end", "\n/* end */"]))


def test_the_value_of_a_number_is_exact() -> None:
    assert value("0.1") == Fraction(1, 10)
