"""Every cost that the language allows is planned, or refused with a code; nothing overflows."""

from __future__ import annotations

import json
import math

import pytest

from dpql.pipeline import plan_source
from dpql.view import plan_json
from grammar.source import Source
from suites.queries import EVALUES, ROSSI, survey

AMOUNTS = ("1e-12", "1e-7", "0.01", "1", "40", "5e3", "1e6")
DELTAS = ("1e-30", "1e-9", "0.5", "0.999")
TRIAL = """\
DATASET trial ROWS 500
  COLUMNS (t DURATION IN [0, 10], e EVENT, x REAL IN [0, 1], z REAL IN [-1, 2], g BOOLEAN)
"""
METHODS = {
    "cox": ROSSI.replace("  BUDGET mu=2.5\n", "") + "TEST cox beta=b0 VS b1 shrink=0.5 {} AS a\n",
    "score": TRIAL + "TEST score beta=[0, 0] COLUMNS (x, z) radius=0.5 split=0.001 {} AS a\n",
    "logrank": TRIAL + "TEST logrank group=g effect=0.5 split=0.999 {} AS a\n",
    "survival": TRIAL + "RELEASE survival bins=16 {} AS a\n",
    "haar": TRIAL + "RELEASE hazard bins=16 tree=haar {} AS a\n",
    "ssp": survey() + "COVARIANCE ssp {} AS a\n",
    "pace": survey() + "COVARIANCE pace {} AS a\n",
    "search": survey() + "COVARIANCE pace strategy=entries {} AS a\n",
    "diagonal": survey() + "COVARIANCE diagonal {} AS a\n",
    "fixed": EVALUES + "PEEL evalues size=3 {} AS a\n",
    "adaptive": EVALUES + "PEEL evalues ADAPTIVE {} AS a\n",
}


@pytest.mark.parametrize("method", METHODS)
def test_every_allowed_cost_is_planned_or_refused(method: str) -> None:
    costs = [f"{unit}={amount}" for unit in ("eps", "rho", "mu") for amount in AMOUNTS]
    costs += [f"eps={amount}, delta={delta}" for amount in AMOUNTS for delta in DELTAS]
    planned = 0
    for cost in costs:
        made = plan_source(Source("t.dpql", METHODS[method].format(cost)))
        content = plan_json(made)
        json.dumps(content, allow_nan=False)
        if made.plan is None:
            assert any(one.severity == "error" for one in made.diagnostics)
            continue
        planned += 1
        for risk in content["risk"].values():
            assert risk is None or all(0 < rate <= 1 for rate in risk["tpr"].values())
        for leaf in content["statements"][0]["leaves"]:
            assert leaf["scale"] is None or math.isfinite(_number(leaf["scale"]))
    assert planned >= len(costs) // 4


@pytest.mark.parametrize(
    "written",
    [
        "TEST cox beta=[0] VS [1] COLUMNS (x) level=0.99999999999999999999",
        "TEST cox beta=[0] VS [1] COLUMNS (x) level=1e-50 rule=normal",
        "TEST cox beta=[0] VS [1] COLUMNS (x) event_rate=1e-40",
        "TEST cox beta=[0] VS [1] COLUMNS (x) event_rate=0.9999999999999999999999",
        "TEST cox beta=[0] VS [1] COLUMNS (x) spread=1e-50",
        "TEST cox beta=[0] VS [1e-50] COLUMNS (x)",
        "TEST cox beta=[0] VS [599] COLUMNS (x)",
        "TEST score beta=[0] COLUMNS (x) level=0.99999999999999999999 radius=1e50",
        "TEST score beta=[0] COLUMNS (x) spread=1e-50 event_rate=1e-50 radius=1e-50",
        "TEST logrank group=g effect=-1e50 share=1e-50 event_rate=1e-50",
        "RELEASE survival level=1e-50 rate=1e-50 censoring=50 horizon=1e-50",
        "RELEASE hazard level=0.99999999999999999999 floor=1e-50 bins=1",
    ],
)
def test_planning_values_at_the_ends_of_their_ranges_are_planned(written: str) -> None:
    made = plan_source(Source("t.dpql", f"{TRIAL}{written} rho=0.1 AS a\n"))
    assert made.plan is not None, made.diagnostics
    json.dumps(plan_json(made), allow_nan=False)


@pytest.mark.parametrize(
    ("statement", "way_out"),
    [
        (f"{survey()}COVARIANCE ssp mu=900000", "lower the cost"),
        (f"{survey()}COVARIANCE pace strategy=entries mu=900000", "lower the cost"),
        (
            f"{survey()}COVARIANCE pace strategy=entries rounds=1000000000 rho=0.001",
            "fewer `rounds`",
        ),
        (f"{survey()}COVARIANCE adaptive rho=0.000000000001", "raise the cost"),
        (f"{TRIAL}RELEASE survival tree=haar bins=512 eps=0.000000000001", "raise the cost"),
    ],
)
def test_a_refused_cost_says_what_to_type(statement: str, way_out: str) -> None:
    made = plan_source(Source("t.dpql", f"{statement} AS a\n"))
    (found,) = [one for one in made.diagnostics if one.severity == "error"]
    assert found.code == "DPQL-E069"
    assert way_out in found.help


def _number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or "1")
