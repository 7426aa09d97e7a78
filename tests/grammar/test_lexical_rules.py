"""What a text's characters mean."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grammar import tree
from grammar.numbers import TooLong, value
from grammar.parser import parse
from grammar.source import Source
from grammar.words import RESERVED


def read(text: str) -> tuple[tree.Statement, ...]:
    script, findings = parse(Source("x.dpql", text))
    assert not findings, findings
    return script.statements


def codes(text: str) -> list[str]:
    return [finding.code for finding in parse(Source("x.dpql", text))[1]]


def let(text: str) -> tree.Expression:
    (statement,) = read(f"LET x = {text}")
    assert isinstance(statement, tree.Let)
    return statement.value


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("5", Fraction(5)),
        (".5", Fraction(1, 2)),
        ("1.", Fraction(1)),
        ("1e6", Fraction(10**6)),
        ("1.E-2", Fraction(1, 100)),
        ("0.1", Fraction(1, 10)),
        ("007", Fraction(7)),
        ("0e400", Fraction(0)),
        ("1e-59", Fraction(1, 10**59)),
        ("1" + "0" * 99, Fraction(10**99)),
        ("2.50e1", Fraction(25)),
        ("0." + "0" * 500, Fraction(0)),
        ("1." + "0" * 500, Fraction(1)),
        ("1" + "0" * 300 + "e-300", Fraction(1)),
    ],
)
def test_numbers_are_exact_and_keep_their_text(text: str, exact: Fraction) -> None:
    assert let(text) == tree.Number(text, exact)


@pytest.mark.parametrize(
    "text", ["1e401", "1e-401", "0e401", "1e-60", "1e100", "0." + "0" * 60 + "1", "1e" + "9" * 50]
)
def test_numbers_beyond_the_limits_are_errors(text: str) -> None:
    with pytest.raises(TooLong):
        value(text)
    assert codes(f"LET x = {text}") == ["DPQL-E010"]


@pytest.mark.parametrize("text", ["1_000", "5x", "0x10", "1.2.3", "1e", "1e+", "5é", "1..2", "5.x"])
def test_what_only_begins_like_a_number_is_an_error(text: str) -> None:
    assert codes(f"LET x = {text}")[:1] == ["DPQL-E009"]


def test_powers_bind_tighter_than_signs_and_to_the_right() -> None:
    assert let("-2^-3^2") == tree.Sign(
        "-",
        tree.Operation(
            "^",
            tree.Number("2", Fraction(2)),
            tree.Sign(
                "-",
                tree.Operation("^", tree.Number("3", Fraction(3)), tree.Number("2", Fraction(2))),
            ),
        ),
    )


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_fold_case_and_need_quotes_as_names(word: str) -> None:
    for form in (word, word.lower(), word.capitalize()):
        assert codes(f"LET {form} = 1") == ["DPQL-E014"]
        (statement,) = read(f'LET "{form}" = 1')
        assert isinstance(statement, tree.Let)
        assert statement.name.text == form


def test_reserved_words_end_at_a_word() -> None:
    assert let("tested + fits") == tree.Operation("+", tree.Name("tested"), tree.Name("fits"))
    assert codes("TESTcox eps=1") == ["DPQL-E013"]


def test_the_word_after_a_verb_on_its_line_is_a_method() -> None:
    (statement,) = read("PEEL evalues ADAPTIVE mu=0.5")
    assert isinstance(statement, tree.Measurement)
    assert statement.method.text == "evalues"
    (statement,) = read("TEST\n  cox eps=1")
    assert isinstance(statement, tree.Measurement)
    assert statement.method.text == "cox"
    assert codes("PEEL\nEVALUES e ON d kind=gauss_mean") == ["DPQL-E012"]


def test_words_of_the_language_fold_and_names_do_not() -> None:
    (statement,) = read("test COX Level=0.1 adaptive EPS=1, Delta=1e-6 as Effect")
    assert isinstance(statement, tree.Measurement)
    assert statement.verb == "TEST"
    assert statement.method.text == "cox"
    assert statement.name == tree.Name("Effect")
    option, flag, costs = statement.items
    assert isinstance(option, tree.Option)
    assert option.name.text == "level"
    assert flag == tree.Flag(tree.Name("ADAPTIVE"))
    assert isinstance(costs, tree.Costs)
    assert [term.unit for term in costs.amounts[0].terms] == ["eps", "delta"]
    assert let("[AUTO, True, FALSE]") == tree.Items(
        (tree.Auto(), tree.Truth(True), tree.Truth(False))
    )


def test_words_of_a_statement_are_plain_names_elsewhere() -> None:
    (statement,) = read("TEST cox ON rows unit=max sites=center CAP eps=1 AS norm")
    assert isinstance(statement, tree.Measurement)
    (dataset,) = read(
        "DATASET rows ROWS 5 UNIT unit MAX 2 POPULATION population COLUMNS (max ID, norm REAL)"
    )
    assert isinstance(dataset, tree.Dataset)
    assert dataset.name.text == "rows"


def test_quotes_are_doubled_inside_and_stay_on_their_line() -> None:
    assert let("'it''s'") == tree.Text("it's")
    assert let('"a ""b"""') == tree.Name('a "b"', quoted=True)
    assert codes("LET x = 'a\n'") == ["DPQL-E008", "DPQL-E008"] or codes("LET x = 'a\nb'")


