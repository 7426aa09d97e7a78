"""No text makes parser, formatter, planner or a renderer fail otherwise than by a finding."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dpql.pipeline import Planned, check_source
from dpql.view import plan_json
from grammar.diagnostics import has_errors
from grammar.encoding import read
from grammar.exchange import render_github, render_json, render_sarif
from grammar.parser import parse
from grammar.printer import print_script
from grammar.render import render_text
from grammar.source import Source
from planner.plan import plan
from suites.queries import EVALUES, ROSSI, survey

WORDS = """
DATASET LET STUDY EVALUES POLICY TEST PEEL COVARIANCE FIT RELEASE DERIVE EXPECT COLUMNS
BUDGET ON VS BY AS AT AND IN FROM ROWS UNIT MAX POPULATION NEIGHBORS SITES CENTER NORM
HYPOTHESES SENSITIVITY ASSERTED_BY CAP PER DAYS FOR ANALYST ALLOW FORBID REQUIRE APPROVALS
WHEN cox ssp diagonal evalues evalue lmm pace REAL INTEGER BOOLEAN CATEGORY GENOTYPE ID
DURATION EVENT SITE LOG_EVALUE eps delta rho mu auto true false ADAPTIVE beta level size
share center weights norm rule rossi hits s x y age week b0 b1 effect.power sigma
correlation ebh replace private midpoint
""".split()  # noqa: SIM905  # a list this long reads better as text
MARKS = [*"()[],;=~+-*/^:|.<>%'\"\n\t ", "--", "/*", "*/", ">=", "<=", "\r\n", "\ufeff"]
NUMBERS = ["0", "1", "0.1", "1e-6", "1e400", "10^9", "5x", "1_000", "0x10", "1/3", "100%", "1e-13"]
ODD = ["\u202e", "\u200b", "é", "漢", "а", "\x00", "\x1b[31m", "𝔘", "\ud7ff", "''", '""']
SEEDS = [
    ROSSI + "TEST cox beta=b0 VS b1 shrink=0.5 eps=1 AS effect\nEXPECT effect.power >= 0.1\n",
    ROSSI + "COVARIANCE ssp COLUMNS (age, prio) mu=0.3 AS s\nDERIVE c = correlation(s)\n",
    EVALUES + "PEEL evalues ADAPTIVE mu=0.5\nPEEL evalues size=3 rho=0.1 AS h\n",
    survey("rho=1") + "COVARIANCE diagonal 10%\nCOVARIANCE ssp auto\n",
    "DATASET d ROWS 10 SITES (a ROWS 4, b ROWS 6) MAX 2 COLUMNS (x REAL IN [0, 1]) BUDGET eps=1\n",
    "POLICY rossi CAP mu=1 PER 30 DAYS ALLOW (TEST, COVARIANCE pace) REQUIRE 2 APPROVALS\n",
]


def soup(generator: random.Random) -> str:
    pieces = generator.choices([*WORDS, *MARKS, *NUMBERS, *ODD], k=generator.randrange(1, 60))
    return generator.choice(["", " ", " "]).join(pieces)


def mutated(generator: random.Random) -> str:
    text = generator.choice(SEEDS)
    for _ in range(generator.randrange(1, 6)):
        place = generator.randrange(len(text) + 1)
        end = min(len(text), place + generator.randrange(0, 12))
        piece = generator.choice([*WORDS, *MARKS, *NUMBERS, *ODD, "", text[place:end] * 2])
        text = text[:place] + piece + text[end:]
    return text


def swallow(text: str, deep: bool) -> None:
    """Put a text through everything that reads one."""
    source = Source("f.dpql", text)
    script, findings = parse(source)
    if not has_errors(findings):
        printed = print_script(script)
        again, more = parse(Source("f.dpql", printed))
        assert not has_errors(more), text
        assert again == script, text
        assert print_script(again) == printed, text
    checked = check_source(source)
    reports = [(source, checked.diagnostics)]
    assert "\x1b" not in render_text(reports)
    for render in (render_json, render_sarif):
        json.loads(render(reports))
    render_github(reports)
    if checked.plan is not None and deep:
        made, last = plan(checked.plan)
        assert json.dumps(plan_json(Planned(source, last, checked.plan, made)), allow_nan=False)


def feed(count: int, seed: int) -> None:
    generator = random.Random(seed)
    for index in range(count):
        text = soup(generator) if index % 3 == 0 else mutated(generator)
        swallow(text, deep=index % 40 == 0)


def test_any_text_is_answered_by_findings() -> None:
    feed(2_000, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 11))
def test_twenty_thousand_texts_are_answered_by_findings(seed: int) -> None:
    feed(2_000, seed)


def test_any_bytes_are_answered_by_findings() -> None:
    generator = random.Random(5)
    for _ in range(500):
        source, finding = read("f", generator.randbytes(generator.randrange(0, 200)))
        if finding is None:
            swallow(source.text, deep=False)
        else:
            render_text([(source, (finding,))])


def test_real_files_with_a_byte_changed_are_answered_by_findings() -> None:
    generator = random.Random(6)
    for path in sorted(Path(__file__).parents[2].glob("examples/**/*.dpql")):
        whole = path.read_bytes()
        for _ in range(60):
            place = generator.randrange(len(whole))
            source, finding = read("f", whole[:place] + generator.randbytes(1) + whole[place + 1 :])
            if finding is None:
                swallow(source.text, deep=False)
