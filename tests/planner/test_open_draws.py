"""Where the kinds of leaves depend on the amount, `check` leaves other units' budgets to `plan`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.pipeline import check_source, plan_source
from grammar.source import Source
from planner.charges import reservations

DECLARED = """\
DATASET survey ROWS {rows}
  COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1], c REAL IN [0, 1], d REAL IN [0, 1])
  BUDGET {budget}
"""


def source(statement: str, budget: str, rows: int = 500) -> Source:
    return Source("q.dpql", DECLARED.format(rows=rows, budget=budget) + statement + "\n")


def codes(text: Source, planned: bool = False) -> list[tuple[str, str]]:
    said = (plan_source if planned else check_source)(text).diagnostics
    return [(one.code, one.severity.value) for one in said if one.code[5] == "E"]


def test_a_note_says_that_the_verdict_is_left_to_the_plan() -> None:
    text = source("COVARIANCE pace rho=0.1", "mu=3")
    assert codes(text) == [("DPQL-E158", "note")]
    assert check_source(text).ok


def test_in_its_own_unit_there_is_no_doubt() -> None:
    assert codes(source("COVARIANCE pace rho=0.1", "rho=0.1")) == []
    assert codes(source("COVARIANCE pace rho=0.2", "rho=0.1")) == [("DPQL-E071", "error")]


def test_a_written_strategy_leaves_no_doubt() -> None:
    assert codes(source("COVARIANCE pace strategy=dense rho=0.1", "mu=3")) == []
    refused = codes(source("COVARIANCE pace strategy=pilot rho=0.1", "mu=3"))
    assert refused == [("DPQL-E067", "error")]


def test_one_column_leaves_no_doubt() -> None:
    text = source("COVARIANCE pace COLUMNS (a) rho=0.1", "mu=3")
    assert codes(text) == []
    assert codes(text, planned=True) == []


def test_the_plan_refuses_a_filter_in_rho_under_mu() -> None:
    text = source("COVARIANCE pace rho=0.1", "mu=3")
    assert codes(text, planned=True) == [("DPQL-E067", "error")]


def test_the_plan_takes_variances_in_rho_under_mu() -> None:
    text = source("COVARIANCE pace rho=0.1", "mu=3", rows=20)
    made = plan_source(text)
    assert codes(text, planned=True) == []
    assert made.ok
    assert made.plan is not None
    (statement,) = made.plan.body["statements"]
    assert statement["params"]["strategy"] == {"auto": "diagonal"}
    assert [leaf["kind"] for leaf in statement["leaves"]] == ["dgauss"]
    amounts = {one["unit"]: one["amount"] for one in reservations(made.plan.checked)}
    assert amounts["rho"] == "0.1"
    assert float(Fraction(amounts["mu2"])) == pytest.approx(0.2, rel=1e-6)


def test_a_mu_run_fits_a_rho_budget_at_half_its_square() -> None:
    text = source("COVARIANCE pace mu=0.4", "rho=0.081")
    assert codes(text) == [("DPQL-E158", "note")]
    assert codes(text, planned=True) == []
    tight = source("COVARIANCE pace mu=0.4", "rho=0.079")
    assert codes(tight, planned=True) == [("DPQL-E071", "error")]


def test_the_other_statements_are_judged_meanwhile() -> None:
    text = source("COVARIANCE ssp mu=0.5\nCOVARIANCE pace rho=0.1", "mu=0.4")
    assert ("DPQL-E071", "error") in codes(text)
