"""A plan whose certificate holds, but whose noise is not what its declarations lead to."""

from __future__ import annotations

import copy
import json

import pytest

import dpql
from dpql import checker
from dpql.derivation import require
from dpql.errors import PlanRefused
from executors.registry import REGISTRY
from planner.calculus.exact import number, text
from planner.calculus.leaves import Leaf
from planner.certificate import certify
from planner.decode import decode
from planner.encode import canonical, plan_hash

QUERIES = {
    "ssp": """
        DATASET a ROWS 400 UNIT id MAX 3 COLUMNS (x REAL IN [0, 9], y REAL IN [0, 5])
        COVARIANCE ssp mu=0.5 AS r""",
    "diagonal": """
        DATASET a ROWS 400 COLUMNS (x REAL IN [0, 9], y REAL IN [0, 5]) BUDGET eps=2, delta=1e-6
        COVARIANCE diagonal 50% AS r""",
    "search": """
        DATASET a ROWS 400 COLUMNS (x REAL IN [0, 9], y REAL IN [0, 5])
        COVARIANCE adaptive rho=0.5 AS r""",
    "cox": """
        DATASET a ROWS 400 COLUMNS (t DURATION IN [0, 9], e EVENT, y REAL IN [0, 5])
        TEST cox beta=[0] VS [0.3] rho=0.2 AS r""",
    "peel": """
        DATASET a ROWS 400 COLUMNS (l LOG_EVALUE SENSITIVITY 0.1 ASSERTED_BY 'J. Doe')
        PEEL evalues size=5 mu=2 AS r""",
    "adaptive": """
        DATASET a ROWS 400 COLUMNS (l LOG_EVALUE SENSITIVITY 0.1 ASSERTED_BY 'J. Doe')
        PEEL evalues ADAPTIVE rho=2 AS r""",
}


def body_of(name: str) -> dict:
    return json.loads(json.dumps(dpql.plan(QUERIES[name]).json()["body"]))


@pytest.mark.parametrize("name", QUERIES)
def test_a_plan_as_it_was_made_is_accepted(name):
    require(decode(body_of(name), REGISTRY))


def test_a_sensitivity_that_was_made_smaller_is_refused_though_its_certificate_holds():
    body = body_of("ssp")
    leaf = body["statements"][0]["leaves"][0]
    scale = number(leaf["scale"]) // 1000 + 1
    made = Leaf.dgauss(number(leaf["sensitivity"]) / 1000, scale)
    leaf |= {
        "sensitivity": text(made.sensitivity),
        "scale": text(made.scale),
        "params": {"mu": text(made.param)},
    }
    reserved = {"key": "a", "dataset": "a", "site": None, "unit": "mu2", "amount": "0.25"}
    certificate = certify(body, plan_hash(body), [reserved])
    checker.check(certificate, canonical(body), [reserved])
    with pytest.raises(PlanRefused, match="does not follow from its declarations"):
        require(decode(body, REGISTRY))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cox", lambda body: body["datasets"][0].update(rows=4000)),
        ("ssp", lambda body: body["datasets"][0]["unit"].update(max=4)),
        ("ssp", lambda body: body["statements"][0]["params"].update(weights="frob")),
        ("ssp", lambda body: body["statements"][0]["cost"][0].update(declared={"mu": "0.4"})),
        ("cox", lambda body: body["datasets"][0]["columns"][2].update(hi="50")),
        ("cox", lambda body: body["datasets"][0]["unit"].update(column="id", max=2)),
        ("cox", lambda body: body["statements"][0]["params"].update(shrink="auto")),
        ("peel", lambda body: body["datasets"][0]["columns"][0].update(sensitivity="0.2")),
        ("peel", lambda body: body["statements"][0]["leaves"].reverse()),
        ("search", lambda body: body["statements"][0]["leaves"].reverse()),
        ("search", lambda body: body["statements"][0]["leaves"][1].update(width=8)),
        ("adaptive", lambda body: body["statements"][0]["leaves"][0].update(of=["dgauss"])),
    ],
)
def test_a_change_of_any_declaration_behind_the_noise_is_refused(name, change):
    body = body_of(name)
    before = copy.deepcopy(body)
    change(body)
    assert body != before
    with pytest.raises(PlanRefused):
        require(decode(body, REGISTRY))
