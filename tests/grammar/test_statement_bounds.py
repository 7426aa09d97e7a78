"""Where statements begin and end, and that a broken one hides no other."""

from __future__ import annotations

import pytest

from grammar import tree
from grammar.parser import parse
from grammar.source import Source
from grammar.spelling import distance, nearest
from grammar.words import STATEMENT_WORDS


def outcome(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Kinds of statements that were read; code and marked words of each finding."""
    script, findings = parse(Source("x.dpql", text))
    marked = []
    for finding in findings:
        assert finding.span is not None
        marked.append((finding.code[5:], text[finding.span.start : finding.span.end]))
    return [type(statement).__name__ for statement in script.statements], marked


def test_statements_need_no_terminator_and_may_have_one() -> None:
    kinds, findings = outcome("LET a = 1 LET b = 2; LET c = 3;; TEST x eps=1, LET d = 4")
    assert kinds == ["Let", "Let", "Let", "Measurement", "Let"]
    assert not findings


def test_four_faults_show_those_four() -> None:
    text = (
        "DATASET d ROWS 1_0 COLUMNS (x REAL IN [0, 1])\n"
        "LET a = [1, 2\n"
        "TSET cox beta=a eps=1 AS e\n"
        "DERIVE fit = correlation(s)\n"
        "COVARIANCE pace rho=0.1 AS s\n"
        "EXPECT e.power >= 0.5\n"
    )
    kinds, findings = outcome(text)
    assert findings == [("E009", "1_0"), ("E015", "["), ("E013", "TSET"), ("E014", "fit")]
    assert kinds == ["Measurement", "Measurement", "Expect"]


def test_a_misspelt_verb_does_not_melt_into_the_statement_before() -> None:
    kinds, findings = outcome("COVARIANCE pace rho=0.1\nTSET cox eps=1 AS e\nDERIVE c = f(e)")
    assert findings == [("E013", "TSET")]
    assert kinds == ["Measurement", "Measurement", "Derive"]
    assert outcome("COVARIANCE pace rho=0.1\nTSET cox")[1] == [("E013", "TSET")]
    assert outcome("COVARIANCE pace rho=0.1\nSELECT age eps=1")[1] == [("E013", "SELECT")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("TEST cox eps=1 AS e\nfoo bar", "foo"),
        ("TEST cox eps=1 AS e level=0.05", "level"),
        ("TEST cox eps=1 AS e eps=2", "eps"),
        ("TEST cox eps=1 AS e ON b", "ON"),
        ("TEST cox eps=1 AS e AS f", "AS"),
        ("TEST cox eps=1 mu=2", "mu=2"),
        ("TEST cox ON a ON b eps=1", "ON b"),
        ("TEST cox BY a BY b eps=1", "BY b"),
        ("TEST cox COLUMNS (a) COLUMNS (b) eps=1", "COLUMNS (b)"),
        ("FIT lmm y ~ a z ~ b eps=1", "z ~ b"),
    ],
)
def test_what_stands_twice_or_behind_the_name_misses_a_statement_word(
    text: str, place: str
) -> None:
    assert outcome(text)[1] == [("E016", place)]


def test_a_corrected_verb_is_read_as_the_right_one() -> None:
    (statement,) = parse(Source("x", "TSET cox eps=1"))[0].statements
    assert isinstance(statement, tree.Measurement)
    assert statement.verb == "TEST"


def test_flags_at_the_head_of_a_line_are_no_statements() -> None:
    text = "FIT lmm y ~ a\n  BY site\n  VARIANCE FORCE\n  eps=1\nPEEL evalues\nADAPTIVE\nmu=1"
    assert outcome(text) == (["Measurement", "Measurement"], [])


def test_a_name_may_be_demanded_on_the_same_line() -> None:
    for text in (
        "LET test = 1",
        "TEST cox AS fit",
        "TEST cox ON release eps=1",
        "TEST cox ON a VS test eps=1",
        "TEST cox BY let eps=1",
        "EXPECT a.test >= 1",
        "LET x = 1 + test",
        "TEST cox eps=1 AT test",
        "DERIVE x = f(test)",
        "DATASET d ROWS 5 COLUMNS (\n  test REAL,\n  fit REAL)",
    ):
        kinds, findings = outcome(text + "\nLET y = 1")
        assert kinds == ["Let"], text
        assert findings[0][0] == "E014", text
        assert {code for code, _ in findings} == {"E014"}, text


def test_a_name_that_is_missing_at_the_end_of_a_line_does_not_eat_the_next_statement() -> None:
    assert outcome("TEST cox AS\nTEST cox eps=1")[0] == ["Measurement"]
    assert outcome("LET x =\nLET y = 1")[0] == ["Let"]
    assert outcome("COVARIANCE pace COLUMNS (a,\nTEST cox eps=1\nDERIVE c = f(x)")[0] == [
        "Measurement",
        "Derive",
    ]


def test_verbs_inside_a_policy_begin_no_statement() -> None:
    kinds, findings = outcome(
        "POLICY d\n  ALLOW (TEST,\n    COVARIANCE pace,\n    PEEL evalues)\n  CAP mu=1\nLET x = 1"
    )
    assert kinds == ["Policy", "Let"]
    assert not findings


def test_every_fault_of_a_dataset_is_told() -> None:
    text = (
        "DATASET d\n  ROWS 5\n  COLUMNS (\n    a REAL IN (0, 1),\n    test REAL,\n"
        "    b REAL [0, 1],\n    c REAL\n  )\n  POPULTION p\n  BUDGET 5"
    )
    assert outcome(text)[1] == [
        ("E012", "("),
        ("E014", "test"),
        ("E012", "["),
        ("E012", "POPULTION"),
        ("E012", "5"),
    ]


def test_a_broken_statement_leaves_the_names_it_would_define() -> None:
    script, _ = parse(
        Source(
            "x",
            "DATASET d ROWS 5 SITES (a ROWS 2, b ROWS 3) COLUMNS (\n"
            "TEST cox level= AS e\nLET v = 5x\nTEST score eps=",
        )
    )
    assert [(b.word, b.names, b.method) for b in script.broken] == [
        ("DATASET", ("d", "a", "b"), ""),
        ("TEST", ("e",), "cox"),
        ("LET", ("v",), ""),
        ("TEST", (), "score"),
    ]


def test_costs_know_their_words() -> None:
    (statement,) = parse(
        Source("x", "TEST a BUDGET eps=1, delta=1e-6 AT d.north AND mu=0.4 AT south")
    )[0].statements
    assert isinstance(statement, tree.Measurement)
    (costs,) = statement.items
    assert isinstance(costs, tree.Costs)
    assert costs.word
    first, second = costs.amounts
    assert [term.unit for term in first.terms] == ["eps", "delta"]
    assert first.at == tree.Member(tree.Name("d"), tree.Name("north"))
    assert second.at == tree.Name("south")
    assert outcome("TEST a auto")[1] == outcome("TEST a 5%")[1] == []
    assert outcome("TEST a delta=1e-6 eps=1")[1] == [("E017", "delta")]


def test_nearness_counts_swapped_letters_once() -> None:
    assert distance("TSET", "TEST") == 1
    assert distance("DATST", "DATASET") == 2
    assert nearest("tset", STATEMENT_WORDS) == "TEST"
    assert nearest("covarance", STATEMENT_WORDS) == "COVARIANCE"
    assert nearest("variance", STATEMENT_WORDS) is None
    assert nearest("select", STATEMENT_WORDS) is None
