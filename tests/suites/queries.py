"""Small query files that several test files share."""

from __future__ import annotations

from executors.registry import REGISTRY
from grammar.diagnostics import Diagnostic
from grammar.parser import parse
from grammar.source import Source
from planner.bind.script import bind
from planner.bound import BoundPlan
from planner.check import check
from planner.checked import CheckedPlan

ROSSI = """\
DATASET rossi
  ROWS 432
  COLUMNS (
    week   DURATION IN [0, 52],
    arrest EVENT,
    fin    BOOLEAN,
    age    REAL IN [16, 60],
    prio   REAL IN [0, 20]
  )
  BUDGET mu=2.5

LET b0 = [0, 0, 0]
LET b1 = [-0.4, -0.03, 0.09]

"""
EVALUES = """\
DATASET hits
  ROWS 40
  COLUMNS (gene ID, log_e LOG_EVALUE SENSITIVITY 0.3 ASSERTED_BY 'the laboratory')

"""


def survey(budget: str = "", rows: int = 1000, more: str = "") -> str:
    """A dataset `s` of two bounded columns with the given clauses."""
    money = f" BUDGET {budget}" if budget else ""
    return f"DATASET s ROWS {rows}{more} COLUMNS (x REAL IN [0, 1], y REAL IN [-1, 1]){money}\n"


def bound(text: str) -> tuple[BoundPlan, tuple[Diagnostic, ...]]:
    """The bound plan of a text with the findings of parser and binder."""
    script, said = parse(Source("t.dpql", text))
    plan, more = bind(script, REGISTRY)
    return plan, said + more


def findings(text: str) -> tuple[Diagnostic, ...]:
    """All findings of `dpql check`."""
    plan, said = bound(text)
    if any(one.severity == "error" for one in said):
        return said
    return said + check(plan)[1]


def checked(text: str) -> CheckedPlan:
    """The checked plan of a text without errors."""
    plan, said = bound(text)
    result, more = check(plan)
    wrong = [one for one in said + more if one.severity == "error"]
    assert wrong == []
    return result


def errors(text: str) -> list[tuple[str, str]]:
    """Code and message of every error of `dpql check`."""
    return [(one.code, one.message) for one in findings(text) if one.severity == "error"]
