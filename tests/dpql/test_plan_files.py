"""A plan file that was written by hand is refused before anything is signed or charged."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import dpql
from dpql.errors import PlanRefused
from dpql.plan_file import of_mapping, runnable
from planner.encode import plan_hash

QUERY = """
DATASET people ROWS 3000 SITES (north ROWS 1000, south ROWS 2000)
  COLUMNS (age REAL IN [18, 90], income REAL IN [0, 100]) NORM (age) <= 30 CENTER [54] BUDGET mu=3
COVARIANCE ssp ON people mu=0.5 AS spread
DERIVE link = correlation(spread)
EXPECT spread.precision >= 1
"""


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    plan = dpql.plan(QUERY)
    assert plan.ok
    return plan.json()


def changed(made: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The plan with one value of its body replaced, under a hash that is right for it."""
    body = copy.deepcopy(made["body"])
    at = body
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return {**made, "body": body, "plan_hash": plan_hash(body)}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("datasets", 0, "rows"), 2.5),
        (("datasets", 0, "rows"), 3000.0),  # RFC 8785 writes it as 3000, so the hash is the same
        (("datasets", 0, "rows"), "3000"),
        (("datasets", 0, "rows"), 0),
        (("datasets", 0, "relation"), "add_remove"),
        (("datasets", 0, "unit", "max"), True),
        (("datasets", 0, "columns", 0, "type"), "text"),
        (("datasets", 0, "columns", 0, "lo"), "90"),
        (("datasets", 0, "columns", 1, "name"), "age"),
        (("datasets", 0, "norm", "center"), []),
        (("datasets", 0, "norm", "columns"), ["weight"]),
        (("datasets", 0, "sites", "members", 0, "rows"), 999),
        (("datasets", 0, "budget", "mu"), "0"),
        (("datasets", 0, "budget"), {"mu": "1/0"}),
        (("statements", 0, "name"), None),
        (("statements", 0, "name"), ""),
        (("statements", 0, "name"), "a\u202eb"),
        (("statements", 0, "name"), "link"),
        (("statements", 0, "cost"), []),
        (("statements",), []),
        (("derived", 0, "of"), "nothing"),
        (("derived", 0, "function"), "bonferroni"),
        (("expect", 0, "release"), "nothing"),
        (("expect", 0, "metric"), "power"),
        (("expect", 0, "at_least"), "much"),
        (("study",), {"title": []}),
        (("more",), 1),
    ],
)
def test_a_body_that_no_query_leads_to_is_refused(
    made: dict[str, Any], path: tuple[Any, ...], value: Any
) -> None:
    with pytest.raises(PlanRefused):
        runnable(of_mapping(changed(made, path, value), "`plan.json`"))


def test_a_body_that_nests_too_deep_is_refused(made: dict[str, Any]) -> None:
    deep: Any = "1"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(PlanRefused):
        runnable(of_mapping(changed(made, ("statements", 0, "params", "center"), deep), "`x`"))
