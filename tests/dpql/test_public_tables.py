"""`prior=NAME`: a public covariance, read when the plan is made, simulated, hashed."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dpql.api import check, plan, run
from dpql.cli import app
from dpql.commands.ledger import cost_of
from dpql.errors import PlanRefused, UsageError
from dpql.ledger import Ledger
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.opening import compile_cap
from dpql.plan_file import read_plan
from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import forecast, resolve
from planner.calculus.cost import Cost
from planner.facts import Facts, PublicTable
from suites.covariance_tables import facts_of, loss_of
from suites.pace_runs import released

DECLARED = """\
DATASET survey
  ROWS 400
  COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1], c REAL IN [0, 2])
"""
STATEMENT = "COVARIANCE pace prior=earlier strategy=entries rho=0.1 AS s\n"
MATRIX = {"c": [0.1, 0.02, 0.01], "a": [0.02, 0.03, 0.015], "b": [0.01, 0.015, 0.02]}


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    place = tmp_path / "earlier.csv"
    place.write_text("c,a,b\n0.1,0.02,0.01\n0.02,0.03,0.015\n0.01,0.015,0.02\n")
    return place


def test_a_check_does_not_ask_for_the_table() -> None:
    assert check(DECLARED + STATEMENT).diagnostics == ()


def test_a_plan_without_the_table_is_refused_at_the_option() -> None:
    made = plan(DECLARED + STATEMENT)
    (found,) = made.diagnostics
    assert found.code == "DPQL-E159"
    assert "--data earlier=" in found.help
    assert found.span is not None
    assert (DECLARED + STATEMENT)[found.span.start : found.span.end] == "prior=earlier"


def test_the_plan_has_the_metric_and_the_hash_of_the_file(earlier: Path) -> None:
    text = DECLARED + STATEMENT + "EXPECT s.precision >= 1\n"
    made = plan(text, {"earlier": str(earlier)})
    assert made.ok, str(made)
    assert made.planned.plan is not None
    (statement,) = made.planned.plan.body["statements"]
    assert statement["params"]["prior"] == "earlier"
    digest = hashlib.sha256(earlier.read_bytes()).hexdigest()
    assert statement["params"]["prior_sha256"] == digest
    (planned,) = made.planned.plan.measurements
    shown = planned.forecast
    assert shown["precision"] == pytest.approx(1 / shown["error_median"], rel=1e-2)
    assert shown["error_low"] < shown["error_median"] < shown["error_high"]
    assert plan(text, {"earlier": str(earlier)}).hash == made.hash


def test_another_matrix_is_another_plan(earlier: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(earlier.read_text().replace("0.1,", "0.11,"))
    text = DECLARED + STATEMENT
    assert plan(text, {"earlier": str(earlier)}).hash != plan(text, {"earlier": str(other)}).hash


def test_parquet_and_another_order_of_columns_give_the_same_forecast(
    earlier: Path, tmp_path: Path
) -> None:
    order = ["a", "b", "c"]
    full = np.array([MATRIX[name] for name in MATRIX])
    names = list(MATRIX)
    places = [names.index(name) for name in order]
    table = pa.table({name: full[np.ix_(places, places)][:, j] for j, name in enumerate(order)})
    other = tmp_path / "earlier.parquet"
    pq.write_table(table, other)
    one = plan(DECLARED + STATEMENT, {"earlier": str(earlier)}).planned.plan
    two = plan(DECLARED + STATEMENT, {"earlier": str(other)}).planned.plan
    assert one is not None
    assert two is not None
    assert one.measurements[0].forecast == two.measurements[0].forecast


def test_an_expectation_that_the_simulation_misses_is_an_error(earlier: Path) -> None:
    made = plan(DECLARED + STATEMENT + "EXPECT s.precision >= 1000\n", {"earlier": str(earlier)})
    assert not made.ok
    assert made.diagnostics[-1].code == "DPQL-E072"


def test_an_expectation_without_a_prior_cannot_be_judged() -> None:
    made = plan(DECLARED + "COVARIANCE pace rho=0.1 AS s\nEXPECT s.precision >= 1\n")
    assert not made.ok


def test_a_dataset_is_no_public_table(tmp_path: Path) -> None:
    text = DECLARED + "COVARIANCE pace prior=survey rho=0.1\n"
    (found,) = plan(text).diagnostics
    assert found.code == "DPQL-E159"
    with pytest.raises(UsageError, match="without the rows"):
        plan(DECLARED + STATEMENT, {"survey": str(tmp_path / "rows.parquet")})
    with pytest.raises(UsageError, match="no statement names"):
        plan(DECLARED + STATEMENT, {"later": "later.csv"})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("a,b\n1,0\n", "one row for each column"),
        ("a,a\n1,0\n0,1\n", "one row for each column"),
        ("a,b\n1,x\n0,1\n", "no number"),
        ("a,b\n1,\n0,1\n", "missing"),
        ("a,b\n1,0.5\n0.4,1\n", "not symmetric"),
        ("a,b\n1,2\n2,1\n", "positive semidefinite"),
        ("a,b\n-1,0\n0,1\n", "positive semidefinite"),
        ("", "neither CSV nor Parquet"),
    ],
)
def test_a_file_that_is_no_covariance_is_refused(content: str, why: str, tmp_path: Path) -> None:
    place = tmp_path / "earlier.csv"
    place.write_text(content)
    with pytest.raises(UsageError, match=why):
        plan(DECLARED + STATEMENT, {"earlier": str(place)})


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        plan(DECLARED + STATEMENT, {"earlier": str(tmp_path / "none.csv")})


def test_other_columns_or_another_hash_are_refused(earlier: Path) -> None:
    fewer = DECLARED + "COVARIANCE pace COLUMNS (a, b) prior=earlier strategy=entries rho=0.1\n"
    found = plan(fewer, {"earlier": str(earlier)}).diagnostics
    assert "DPQL-E159" in [one.code for one in found]
    wrong = DECLARED + "COVARIANCE pace prior=earlier prior_sha256='00' rho=0.1\n"
    found = plan(wrong, {"earlier": str(earlier)}).diagnostics
    assert "DPQL-E159" in [one.code for one in found]
    alone = check(DECLARED + "COVARIANCE pace prior_sha256='00' rho=0.1\n").diagnostics
    assert [one.code for one in alone] == ["DPQL-E159"]


def test_the_plan_file_runs_without_the_table_and_the_query_does_not(
    earlier: Path, tmp_path: Path
) -> None:
    query = tmp_path / "q.dpql"
    query.write_text(DECLARED + STATEMENT)
    written = tmp_path / "plan.json"
    words = ["plan", str(query), "--data", f"earlier={earlier}", "-o", str(written)]
    assert CliRunner().invoke(app, words).exit_code == 0
    earlier.unlink()
    with pytest.raises(PlanRefused, match="not bound"):
        read_plan(query)
    rng = np.random.default_rng(1)
    place = tmp_path / "survey.parquet"
    pq.write_table(pa.table({name: rng.random(400) for name in "abc"}), place)
    ledger = Ledger.connect(str(tmp_path / "ledger.db"), create=True)
    facts = TableFacts(dataset="survey", rows=400, data=(str(place),))
    ledger.open_key(KeyFacts(tables=(facts,), cap=compile_cap(cost_of("rho=1"))))
    done = run(read_plan(written), {"survey": str(place)}, ledger)
    assert list(done.releases) == ["s"]
    ledger.close()


def test_the_simulated_error_is_that_of_real_runs_on_such_data() -> None:
    """Rows drawn from the prior by other seeds, released with other noise."""
    rng = np.random.default_rng(7)
    d, n = 6, 1500
    loadings = rng.normal(size=(d, 2)) / 4
    prior = loadings @ loadings.T + np.diag(rng.uniform(0.02, 0.06, d))
    names = tuple(f"x{j}" for j in range(d))
    table = PublicTable("p", "00", names, tuple(tuple(float(v) for v in row) for row in prior))
    base = facts_of(n, [(-1, 1)] * d)
    facts = Facts(base.sources, base.columns, (table,))
    for options in ({"strategy": "entries", "center": "midpoint"}, {"strategy": "dense"}):
        cost = Cost("rho", Fraction(1, 10))
        params = resolve(MECHANISM.params(prior="p", **options), facts, cost)
        shown = forecast(params, facts, loss_of(MECHANISM, params, facts, cost))
        errors = []
        for seed in range(20):
            rows = np.clip(rng.multivariate_normal(np.zeros(d), prior, n), -1, 1)
            moved = rows - (0 if "center" in options else rows.mean(axis=0))
            outcome = released(rows, cost, seed, **options)
            errors.append(np.linalg.norm(np.array(outcome.value["matrix"]) - moved.T @ moved / n))
        assert np.median(errors) == pytest.approx(shown["error_median"], rel=0.3)
        assert shown["error_low"] <= np.median(errors) <= shown["error_high"]
