"""Every code that can be said has a page, and every page is about a code that can be said."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import dpql
from dpql.commands.explain import codes, run
from dpql.pipeline import check_source, plan_source
from grammar.source import Source

ROOT = Path(dpql.__file__).parents[1]
PACKAGES = ("dpql", "executors", "planner", "grammar")
CODE = re.compile(r"DPQL-[EW]\d{3}")
LONGEST = 40


@cache
def said() -> frozenset[str]:
    """The codes that stand in the source of the four packages."""
    found: set[str] = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            found.update(CODE.findall(path.read_text("utf-8")))
    return frozenset(found)


@cache
def page(code: str) -> str:
    return (ROOT / "dpql" / "codes" / f"{code}.md").read_text("utf-8")


def block(text: str, head: str) -> str | None:
    """The indented lines that follow a line of the page."""
    lines = text.split("\n")
    if head not in lines:
        return None
    kept: list[str] = []
    for line in lines[lines.index(head) + 1 :]:
        if line and not line.startswith("    "):
            break
        kept.append(line[4:])
    return "\n".join(kept).strip("\n") + "\n"


def found(text: str) -> set[str]:
    """The codes that `dpql check`, and then `dpql plan`, say of a query."""
    source = Source("q.dpql", text)
    checked = check_source(source)
    findings = checked.diagnostics if checked.plan is None else plan_source(source).diagnostics
    return {finding.code for finding in findings}


PAGES = codes()
REFUSED = [code for code in PAGES if block(page(code), "Refused:")]
INSTEAD = [code for code in PAGES if block(page(code), "Type instead:")]


def test_every_code_has_a_page():
    assert said() - set(PAGES) == set()


def test_every_page_has_a_code():
    assert set(PAGES) - said() == set()


@pytest.mark.parametrize("code", PAGES)
def test_a_page_has_a_title_an_example_and_a_way_out(code):
    text = page(code)
    first, *rest = text.split("\n")
    assert re.fullmatch(rf"# {code}: \S.*[^.]", first)
    assert rest[0] == ""
    assert "\n    " in text or "`" in text
    assert max(len(line) for line in rest) <= 110
    assert 8 <= len(rest) <= LONGEST


@pytest.mark.parametrize("code", PAGES)
def test_explain_prints_the_page(code, capsys):
    for word in (code, code.removeprefix("DPQL-"), code.lower()):
        assert run(word, None) == 0
        assert capsys.readouterr().out.startswith(page(code))


@pytest.mark.parametrize("code", [code for code in REFUSED if code != "DPQL-E074"])
def test_what_a_page_shows_as_refused_is_refused_with_its_code(code):
    text = block(page(code), "Refused:")
    assert text is not None
    assert code in found(text)


@pytest.mark.parametrize("code", INSTEAD)
def test_what_a_page_says_to_type_has_no_finding(code):
    text = block(page(code), "Type instead:")
    assert text is not None
    assert found(text) == set()


@pytest.mark.parametrize("word", ["auto", "AUTO", "rho", "budget"])
def test_a_word_of_costs_shows_all_costs(word, capsys):
    assert run(word, None) == 0
    page = capsys.readouterr().out
    assert "the least that meets every EXPECT" in page
    assert "n%" in page


def test_a_method_offers_auto_only_with_a_metric_to_expect(capsys):
    assert run("ssp", None) == 0
    assert "`auto`" in capsys.readouterr().out
    assert run("diagonal", None) == 0
    assert "`auto`" not in capsys.readouterr().out.split("Options:")[0]


def test_an_unknown_code_is_said_to_be_unknown(capsys):
    assert run("E999", None) == 1
    said = capsys.readouterr().err
    assert "nothing is known of `E999`" in said
    assert "a code (`E071`)" in said
