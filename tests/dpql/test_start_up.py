"""What is loaded when: a call loads what it needs, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpql.start import plain_check
from suites.studies import query

HEAVY = ("numpy", "scipy", "networkx", "pyarrow", "duckdb", "opendp", "sqlalchemy", "cryptography")


def loaded(*arguments: str, folder: Path) -> set[str]:
    """The top modules that are loaded at the end of a call."""
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\nMODULES', *{m.split('.')[0] for m in sys.modules}))\n"
        f"sys.argv = ['dpql', *{list(arguments)!r}]\n"
        "from dpql.start import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=900
    )
    return set(done.stdout.rsplit("MODULES", 1)[1].split())


def test_help_loads_next_to_nothing(tmp_path: Path) -> None:
    modules = loaded("--help", folder=tmp_path)
    assert not modules & {*HEAVY, "lark", "pydantic", "flint", "rich"}


def test_check_loads_no_library_that_reads_rows(tmp_path: Path) -> None:
    (tmp_path / "t.dpql").write_text(query())
    modules = loaded("check", "t.dpql", folder=tmp_path)
    assert not modules & {*HEAVY, "rich"}


def test_check_of_what_is_derived_loads_no_numerics(tmp_path: Path) -> None:
    (tmp_path / "t.dpql").write_text(
        "DATASET t ROWS 500 COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1])\n"
        "COVARIANCE adaptive rho=1 AS s\nDERIVE c = correlation(s)\nDERIVE d = regress(s, y=a)\n"
        "DERIVE e = pca(s)\nDERIVE f = sample(s)\nDERIVE g = heatmap(s)\n"
    )
    assert not loaded("check", "t.dpql", folder=tmp_path) & {*HEAVY, "rich", "matplotlib"}


def test_fmt_loads_no_planner(tmp_path: Path) -> None:
    (tmp_path / "t.dpql").write_text(query())
    modules = loaded("fmt", "--check", "t.dpql", folder=tmp_path)
    assert not modules & {*HEAVY, "flint", "planner", "executors"}


@pytest.mark.parametrize("forbidden", [("pyarrow", "duckdb", "opendp", "sqlalchemy", "networkx")])
def test_plan_loads_nothing_that_reads_rows(tmp_path: Path, forbidden: tuple[str, ...]) -> None:
    (tmp_path / "t.dpql").write_text(query())
    modules = loaded("plan", "t.dpql", folder=tmp_path)
    assert not modules & set(forbidden)


def test_check_loads_only_the_mechanisms_that_the_file_names(tmp_path: Path) -> None:
    (tmp_path / "t.dpql").write_text(
        "DATASET s ROWS 9 COLUMNS (x REAL IN [0, 1]) COVARIANCE ssp rho=1"
    )
    script = (
        "import sys\nsys.argv = ['dpql', 'check', 't.dpql']\nfrom dpql.start import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted(m for m in sys.modules if m.startswith('executors.mechanisms.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=900
    )
    assert "executors.mechanisms.ssp" in done.stdout
    for other in ("cox", "peel", "diagonal"):
        assert f"executors.mechanisms.{other}" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["check", "a.dpql"], ["a.dpql"]),
        (["check", "a.dpql", "-"], ["a.dpql", "-"]),
        (["check"], None),
        (["check", "a.dpql", "--format", "json"], None),
        (["check", "--help"], None),
        (["plan", "a.dpql"], None),
        ([], None),
    ],
)
def test_only_the_plain_check_is_answered_at_once(
    arguments: list[str], files: list[str] | None
) -> None:
    assert plain_check(arguments) == files


def test_the_plain_check_says_what_the_long_way_says(tmp_path: Path) -> None:
    (tmp_path / "t.dpql").write_text(query(cox="eps=0"))
    calls = (["check", "t.dpql"], ["check", "t.dpql", "--format", "text"], ["check", "none.dpql"])
    plain, long, missing = (
        subprocess.run(
            [sys.executable, "-m", "dpql", *call], cwd=tmp_path, capture_output=True, text=True
        )
        for call in calls
    )
    assert (plain.returncode, plain.stdout) == (long.returncode, long.stdout)
    assert plain.returncode == 1
    assert missing.returncode == 3
    assert "DPQL-E092" in missing.stderr
