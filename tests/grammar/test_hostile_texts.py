"""No text makes the grammar fail: every fault is a finding with a place."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from grammar.diagnostics import has_errors
from grammar.encoding import decode, read
from grammar.exchange import render_github, render_json, render_sarif
from grammar.parser import parse
from grammar.printer import format_source, print_script
from grammar.render import render_text
from grammar.source import Source
from grammar.words import COST_WORDS, LOCAL_WORDS, RESERVED

CORPUS = Path(__file__).parents[1] / "corpus"
TEXTS = [path.read_text("utf-8") for path in sorted(CORPUS.rglob("*.dpql"))]
BITS = [
    *sorted(RESERVED | LOCAL_WORDS["DATASET"] | LOCAL_WORDS["POLICY"]),
    *COST_WORDS,
    *"()[],.;=<>+-*/^:|~%'\"\\#\t\n\r\u200b\u202eé界\x00\x1b",
    *[
        "--",
        "/*",
        "*/",
        "''",
        '""',
        "1",
        "5x",
        "1e9",
        "1_0",
        "auto",
        "true",
        " ",
        "  ",
        "\n\n",
        "a",
    ],
]
MEBIBYTE = 1 << 20
SIZE = 1 << 17


def _mutated(rng: random.Random) -> str:
    text = rng.choice(TEXTS)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(text) + 1)
        cut = at + rng.choice((0, 0, 1, 2, 5, 20, 200))
        put = rng.choice(("", "", rng.choice(BITS), f" {rng.choice(BITS)} ", text[at : at + 9]))
        text = text[:at] + put + text[cut:]
    return text


def _random(rng: random.Random) -> str:
    gap = rng.choice(("", " ", "\n"))
    return gap.join(rng.choice(BITS) for _ in range(rng.randrange(60)))


def _check(text: str) -> None:
    source = Source("fuzz.dpql", text)
    script, findings = parse(source)
    for finding in findings:
        assert finding.message
        assert finding.span is None or 0 <= finding.span.start <= finding.span.end <= len(text)
        for label in finding.labels:
            assert 0 <= label.span.start <= label.span.end <= len(text)
    reports = [(source, findings)]
    shown = render_text(reports)
    assert shown.replace("\n", "").isprintable()
    assert render_github(reports).replace("\n", "").isprintable()
    json.loads(render_json(reports))
    json.loads(render_sarif(reports))
    formatted, _ = format_source(source)
    if has_errors(findings):
        assert formatted == text
        return
    assert not script.broken
    again, _ = parse(Source("fuzz.dpql", formatted))
    assert again == script
    assert print_script(again) == formatted
    assert len(again.comments) == len(script.comments)


@pytest.mark.parametrize("seed", range(6))
def test_mutated_files_are_read_or_told_wrong(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        _check(_mutated(rng))


@pytest.mark.parametrize("seed", range(4))
def test_random_words_are_read_or_told_wrong(seed: int) -> None:
    rng = random.Random(1000 + seed)
    for _ in range(400):
        _check(_random(rng))


def test_random_bytes_are_decoded_or_told_wrong() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        data = bytes(rng.randrange(256) for _ in range(rng.randrange(30)))
        source, finding = read("x", data)
        if finding is None:
            _check(source.text)
        else:
            assert render_text([(source, [finding])])


HOSTILE = {
    "opening brackets": "LET x = " + "(" * (SIZE - 20),
    "signs": "LET x = " + "- " * (SIZE // 2 - 20) + "1",
    "a long sum": "LET x = 1" + "+1" * (SIZE // 2 - 20),
    "powers": "LET x = 2" + "^2" * (SIZE // 2 - 20),
    "calls": "LET x = " + "f(" * (SIZE // 2 - 20),
    "formula brackets": "FIT a y ~ " + "(b | " * (SIZE // 5 - 20),
    "blanks": "LET x = 1" + " " * (SIZE - 20),
    "quotes": "'" * (SIZE - 1),
    "comment openings": "/*" * (SIZE // 2),
    "comment stars": "/" + "*" * (SIZE - 1),
    "doubtful comments": "LET x = (1--1\n" + ",1--1\n" * (SIZE // 6 - 5),
    "strange characters": "# $ " * (SIZE // 4),
    "misspelt words": "TSET x\n" * (SIZE // 7),
    "waiting words": "TEST x(,\n" * (SIZE // 9),
    "invisible characters": "a\u200b" * (SIZE // 4),
    "a long number": "LET x = " + "9" * (SIZE - 20),
    "a long exponent": "LET x = 1e" + "9" * (SIZE - 20),
    "closing brackets": ")" * SIZE,
    "a long line of faults": "LET x = ; " * 10_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_comes_to_an_end(name: str) -> None:
    """Linear work takes a few seconds; quadratic work would take hours."""
    source = Source("hostile.dpql", HOSTILE[name])
    script, findings = parse(source)
    assert findings or name == "blanks"
    render_text([(source, findings)])
    render_sarif([(source, findings)])
    hash(script)


def test_what_is_not_utf8_text_is_told_with_its_place() -> None:
    for data, words in (
        (b"LET x = \xff", "not UTF-8"),
        (b"\xff\xfeL\x00E\x00", "UTF-16"),
        (b"PAR1\x00\x15\x04", "binary"),
        (b"\x80\x00", "binary"),
        (b"x" * (MEBIBYTE + 1), "larger than 1 MiB"),
    ):
        finding = decode(data)
        assert not isinstance(finding, str)
        assert words in finding.message
    source, finding = read("x.dpql", "LET é = 1\nLET y = ".encode() + b"\xe9\n")
    assert finding is not None
    assert finding.span is not None
    assert source.place(finding.span.start) == (2, 9)


def test_a_byte_order_mark_and_returns_are_accepted() -> None:
    text = decode(b"\xef\xbb\xbfLET x = 1\r\nLET y = 2\r\n")
    assert isinstance(text, str)
    script, findings = parse(Source("x", text))
    assert not findings
    assert len(script.statements) == 2
    assert print_script(script) == "LET x = 1\nLET y = 2\n"
    assert not parse(Source("x", "\ufeffLET x = 1"))[1]


def test_ten_thousand_statements_are_read_and_one_more_is_told() -> None:
    script, findings = parse(Source("x", "LET x = 1\n" * 10_000))
    assert len(script.statements) == 10_000
    assert not findings
    script, findings = parse(Source("x", "LET x = 1\n" * 10_001))
    assert [finding.code for finding in findings] == ["DPQL-E003"]


@pytest.mark.parametrize(
    ("inside", "deep"),
    [
        ("(" * 64 + "1" + ")" * 64, False),
        ("(" * 65 + "1" + ")" * 65, True),
        ("[" * 64 + "1" + "]" * 64, False),
        ("- " * 64 + "1", False),
        ("- " * 65 + "1", True),
        ("2" + "^2" * 64, False),
        ("2" + "^2" * 65, True),
        ("-(" * 33 + "1" + ")" * 33, True),
        ("1" + "+1" * 200, False),
        ("1" + "+1" * 300, True),
        ("[" + "-1, " * 500 + "-1]", False),
        ("[" + "2^2 + 3^3, " * 500 + "-1]", False),
        ("(" * 10 + "1" + ("+1" * 100 + ")") * 10, True),
    ],
)
def test_nesting_has_a_limit(inside: str, deep: bool) -> None:
    script, findings = parse(Source("x", f"LET x = {inside}"))
    assert [finding.code for finding in findings] == (["DPQL-E004"] if deep else [])
    assert hash(script) == hash(parse(Source("x", print_script(script)))[0])
    assert repr(script)
