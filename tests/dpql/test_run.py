"""A run charges first, reads what was approved, and serves what it stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dpql.api import plan, run
from dpql.approvals import new_key, read_private_key, sign
from dpql.errors import (
    ApprovalRefused,
    CertificateRefused,
    DataRefused,
    DpqlError,
    FactsDiffer,
    OverBalance,
    PlanRefused,
    RunFailed,
    UsageError,
    WrongState,
)
from suites.studies import Spy, Study, query, survival_table

TIME, EXPIRY = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"


def approval(study: Study, key: Path, signer: str, **changes: Any) -> dict[str, Any]:
    fields = {
        "plan_hash": study.plan.hash,
        "key_name": "trial",
        "role": "reviewer",
        "signer": signer,
        "time": TIME,
        "expiry": EXPIRY,
        **changes,
    }
    return sign(private_key=read_private_key(key), **fields)


def test_a_run_releases_every_statement_and_charges_once(tmp_path: Path) -> None:
    study = Study(tmp_path)
    done = study.run(out=tmp_path / "out")
    assert list(done.releases) == ["effect", "sigma", "spread"]
    assert not done.mock
    assert done.served is None
    (claim,) = [
        total["out"]["mu2"]
        for total in study.plan.json()["certificate"]["totals"]
        if "mu2" in total["out"]
    ]
    from planner.calculus.exact import number

    assert study.spent == number(claim)
    effect = done["effect"]
    assert effect["kind"] == "release"
    assert effect["plan_hash"] == study.plan.hash
    assert effect["cost"]["eps"] == "1"
    assert set(effect["value"]) >= {"statistic", "p_value", "reject", "level"}
    assert set(done["sigma"]["value"]) >= {"columns", "matrix", "mean", "kind", "measurements"}
    files = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*"))
    assert files == [
        "certificate.json",
        "plan.json",
        "releases/effect.json",
        "releases/sigma.csv",
        "releases/sigma.json",
        "releases/spread.csv",
        "releases/spread.json",
    ]
    stored = json.loads((tmp_path / "out" / "releases" / "effect.json").read_text())
    assert stored["value"] == effect["value"]


def test_the_same_plan_is_served_without_a_charge(tmp_path: Path) -> None:
    study = Study(tmp_path)
    first = study.run()
    spent = study.spent
    again = study.run()
    assert again.served is not None
    assert {n: r["value"] for n, r in again.releases.items()} == {
        n: r["value"] for n, r in first.releases.items()
    }
    assert study.spent == spent


def test_a_plan_file_and_its_query_are_one_plan(tmp_path: Path) -> None:
    study = Study(tmp_path)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(study.plan.json()))
    first = study.run(file)
    query_file = tmp_path / "trial.dpql"
    query_file.write_text("-- another layout\n" + study.text.replace("  ", " "))
    served = study.run(query_file)
    assert served.served is not None
    assert served.rid == first.rid


def test_again_charges_again(tmp_path: Path) -> None:
    study = Study(tmp_path, cap="mu=2")
    first = study.run()
    spent = study.spent
    second = study.run(again=True)
    assert study.spent == 2 * spent
    assert second.served is None
    assert second.rid != first.rid


def test_again_beyond_the_balance_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path, cap="mu=1.2")
    study.run()
    spent = study.spent
    with pytest.raises(OverBalance):
        study.run(again=True)
    assert study.spent == spent


# --- nothing is looked at before it may be ---


def forged(study: Study, change: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(study.plan.json()))
    if change == "digit":
        content["body"]["statements"][0]["params"]["level"] = "0.06"
    if change == "hash":
        content["plan_hash"] = "0" * 64
    if change == "both":
        from planner.encode import plan_hash

        content["body"]["statements"][0]["leaves"][0]["scale"] = "1"
        content["body"]["statements"][0]["leaves"][0]["params"]["eps0"] = "1"
        content["plan_hash"] = plan_hash(content["body"])
    if change == "sensitivity":
        from planner.certificate import certify
        from planner.encode import plan_hash

        leaf = content["body"]["statements"][0]["leaves"][0]
        leaf.update(sensitivity="0.001", scale="0.001", params={"eps0": "1"})
        content["plan_hash"] = plan_hash(content["body"])
        wanted = [
            {"key": "trial", "dataset": "trial", "site": None, "unit": unit, "amount": amount}
            for total in content["certificate"]["totals"]
            for unit, amount in total["out"].items()
        ]
        content["certificate"] = certify(content["body"], content["plan_hash"], wanted)
    if change == "certificate":
        content["certificate"]["totals"] = content["certificate"]["totals"][:1]
    if change == "no certificate":
        content["certificate"] = {}
    if change == "no body":
        content["body"] = None
    return content


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("digit", PlanRefused),
        ("hash", PlanRefused),
        ("both", PlanRefused),
        ("sensitivity", PlanRefused),
        ("certificate", CertificateRefused),
        ("no certificate", CertificateRefused),
        ("no body", PlanRefused),
    ],
)
def test_a_changed_plan_touches_nothing(tmp_path: Path, change: str, error: type) -> None:
    study, spy = Study(tmp_path), Spy()
    with pytest.raises(error):
        study.run(forged(study, change), data={"trial": spy})
    assert spy.touches == []
    assert study.spent == 0


def test_a_query_with_errors_touches_nothing(tmp_path: Path) -> None:
    study, spy = Study(tmp_path), Spy()
    for text in (query(cox="eps=0"), query(budget="mu=0.1"), "TEST", "COVARIANCE pace rho=1"):
        with pytest.raises(PlanRefused):
            study.run(plan(text), data={"trial": spy})
    assert spy.touches == []
    assert study.spent == 0


def test_a_plan_over_the_balance_touches_nothing(tmp_path: Path) -> None:
    study, spy = Study(tmp_path, cap="mu=0.5"), Spy()
    with pytest.raises(OverBalance):
        study.run(data={"trial": spy})
    assert spy.touches == []
    assert study.spent == 0


def test_after_a_refusal_a_smaller_plan_is_served(tmp_path: Path) -> None:
    study = Study(tmp_path, cap="mu=0.5")
    with pytest.raises(OverBalance):
        study.run()
    smaller = plan(query(cox="eps=0.1", ssp="mu=0.1", diagonal="mu=0.1"))
    assert study.run(smaller).releases


@pytest.mark.parametrize(
    "facts",
    [
        {"rows": 201},
        {"unit_column": "person"},
        {"max_rows": 2},
        {"sites": ({"name": "a", "rows": 100}, {"name": "b", "rows": 100})},
    ],
)
def test_a_plan_with_other_facts_than_the_key_touches_nothing(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    from dpql.ledger.facts import SiteFact

    if "sites" in facts:
        facts = {"sites": tuple(SiteFact(**one) for one in facts["sites"])}
    study, spy = Study(tmp_path, facts=facts), Spy()
    with pytest.raises(FactsDiffer):
        study.run(data={"trial": spy})
    assert spy.touches == []
    assert study.spent == 0


def test_data_that_the_key_does_not_guard_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    other = tmp_path / "other.parquet"
    other.write_bytes(study.data.read_bytes())
    with pytest.raises(FactsDiffer):
        study.run(data={"trial": str(other)})
    with pytest.raises(FactsDiffer):
        study.run(data={"trial": survival_table()})
    assert study.spent == 0


def test_a_table_in_memory_is_guarded_by_its_fingerprint(tmp_path: Path) -> None:
    from executors.data.bind import open_source

    table = survival_table()
    study = Study(tmp_path, facts={"data": (open_source(table).location,)})
    assert study.run(data={"trial": table}).releases
    with pytest.raises(FactsDiffer):
        study.run(data={"trial": survival_table(2)}, again=True)


def test_pandas_and_polars_frames_are_the_same_table(tmp_path: Path) -> None:
    import polars

    from executors.data.bind import open_source

    table = survival_table()
    places = {
        open_source(one).location for one in (table, polars.from_arrow(table), table.to_pandas())
    }
    assert len(places) == 1
    study = Study(tmp_path, facts={"data": tuple(places)})
    assert study.run(data={"trial": table.to_pandas()}).releases


# --- approvals ---


def test_only_registered_reviewers_count(tmp_path: Path) -> None:
    public = {n: new_key(tmp_path / f"{n}.pem") for n in ("ann", "bo", "eve", "mallory")}
    study = Study(tmp_path, required=2, reviewers={n: public[n] for n in ("ann", "bo")})
    ann = approval(study, tmp_path / "ann.pem", "ann")
    bo = approval(study, tmp_path / "bo.pem", "bo")
    fakes = [
        approval(study, tmp_path / "eve.pem", "eve"),
        approval(study, tmp_path / "mallory.pem", "bo"),
        {**bo, "signer": "ann"},
        approval(study, tmp_path / "bo.pem", "bo", plan_hash="0" * 64),
        approval(study, tmp_path / "bo.pem", "bo", key_name="other"),
        approval(study, tmp_path / "bo.pem", "bo", expiry="2026-01-02T00:00:00Z"),
    ]
    for signed in ([], [ann], [ann, ann], fakes, [ann, *fakes]):
        spy = Spy()
        with pytest.raises(ApprovalRefused):
            study.run(data={"trial": spy}, approvals=signed)
        assert spy.touches == []
    assert study.spent == 0
    assert study.run(approvals=[ann, bo]).releases


def test_one_approval_covers_one_run(tmp_path: Path) -> None:
    public = new_key(tmp_path / "ann.pem")
    study = Study(tmp_path, required=1, reviewers={"ann": public})
    once = approval(study, tmp_path / "ann.pem", "ann")
    study.run(approvals=[once])
    with pytest.raises(ApprovalRefused):
        study.run(approvals=[once], again=True)
    twice = approval(study, tmp_path / "ann.pem", "ann", runs=2)
    assert study.run(approvals=[twice], again=True).releases


# --- data that does not fit ---


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda t: t.drop_columns(["age"]), "DPQL-E100"),
        (lambda t: t.rename_columns(["time", "event", "arm", "Age"]), "DPQL-E100"),
        (lambda t: t.slice(1), "DPQL-E104"),
        (lambda t: pa.concat_tables([t, t.slice(0, 1)]), "DPQL-E104"),
        (
            lambda t: t.set_column(3, "age", pa.array([[1.0]] * 200)),
            "DPQL-E101",
        ),
    ],
)
def test_a_schema_that_does_not_fit_costs_nothing(tmp_path: Path, change: Any, code: str) -> None:
    study = Study(tmp_path)
    study.write(change(study.table))
    with pytest.raises(DataRefused) as caught:
        study.run()
    assert caught.value.code == code
    assert study.spent == 0
    with study.ledger() as ledger:
        assert ledger.show()["runs"] == []


def test_a_csv_with_another_row_count_is_charged_and_releases_nothing(tmp_path: Path) -> None:
    study = Study(tmp_path, format="csv")
    study.write(study.table.slice(1))
    with pytest.raises(DataRefused) as caught:
        study.run(out=tmp_path / "out")
    assert caught.value.code == "DPQL-E104"
    assert "200" in str(caught.value)
    assert "199" not in str(caught.value)
    assert study.spent > 0
    assert not (tmp_path / "out").exists()
    with pytest.raises(WrongState, match="stored nothing"):
        study.run()


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "text"])
def test_data_that_cannot_be_read_costs_nothing(tmp_path: Path, damage: str) -> None:
    study = Study(tmp_path)
    whole = study.data.read_bytes()
    if damage == "gone":
        study.data.unlink()
    else:
        study.data.write_bytes(
            {"empty": b"", "cut": whole[: len(whole) // 2], "text": b"x"}[damage]
        )
    with pytest.raises(DpqlError):
        study.run()
    assert study.spent == 0


def test_a_failure_inside_the_run_is_charged_and_quotes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import executors.mechanisms.ssp.run as inside

    def broken(*_: Any) -> Any:
        raise ValueError("the secret is 42")

    study = Study(tmp_path)
    monkeypatch.setattr(inside, "run", broken)
    with pytest.raises(RunFailed) as caught:
        study.run()
    assert "42" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert study.spent > 0


# --- calls ---


def test_a_mock_run_takes_no_data_and_no_ledger(tmp_path: Path) -> None:
    study = Study(tmp_path)
    done = run(study.plan, mock=True)
    assert done.mock
    assert all(release["mock"] for release in done.releases.values())
    assert all(
        release["plan_hash"] == f"mock:{study.plan.hash}" for release in done.releases.values()
    )
    with pytest.raises(UsageError):
        run(study.plan, {"trial": "x"}, mock=True)
    with pytest.raises(UsageError):
        run(study.plan, mock=True, ledger=str(study.ledger_path))
    assert study.spent == 0


def test_a_run_without_a_ledger_or_data_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with pytest.raises(UsageError, match="needs a ledger"):
        run(study.plan, {"trial": str(study.data)})
    with pytest.raises(UsageError, match="no data is bound"):
        study.run(data={})
    with pytest.raises(UsageError, match="has no dataset `other`"):
        study.run(data={"trial": str(study.data), "other": "x"})
    with pytest.raises(UsageError, match="charges no key"):
        study.run(ledger={"other": str(study.ledger_path)})
    assert study.spent == 0


def test_ten_plans_of_a_tenth_fill_a_cap_of_one_and_the_eleventh_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path, cap="eps=1.0")
    text = "".join(study.text.split("TEST")[:1])
    for index in range(11):
        made = plan(f"{text}TEST cox beta=[0, 0] VS [-0.5, 0.{10 + index}] shrink=0.5 eps=0.1")
        if index < 10:
            assert study.run(made).releases
        else:
            with pytest.raises(OverBalance):
                study.run(made)
    assert study.spent == 1


def test_from_gives_a_default_location_and_a_binding_wins(tmp_path: Path) -> None:
    study = Study(tmp_path)
    text = study.text.replace("DATASET trial\n", f"DATASET trial\n  FROM '{study.data}'\n")
    made = plan(text)
    assert made.hash == study.plan.hash
    assert study.run(made, data={}).releases
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan(text.replace("trial.parquet", "nowhere.parquet")).json()))
    with pytest.raises(DpqlError):
        study.run(file, data={}, again=True)
    assert study.run(file, again=True).releases