@pytest.mark.parametrize(
    "character",
    [
        "\u200b",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\u00ad",
        "\ufe0f",
        "\x07",
        "\x1b",
        "\u2028",
        "\U000e0041",
    ],
)
def test_hidden_characters_are_errors_with_their_place_everywhere(character: str) -> None:
    for before, after in (
        ("LET x = 'a", "b'"),
        ('LET "a', '" = 1'),
        ("LET x = 1 -- ", "c"),
        ("LET x = 1 /* ", " */"),
        ("LET ", "x = 1"),
        ("LET x", "y = 1"),
    ):
        _, findings = parse(Source("x", f"{before}{character}{after}"))
        assert [finding.code for finding in findings] == ["DPQL-E005"], (before, findings)
        span = findings[0].span
        assert span is not None
        assert (span.start, span.end) == (len(before), len(before) + 1)


def test_a_return_alone_is_hidden_and_before_a_line_end_is_not() -> None:
    assert codes("LET x = 1\r\nLET y = 2\r\n") == []
    _, findings = parse(Source("x", "-- all is well\rLET x = 1"))
    assert [finding.code for finding in findings] == ["DPQL-E005"]
    assert findings[0].help == "save the file with line ends LF or CRLF"


@pytest.mark.parametrize("name", ["рho", '"раy"', '"αb"', '"кn"'])
def test_mixed_scripts_are_errors_in_names(name: str) -> None:
    assert codes(f"LET {name} = 1") == ["DPQL-E006"]


@pytest.mark.parametrize("name", ['"größe"', '"αβ 5"', '"рост"', '"身長 (cm)"', '"身長"'])
def test_one_script_is_a_name(name: str) -> None:
    expected = ["DPQL-E006"] if "cm" in name else []
    assert codes(f"LET {name} = 'α and b'") == expected


def test_comments_are_kept_with_their_place() -> None:
    script, _ = parse(Source("x", "-- head\nLET x = 1 -- behind  \n/* a\nb */ LET y = 2 /* c */"))
    assert [(comment.text, comment.own_line) for comment in script.comments] == [
        ("-- head", True),
        ("-- behind", False),
        ("/* a\nb */", True),
        ("/* c */", False),
    ]


def test_nothing_is_read_behind_an_unclosed_comment() -> None:
    script, findings = parse(Source("x", "LET x = 1; LET y = 2\n/* LET z = 5x\nTSET"))
    assert [finding.code for finding in findings] == ["DPQL-E007"]
    assert len(script.statements) == 1
    assert codes("LET x = 1 + /* y") == ["DPQL-E007"]


@pytest.mark.parametrize(
    "text",
    [
        "LET x = 0.5--0.2",
        "LET x = y --.5",
        "LET x = [1 --(2)\n]",
        "TEST a b=1--2",
        "LET x = (1)--(2)",
        "LET x = --1\n2",
    ],
)
def test_a_comment_that_may_be_two_signs_is_a_warning(text: str) -> None:
    assert codes(text) == ["DPQL-W201"]


@pytest.mark.parametrize(
    "text",
    [
        "LET x = 1 -- 2",
        "LET x = 1\n--2",
        "TEST a AS b --2",
        "TEST a ON b --2",
        "TEST a COLUMNS (b) --2",
        "DATASET d ROWS 5 UNIT u --2",
        "LET x = 1 -- (2)",
        "LET x = 1 --two",
    ],
)
def test_other_comments_are_no_warning(text: str) -> None:
    assert codes(text) == []
