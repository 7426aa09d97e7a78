"""Every example is laid out, clean, planned, and runs to its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpql.api import plan
from grammar.encoding import read
from grammar.printer import format_source

EXAMPLES = Path(__file__).parents[2] / "examples"
QUERIES = sorted(EXAMPLES.glob("*/*.dpql"))
SCRIPTS = sorted(EXAMPLES.glob("*/*.py"))


def test_there_are_examples() -> None:
    assert len(QUERIES) >= 3
    assert len(SCRIPTS) >= 3


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_is_laid_out_and_planned(path: Path) -> None:
    source, finding = read(str(path), path.read_bytes())
    assert finding is None
    text, findings = format_source(source)
    assert findings == ()
    assert text == source.text
    made = plan(path)
    assert made.diagnostics == ()
    assert len(made.hash) == 64


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.parent.name)
def test_a_script_runs_to_its_end(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "no row was read to make this plan" in done.stdout
