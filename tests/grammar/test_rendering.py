"""Findings as text, JSON, SARIF and workflow commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grammar.diagnostics import Diagnostic, Label, Severity
from grammar.exchange import render_github, render_json, render_sarif
from grammar.parser import parse
from grammar.render import render_text, uses_color
from grammar.source import Source, Span

ROOT = Path(__file__).parents[2]
SOURCE = Source(
    "trial.dpql", "DATASET d ROWS 5\n\nCOVARIANCE pace rho=0.1\n\n\nCOVARIANCE pace rho=0.15\n"
)
FINDING = Diagnostic(
    "DPQL-E061",
    "the plan spends rho=0.25, the balance is rho=0.2",
    Span(60, 68),
    here="passes the balance by 0.05",
    labels=(Label(Span(34, 41), "0.1 spent here"),),
    note="rho adds up over analyses of the same people",
    help="rho=0.1 fits here; `dpql plan --allocate` shares the balance by a goal",
)


def test_a_finding_is_shown_with_its_lines() -> None:
    assert render_text([(SOURCE, [FINDING])]) == (
        "error[DPQL-E061]: the plan spends rho=0.25, the balance is rho=0.2\n"
        " --> trial.dpql:6:17\n"
        "  |\n"
        "3 | COVARIANCE pace rho=0.1\n"
        "  |                 ------- 0.1 spent here\n"
        "6 | COVARIANCE pace rho=0.15\n"
        "  |                 ^^^^^^^^ passes the balance by 0.05\n"
        "  |\n"
        "note: rho adds up over analyses of the same people\n"
        "help: rho=0.1 fits here; `dpql plan --allocate` shares the balance by a goal\n"
    )


def test_colour_is_optional() -> None:
    colored = render_text([(SOURCE, [FINDING])], color=True)
    assert "\x1b[1;31merror[DPQL-E061]\x1b[0m" in colored
    assert uses_color(True, {})
    assert not uses_color(False, {})
    assert not uses_color(True, {"NO_COLOR": "1"})
    assert not uses_color(True, {"TERM": "dumb"})


def test_a_finding_without_a_place_names_the_file() -> None:
    shown = render_text([(SOURCE, [Diagnostic("DPQL-E002", "the file is larger than 1 MiB")])])
    assert shown == "error[DPQL-E002]: the file is larger than 1 MiB\n --> trial.dpql\n"


def test_carets_stand_under_wide_and_hidden_characters() -> None:
    text = "STUDY title = '界\u202e\te\u0301' x"
    shown = render_text([(Source("x", text), [Diagnostic("DPQL-E012", "m", Span(22, 23))])])
    assert "1 | STUDY title = '界<U+202E>    e\u0301' x" in shown
    # Two columns for the ideograph, eight for the override, four for the tab, none for the accent.
    assert "\n  | " + " " * (15 + 2 + 8 + 4 + 1 + 1 + 1) + "^" in shown


def test_names_and_messages_cannot_steer_a_terminal() -> None:
    source = Source("a\x1b[2J.dpql", "LET \x1b]0;x\x07 = 1\n")
    shown = render_text([(source, parse(source)[1])])
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "<U+001B>" in shown


def test_a_long_line_is_shown_around_its_fault() -> None:
    text = "LET x = [" + "1, " * 20_000 + "5x, " + "1, " * 20_000 + "1]"
    shown = render_text([(Source("x", text), parse(Source("x", text))[1])])
    assert len(shown) < 1000
    line = next(line for line in shown.splitlines() if line.startswith("1 | "))
    marks = shown.splitlines()[shown.splitlines().index(line) + 1]
    assert line[marks.index("^") : marks.index("^") + 2] == "5x"


def test_json_has_the_promised_form() -> None:
    form = json.loads(render_json([(SOURCE, [FINDING])]))
    assert form == {
        "schema": "dpql/1",
        "ok": False,
        "diagnostics": [
            {
                "code": "DPQL-E061",
                "severity": "error",
                "message": FINDING.message,
                "help": FINDING.help,
                "note": FINDING.note,
                "span": {
                    "file": "trial.dpql",
                    "line": 6,
                    "column": 17,
                    "end_line": 6,
                    "end_column": 25,
                },
            }
        ],
    }
    warning = Diagnostic("DPQL-W201", "m", Span(0, 1), Severity.WARNING)
    assert json.loads(render_json([(SOURCE, [warning])]))["ok"] is True


def test_sarif_has_what_its_standard_demands() -> None:
    odd = Source("my trial:é.dpql", SOURCE.text)
    form = json.loads(render_sarif([(SOURCE, [FINDING, FINDING]), (odd, [FINDING])], "0.1.0"))
    assert form["version"] == "2.1.0"
    (run,) = form["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"]["rules"] == [{"id": "DPQL-E061"}]
    assert {result["ruleId"] for result in run["results"]} == {"DPQL-E061"}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "trial.dpql"}
    assert place["region"] == {"startLine": 6, "startColumn": 17, "endLine": 6, "endColumn": 25}
    assert run["results"][0]["relatedLocations"][0]["message"] == {"text": "0.1 spent here"}
    uri = run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20trial%3A%C3%A9.dpql"
    assert all(result["level"] in ("error", "warning", "note") for result in run["results"])


def test_workflow_commands_are_escaped() -> None:
    finding = Diagnostic("DPQL-E001", "50% of\nit::x", Span(0, 7), Severity.NOTE)
    shown = render_github([(Source("a,b:c%.dpql", SOURCE.text), [finding])])
    assert shown == (
        "::notice file=a%2Cb%3Ac%25.dpql,line=1,endLine=1,col=1,endColumn=8,"
        "title=DPQL-E001::50%25 of%0Ait::x\n"
    )


def test_places_in_a_large_file_are_found_quickly() -> None:
    source = Source("x", "LET x = \n" * 100_000)
    for offset in range(0, len(source.text), 9):
        line, column = source.place(offset)
        assert column == 1
        assert source.line(line) == "LET x = "
    assert source.place(len(source.text)) == (100_001, 1)
    assert source.line(100_001) == source.line(100_002) == source.line(0) == ""


def test_reading_and_formatting_load_nothing_heavy() -> None:
    code = (
        "import sys, grammar.printer, grammar.render, grammar.encoding\n"
        "heavy = {'lark', 'pydantic', 'numpy', 'networkx', 'scipy', 'rich', 'typer'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "from grammar.parser import parse\n"
        "parse(grammar.source.Source('x', 'LET x = 1'))\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n[]\n"


def _used() -> list[str]:
    import re

    text = "".join(path.read_text("utf-8") for path in (ROOT / "grammar").glob("*.py"))
    return sorted(set(re.findall(r'"(DPQL-[EW]\d{3})"', text)))


@pytest.mark.parametrize("code", _used())
def test_every_code_has_a_page(code: str) -> None:
    page = (ROOT / "dpql" / "codes" / f"{code}.md").read_text("utf-8")
    assert page.startswith(f"# {code}: ")
    assert 10 <= len(page.splitlines()) <= 25
