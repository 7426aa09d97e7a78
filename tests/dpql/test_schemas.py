"""What dpql prints and keeps is what its published schemas say."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError
from pydantic import TypeAdapter

import dpql
from dpql.cli import app
from dpql.schemas.build import SCHEMAS, built

QUERY = """
STUDY title = 'Ages'
DATASET people ROWS 200 UNIT id MAX 2
  COLUMNS (week DURATION IN [0, 52], arrest EVENT, age REAL IN [16, 60], prio REAL IN [0, 20])
  NORM (age, prio) <= 30 CENTER [38, 10]
  BUDGET eps=9, delta=1e-6
COVARIANCE ssp COLUMNS (age, prio) mu=0.3 AS sigma
COVARIANCE diagonal COLUMNS (age) 20% AS spread
EXPECT sigma.precision >= 1e-3
"""
COX = """
DATASET people ROWS 200
  COLUMNS (week DURATION IN [0, 52], arrest EVENT, age REAL IN [16, 60])
  BUDGET mu=2
TEST cox beta=[0] VS [0.05] eps=0.5 AS effect
"""
HITS = """
DATASET hits ROWS 60 COLUMNS (snp ID, e LOG_EVALUE SENSITIVITY 0.1 ASSERTED_BY 'J. Doe')
PEEL evalues size=5 mu=1 AS found
DERIVE more = ebh(found, level=0.1)
"""
QUERIES = (QUERY, COX, HITS)


def schema(name: str) -> Draft202012Validator:
    content = json.loads((files("dpql") / "schemas" / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def holds(name: str, content: object) -> None:
    """The content satisfies the shipped schema and the model behind it."""
    plain = json.loads(json.dumps(content, allow_nan=False))
    schema(name).validate(plain)
    TypeAdapter(SCHEMAS[name][0]).validate_json(json.dumps(plain))


def call(*words: object) -> int:
    try:
        app([str(word) for word in words], standalone_mode=False)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_shipped_schema_is_a_fresh_build(name):
    assert (files("dpql") / "schemas" / f"{name}.json").read_text("utf-8") == built(name)


@pytest.mark.parametrize("text", [*QUERIES, "DATASET a ROWS 0", "TEST cox", "x", ""])
def test_findings_and_plans(text, capsys, tmp_path):
    query = tmp_path / "q.dpql"
    query.write_text(text)
    holds("check", dpql.check(text).json())
    holds("plan", dpql.plan(text).json())
    app(["check", str(query), "--format", "json"], standalone_mode=False)
    holds("check", json.loads(capsys.readouterr().out))
    app(["plan", str(query), "--format", "json"], standalone_mode=False)
    holds("plan", json.loads(capsys.readouterr().out))
    holds("allocation", dpql.allocate(text).json())


@pytest.mark.parametrize("text", QUERIES)
def test_certificates_and_mock_releases(text, tmp_path):
    made = dpql.plan(text)
    holds("certificate", made.json()["certificate"])
    done = dpql.run(made, mock=True, out=tmp_path / "out")
    for release in done.releases.values():
        assert release["mock"] is True
        assert release["plan_hash"].startswith("mock:")
        holds("release", release)
    holds("plan", json.loads((tmp_path / "out" / "plan.json").read_text()))
    holds("certificate", json.loads((tmp_path / "out" / "certificate.json").read_text()))
    names = {path.stem for path in (tmp_path / "out" / "releases").glob("*.json")}
    assert names == set(done.releases)


def test_approvals_releases_and_the_exported_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.dpql").write_text(COX)
    lines = "\n".join(f"{i % 50},{i % 2},{20 + i % 30}" for i in range(200))
    Path("people.csv").write_text(f"week,arrest,age\n{lines}\n")
    assert call("plan", "q.dpql", "-o", "plan.json") == 0
    assert call("key", "new", "ann.pem") == 0
    public = Path("ann.pem.pub").read_text().strip()
    call(
        *("ledger", "open", "people", "--ledger", "l.db", "--rows", 200, "--cap", "mu=2"),
        *("--data", "people.csv", "--require-approvals", 1, "--reviewer", f"ann={public}"),
    )
    call("approve", "plan.json", "--key", "ann.pem", "--as", "ann", "-o", "ann.json")
    holds("approval", json.loads(Path("ann.json").read_text()))
    call(
        *("run", "plan.json", "--data", "people=people.csv", "--ledger", "l.db"),
        *("--approval", "ann.json", "--out", "out"),
    )
    holds("release", json.loads(Path("out/releases/effect.json").read_text()))
    call("ledger", "export", "--ledger", "l.db", "-o", "export.json")
    exported = json.loads(Path("export.json").read_text())
    assert len(exported["entries"]) == exported["head"]["seq"] == 6
    holds("ledger", exported)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("body", "datasets", 0, "extra"), 1),
        (("body", "datasets", 0, "rows"), "200"),
        (("body", "datasets", 0, "relation"), "add_remove"),
        (("body", "statements", 0, "leaves", 0, "scale"), 1.5),
        (("body", "statements", 0, "cost", 0, "declared"), {"eps": "1", "rho": "1"}),
        (("certificate", "totals", 0, "out"), {"rho": "-1"}),
        (("plan_hash",), "mock:" + "0" * 64),
        (("datasets", 0, "total", "mu"), "1e3"),
        (("surprise",), None),
    ],
)
def test_a_plan_of_another_shape_is_refused(path, value):
    content = copy.deepcopy(dpql.plan(COX).json())
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValidationError):
        schema("plan").validate(json.loads(json.dumps(content)))
