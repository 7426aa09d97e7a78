"""Everything that the docs show is true: queries check, commands run, pages are current."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

import dpql
import dpql.ledger
from dpql.api import RunResult
from dpql.cli import app
from dpql.documentation import PAGE, page
from dpql.pipeline import plan_source
from grammar import tree
from grammar.parser import parse
from grammar.render import render_text
from grammar.source import Source

DOCS = Path(dpql.__file__).parents[1] / "docs"
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: where, in which language, marked how, what."""

    page: str
    number: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def blocks(*languages: str) -> list[Block]:
    found = []
    for path in sorted(DOCS.glob("*.md")):
        for number, match in enumerate(FENCE.finditer(path.read_text("utf-8"))):
            block = Block(path.stem, number, match[1], match[2].strip(), match[3])
            if block.language in languages:
                found.append(block)
    return found


def environment() -> dict[str, str]:
    here = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def test_no_block_is_left_untried():
    languages = {block.language for block in blocks("dpql", "sh", "python", "text", "json")}
    assert languages <= {"dpql", "sh", "python"}
    assert {block.page for block in blocks("sh")} == {"tutorial"}


def test_the_policy_in_the_docs_is_one():
    (block,) = [block for block in blocks("dpql") if block.mark == "policy"]
    script, findings = parse(Source("rules.dpql", block.text))
    assert findings == ()
    assert [type(one) for one in script.statements] == [tree.Policy]


QUERIES = [block for block in blocks("dpql") if block.mark != "policy"]


@pytest.mark.parametrize("block", QUERIES, ids=str)
def test_a_query_in_the_docs_is_what_it_is_said_to_be(block):
    codes = [finding.code for finding in plan_source(Source("docs.dpql", block.text)).diagnostics]
    assert codes == ([block.mark.removeprefix("refused=")] if block.mark else [])


def test_the_tutorial_runs(tmp_path):
    for block in blocks("sh"):
        done = subprocess.run(
            ["bash", "-c", f"set -e\n{block.text}"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        said = f"{block}\n{block.text}\n{done.stdout}\n{done.stderr}"
        assert (done.returncode != 0) == (block.mark == "fails"), said
        assert "Traceback" not in done.stderr
        if block.mark == "fails":
            assert "error[DPQL-" in done.stdout + done.stderr
    assert (tmp_path / "sheet.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "results" / "releases" / "spread.json").exists()


def test_the_readme_shows_the_query_and_the_refusal_of_the_example():
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    query, refusal = re.findall(r"^```\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[:2]
    example = (DOCS.parent / "examples/recidivism/recidivism.dpql").read_text("utf-8")
    assert {line for line in query.splitlines()[1:] if line} <= {*example.splitlines()}
    hungry = Source("hungry.dpql", example.replace("BUDGET eps=2", "BUDGET eps=4"))
    assert render_text([(hungry, plan_source(hungry).diagnostics)]).startswith(refusal)


@pytest.mark.parametrize("name", sorted({block.page for block in blocks("python")}))
def test_python_in_the_docs_runs(name, tmp_path):
    text = "\n".join(block.text for block in blocks("python") if block.page == name)
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_page_of_methods_is_current():
    assert PAGE.read_text("utf-8") == page(), "run `python -m dpql.documentation`"


def commands() -> dict[str, set[str]]:
    """Every command with its long options, as the command line has them."""
    found: dict[str, set[str]] = {}

    def walk(group, name: str) -> None:
        for word, command in group.commands.items():
            if hasattr(command, "commands"):
                walk(command, f"{name} {word}")
            else:
                found[f"{name} {word}"] = {
                    option
                    for parameter in command.params
                    for option in parameter.opts
                    if option.startswith("--")
                }

    walk(typer.main.get_command(app), "dpql")
    return found


def test_every_command_and_option_is_described():
    text = (DOCS / "command-line.md").read_text("utf-8")
    known = commands()
    for command, options in known.items():
        assert f"`{command}" in text, command
        for option in options:
            assert option in text, (command, option)
    described = set(re.findall(r"`(dpql(?: [a-z]+)+)", text))
    assert described <= set(known)
    every = set().union(*known.values()) | {"--help", "--version"}
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= every


def test_every_command_that_is_named_exists():
    known = commands()
    groups = {name.split()[1] for name in known if name.count(" ") == 2}
    root = DOCS.parent
    pages = [*DOCS.glob("*.md"), *root.glob("*.md"), *root.glob("dpql/codes/*.md")]
    for package in ("dpql", "executors", "planner", "grammar"):
        pages += (root / package).rglob("*.py")
    for path in pages:
        for line in re.findall(
            r"(?:(?<!`)`|^ *\$? *)dpql ([a-z ]+)", path.read_text("utf-8"), re.MULTILINE
        ):
            words = line.split()
            name = " ".join(words[: 2 if words[0] in groups else 1])
            assert f"dpql {name}" in known or name in groups, (path.name, line)


PYTHON = (DOCS / "python.md").read_text("utf-8")
RESULTS = {
    "check": dpql.check(""),
    "plan": dpql.plan(""),
    "allocate": dpql.allocate(""),
    "run": RunResult({}, "", "", True, None),
}


def said(text: str) -> set[str]:
    """Every word in the inline code of a text."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", code)}


@pytest.mark.parametrize("name", dpql.__all__)
def test_every_call_is_described_with_all_that_it_takes(name):
    call = dpql.Ledger.connect if name == "Ledger" else getattr(dpql, name)
    (row,) = re.findall(rf"^\| `dpql\.{name}\b[^`]*` \|.*$", PYTHON, re.M)
    shown = [word.split("=")[0] for word in re.findall(r"\(([^)]*)\)", row)[0].split(", ")]
    parameters = list(inspect.signature(call).parameters)
    assert [word for word in shown if word != "..."] == parameters[: len(shown) - ("..." in shown)]
    assert set(parameters) - {"clock"} <= said(PYTHON)
    if name in RESULTS:
        public = {word for word in dir(RESULTS[name]) if not word.startswith("_")}
        assert public - {"checked", "planned", "source"} <= said(PYTHON)


def test_no_call_is_described_that_is_not_there():
    assert set(re.findall(r"`dpql\.([a-zA-Z_]+)\(", PYTHON)) <= set(dpql.__all__)


def test_every_method_of_a_ledger_is_described():
    methods = {name for name in dir(dpql.Ledger) if not name.startswith("_")}
    assert methods <= said(PYTHON)
    assert set(dpql.ledger.__all__) <= said(PYTHON)


def test_links_between_pages_lead_somewhere():
    for path in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
            assert (DOCS / target).exists(), (path.name, target)
