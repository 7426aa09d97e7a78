"""The hash keeps what changes nothing, and moves with any change of meaning."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from executors.registry import REGISTRY
from planner.decode import PlanError, decode
from planner.encode import canonical, plan_hash
from planner.plan import plan
from planner.planned import Plan
from suites.queries import ROSSI, checked

TEXT = (
    ROSSI
    + """\
STUDY title = 'A study'
TEST cox beta=b0 VS b1 shrink=0.15 eps=1 AS effect
COVARIANCE ssp COLUMNS (age, prio) mu=0.3 AS sigma
EXPECT effect.power >= 0.1
"""
)


def planned(text: str) -> Plan:
    made, findings = plan(checked(text))
    assert [one for one in findings if one.severity == "error"] == []
    assert made is not None
    return made


@pytest.fixture(scope="module")
def original() -> Plan:
    return planned(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DATASET rossi", "-- a comment\nDATASET rossi /* another */"),
        ("\n", "\r\n"),
        ("  ", "\t"),
        ("DATASET rossi\n  ROWS 432", "dataset rossi rows 432"),
        ("TEST cox", "test COX"),
        ("b0", "null_hypothesis"),
        ("[-0.4, -0.03, 0.09]", "[-4/10, -0.030, 9e-2]"),
        ("eps=1", "BUDGET EPS=1.0"),
        ("eps=1", "rule=finite level=0.05 eps=1"),
        ("ROWS 432\n", "ROWS 432 FROM 'rossi.parquet'\n"),
        ("TEST cox beta=b0 VS b1 shrink=0.15 eps=1", "TEST cox eps=1 shrink=0.15 beta=b0 VS b1"),
        ("mu=0.3 AS sigma", "center=private weights=balanced mu=0.3 AS sigma"),
        ("shrink=0.15 eps", "ON rossi COLUMNS (fin, age, prio) shrink=0.15 eps"),
    ],
)
def test_layout_and_defaults_keep_the_hash(original: Plan, old: str, new: str) -> None:
    assert old in TEXT
    assert planned(TEXT.replace(old, new)).hash == original.hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ROWS 432", "ROWS 433"),
        ("IN [16, 60]", "IN [16, 61]"),
        ("BUDGET mu=2.5", "BUDGET mu=2.6"),
        ("eps=1", "eps=1.000000001"),
        ("eps=1", "eps=1, delta=1e-6"),
        ("0.09]", "0.091]"),
        ("shrink=0.15", "shrink=0.16"),
        ("shrink=0.15", "shrink=0.15 level=0.04"),
        ("shrink=0.15", "shrink=0.15 event_rate=0.4"),
        ("(age, prio)", "(prio, age)"),
        ("AS sigma", "AS sigma2"),
        ("'A study'", "'B study'"),
        (">= 0.1", ">= 0.11"),
        ("rossi", "rosso"),
        ("week ", "weak "),
        ("ROWS 432", "ROWS 432 POPULATION people"),
        ("ROWS 432", "ROWS 432 UNIT person"),
        ("COVARIANCE ssp", "COVARIANCE diagonal"),
        ("AS sigma\n", "AS sigma\nCOVARIANCE diagonal mu=0.01\n"),
        ("STUDY title = 'A study'", "STUDY title = 'A study', purpose = 'p'"),
    ],
)
def test_any_change_of_meaning_moves_the_hash(original: Plan, old: str, new: str) -> None:
    assert old in TEXT
    assert planned(TEXT.replace(old, new)).hash != original.hash


def test_an_auto_is_written_beside_what_it_became(original: Plan) -> None:
    made = planned(TEXT.replace("shrink=0.15 ", ""))
    assert made.body["statements"][0]["params"]["shrink"] == {"auto": "0.15"}
    assert original.body["statements"][0]["params"]["shrink"] == "0.15"


def test_the_body_holds_no_float_and_comes_back_as_it_was(original: Plan) -> None:
    def walk(value: Any) -> None:
        assert not isinstance(value, float)
        if isinstance(value, dict):
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)

    walk(original.body)
    again = json.loads(json.dumps(original.body))
    assert plan_hash(again) == original.hash
    assert (
        canonical(again)
        == json.dumps(again, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    )


def test_a_body_decodes_to_what_was_planned(original: Plan) -> None:
    back = decode(json.loads(json.dumps(original.body)), REGISTRY)
    assert back.hash == original.hash
    for statement, measurement in zip(back.statements, original.measurements, strict=True):
        assert statement.params == measurement.params
        assert statement.loss == measurement.loss
        assert statement.facts == measurement.bound.facts
        assert [cost for _, cost in statement.costs] == [p.cost for p in measurement.prices]


def broken(body: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    content = copy.deepcopy(body)
    place = content
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "dpql/2"),
        (("language",), "2"),
        (("datasets",), ...),
        (("datasets",), 5),
        (("datasets", 0, "rows"), ...),
        (("datasets", 0, "columns", 0, "lo"), "1e5"),
        (("statements", 0, "method"), "cax"),
        (("statements", 0, "version"), 99),
        (("statements", 0, "columns"), ["nobody"]),
        (("statements", 0, "on"), []),
        (("statements", 0, "on", 0, "dataset"), "nobody"),
        (("statements", 0, "params", "level"), "2"),
        (("statements", 0, "params", "level"), 0.05),
        (("statements", 0, "params", "nonsense"), "2"),
        (("statements", 0, "params", "beta"), "2"),
        (("statements", 0, "leaves"), []),
        (("statements", 0, "leaves", 0, "scale"), "-1"),
        (("statements", 0, "leaves", 0, "scale"), "1"),
        (("statements", 0, "leaves", 0, "kind"), "gauzz"),
        (("statements", 0, "cost", 0, "declared"), {"gold": "1"}),
        (("derived",), [{"name": "x", "function": "nothing", "of": "sigma", "params": {}}]),
    ],
)
def test_a_body_that_is_no_plan_is_refused(
    original: Plan, path: tuple[Any, ...], value: Any
) -> None:
    with pytest.raises(PlanError):
        decode(broken(json.loads(json.dumps(original.body)), path, value), REGISTRY)


def test_the_plan_is_a_function_of_the_text() -> None:
    first, second = planned(TEXT), planned(TEXT)
    assert first.body == second.body
    assert first.certificate == second.certificate


def test_an_unmet_expectation_fails_the_plan() -> None:
    made, findings = plan(checked(TEXT.replace(">= 0.1", ">= 0.999")))
    assert [one.code for one in findings if one.severity == "error"] == ["DPQL-E072"]
    assert made is not None


def test_a_cost_of_auto_is_written_beside_what_it_became_and_comes_back() -> None:
    text = TEXT.replace("eps=1", "auto")
    made = planned(text)
    (paid,) = made.body["statements"][0]["cost"]
    assert set(paid["declared"]) == {"auto"}
    (unit,) = paid["declared"]["auto"]
    assert planned(text).hash == made.hash
    back = decode(json.loads(json.dumps(made.body)), REGISTRY)
    assert back.statements[0].costs[0][1] == made.measurements[0].prices[0].cost
    written = text.replace("auto", f"{unit}={paid['declared']['auto'][unit]}")
    assert planned(written).hash != made.hash
    assert planned(written).measurements[0].loss == made.measurements[0].loss
