"""A custodian's policy is held against a plan; a breach names the clause."""

from __future__ import annotations

import pytest

from grammar import tree
from grammar.parser import parse
from grammar.source import Source
from planner.policy import judge_policy
from suites.queries import ROSSI, checked

PLAN = ROSSI + "TEST cox beta=b0 VS b1 eps=1 AS t\nCOVARIANCE ssp COLUMNS (age) mu=0.3 AS s\n"


def judged(clauses: str, text: str = PLAN) -> list[tuple[str, str]]:
    source = Source("p.dpql", f"POLICY rossi {clauses}")
    script, findings = parse(source)
    assert findings == ()
    policies = [one for one in script.statements if isinstance(one, tree.Policy)]
    return [(d.code, d.message) for d in judge_policy(checked(text), policies, source)]


@pytest.mark.parametrize(
    "clauses",
    [
        "CAP mu=1.1",
        "CAP rho=0.5",
        "CAP eps=3, delta=1e-6",
        "CAP mu=0.3 FOR COLUMNS (nothing)",
        "ALLOW (TEST, COVARIANCE ssp)",
        "ALLOW (test COX, covariance)",
        "FORBID COLUMNS (race)",
        "REQUIRE 2 APPROVALS WHEN mu=2",
    ],
)
def test_a_plan_within_the_policy_is_not_complained_of(clauses: str) -> None:
    assert judged(clauses) == []


@pytest.mark.parametrize(
    ("clauses", "code", "message"),
    [
        ("CAP mu=1", "E073", "above the policy's clause `CAP mu=1`"),
        ("CAP rho=0.1", "E073", "the plan spends rho"),
        ("CAP eps=5", "E073", "no finite eps"),
        ("CAP eps=1, delta=1e-6", "E073", "at delta=0.000001"),
        ("CAP mu=0.2 FOR COLUMNS (age)", "E073", "CAP mu=0.2 FOR COLUMNS (age)"),
        ("ALLOW (TEST)", "E073", "does not allow COVARIANCE ssp"),
        ("ALLOW (COVARIANCE diagonal, TEST)", "E073", "does not allow COVARIANCE ssp"),
        ("FORBID COLUMNS (week)", "E073", "forbids column `week`"),
        ("CAP mu=3 PER 30 DAYS", "E074", "cannot judge"),
        ("CAP mu=3 FOR ANALYST 'x'", "E074", "cannot judge"),
        ("REQUIRE 2 APPROVALS", "W230", "wants 2 approvals"),
        ("REQUIRE 2 APPROVALS WHEN mu=1", "W230", "wants 2 approvals"),
    ],
)
def test_a_breach_names_its_clause(clauses: str, code: str, message: str) -> None:
    found = judged(clauses)
    assert len(found) == 1, found
    assert found[0][0] == f"DPQL-{code}"
    assert message in found[0][1]


def test_a_policy_of_another_dataset_does_not_matter() -> None:
    source = Source("p.dpql", "POLICY other CAP mu=0.001")
    script, _ = parse(source)
    policies = [one for one in script.statements if isinstance(one, tree.Policy)]
    assert judge_policy(checked(PLAN), policies, source) == ()


def test_a_column_that_an_option_names_counts_as_read() -> None:
    text = ROSSI + "TEST logrank group=fin eps=1 AS t\n"
    ((code, message),) = judged("FORBID COLUMNS (fin)", text)
    assert code == "DPQL-E073"
    assert "forbids column `fin`" in message
    ((code, _),) = judged("CAP eps=0.5 FOR COLUMNS (fin)", text)
    assert code == "DPQL-E073"
    assert judged("FORBID COLUMNS (age)", text) == []


TWO = (
    "DATASET a ROWS 900 COLUMNS (week DURATION IN [0, 9], died EVENT)\n"
    "DATASET rossi ROWS 900 COLUMNS (month DURATION IN [0, 9], lost EVENT)\n"
    "TEST hazard ON a VS rossi BUDGET mu=1"
)


def test_the_columns_of_the_second_source_are_seen() -> None:
    assert [code for code, _ in judged("FORBID COLUMNS (lost)", TWO)] == ["DPQL-E073"]
    assert judged("FORBID COLUMNS (died)", TWO) == []


@pytest.mark.parametrize(("most", "fits"), [("", True), (" MAX 2", False)])
def test_a_cap_counts_the_sites_that_one_person_may_be_at(most: str, fits: bool) -> None:
    text = (
        f"DATASET rossi ROWS 900 SITES (x ROWS 400, y ROWS 500){most} "
        "COLUMNS (week DURATION IN [0, 9], died EVENT)\n"
        "TEST hazard ON x VS y BUDGET mu=0.3 AT x AND mu=0.3 AT y"
    )
    for cap in ("mu=0.4", "eps=1.5, delta=1e-5"):
        assert (judged(f"CAP {cap}", text) == []) == fits


def test_a_cap_holds_a_statement_that_declares_just_its_pair() -> None:
    text = ROSSI.replace("BUDGET mu=2.5", "") + "TEST cox beta=b0 VS b1 eps=1, delta=1e-6\n"
    assert judged("CAP eps=1, delta=1e-6", text) == []
    assert judged("CAP eps=1, delta=0.0000009", text) != []
