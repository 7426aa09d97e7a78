"""What a person types by mistake on the command line is answered with what to type."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import dpql
import dpql.errors
from dpql.cli import app
from dpql.failing import guarded

QUERY = """
DATASET people ROWS 10 COLUMNS (age REAL IN [0, 100], income REAL IN [0, 200])
COVARIANCE ssp mu=1 AS spread
"""
OPEN = ["ledger", "open", "people", "--ledger", "l.db", "--cap", "mu=1.23456789012345"]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A command's exit status with what it says, in a folder with a query, a plan and keys."""
    monkeypatch.chdir(tmp_path)
    Path("q.dpql").write_text(QUERY)

    def run(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = guarded(lambda: app(list(arguments)))
        said = capsys.readouterr()
        return code, said.out + said.err

    for made in (["plan", "q.dpql", "-o", "plan.json"], ["key", "new", "ann.pem"]):
        assert run(*made)[0] == 0
    assert run(*OPEN, "--rows", "10", "--data", "none.csv")[0] == 0
    return run


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ("run plan.json --ledger l.db --data a.csv", 2, "write `--data NAME=a.csv`"),
        ("run plan.json --ledger l.db --approval ann.pem", 2, "`dpql approve PLAN --key FILE"),
        ("certificate verify q.dpql", 2, "`dpql plan FILE -o plan.json` writes one"),
        ("certificate verify plan.json plan.json", 2, "`plan.json` holds no certificate"),
        ("ledger verify --ledger l.db --head plan.json", 2, "`dpql ledger export` writes one"),
        ("approve plan.json --key ann.pem.pub", 1, "is the public half of a key"),
        ("ledger open b --ledger l.db --cap mu=1 --rows -5", 3, "`rows` should be"),
        ("ledger open b --ledger none/l.db --cap mu=1 --rows 5", 3, "its folder must be there"),
        ("ledger open b --ledger l.db --cap mu=1 --rows 5 --data no.csv", 0, "no file at file://"),
        ("plan q.dpql -o q.dpql/plan.json", 2, "write to another place"),
    ],
)
def test_a_slip_is_answered_with_what_to_type(told, typed: str, status: int, said: str) -> None:
    code, text = told(*typed.split())
    assert code == status
    assert said in text


def test_a_plan_that_cannot_be_written_says_nothing_of_a_run(told) -> None:
    assert "released" not in told("plan", "q.dpql", "-o", "q.dpql/plan.json")[1]
    assert "is stored in its ledger" in told("run", "plan.json", "--mock", "--out", "q.dpql/x")[1]


def test_a_balance_is_short_and_rounded_down_and_what_is_spent_up(told) -> None:
    text = told("ledger", "show", "--ledger", "l.db")[1]
    assert "cap        mu=1.23456789\n" in text or "cap        mu=1.23456789012345\n" in text
    assert "remaining  mu=1.23456789\n" in text


@pytest.mark.parametrize("call", [dpql.check, dpql.plan, dpql.parse, dpql.allocate])
@pytest.mark.parametrize("given", ["none.dpql", Path("none.dpql"), Path(), 5, None])
def test_python_is_told_in_one_kind_of_error(call, given) -> None:
    with pytest.raises(dpql.errors.DpqlError):
        call(given)


def test_results_are_short_where_a_console_shows_them() -> None:
    plan = dpql.plan(QUERY)
    shown = [repr(dpql.check(QUERY)), repr(plan), repr(dpql.run(plan, mock=True))]
    assert plan.hash in shown[1]
    assert "spread" in shown[2]
    assert max(map(len, shown)) < 100


def test_a_plan_is_known_by_its_content(told, monkeypatch: pytest.MonkeyPatch) -> None:
    """From standard input or under another name; JSON that is none is refused in one message."""
    text = Path("plan.json").read_bytes()
    Path("plan.txt").write_bytes(text)
    Path("other.txt").write_text('{"a": [1, 2}')
    for given in (text, QUERY.encode()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code, said = told("run", "-", "--mock")
        assert code == 0
        assert "spread: COVARIANCE ssp" in said
    assert told("run", "plan.txt", "--mock")[0] == 0
    assert told("report", "other.txt") == (2, "error[DPQL-E094]: `other.txt` is not a plan file\n")


def test_a_file_that_is_no_query_is_not_answered_line_by_line(told) -> None:
    Path("rows.csv").write_text("DATASET a, 1\n" * 300)
    code, said = told("check", "rows.csv")
    assert code == 1
    assert said.count("error[") == 20
    assert "more findings in rows.csv: mend these first" in said


def test_help_is_found_as_people_ask_for_it(told) -> None:
    assert told("-h") == told("--help")
    assert told("plan", "-h") == told("plan", "--help")
