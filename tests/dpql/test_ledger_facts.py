"""Facts of the custodian against declarations of a plan."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpql.errors import CertificateRefused, FactsDiffer, KeyRefused, WrongState
from dpql.ledger import Ledger
from dpql.ledger.facts import SensitivityFact, SiteFact
from dpql.ledger.opening import compile_cap, key_facts
from dpql.ledger.places import place
from planner.calculus.cost import Cost
from suites.ledger import DATA, certificate, dataset, facts, plan, table

LOG_EVALUE = {"name": "e", "type": "log_evalue", "sensitivity": "0.5", "pattern": False}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.connect(str(tmp_path / "ledger.db"), create=True)


def ask(ledger: Ledger, declared: dict[str, Any], site: str | None = None, **more: Any) -> Any:
    data = more.pop("data", None)
    asked = plan("0.1", on=((declared["name"], site),), datasets=[declared], **more)
    return ledger.reserve(asked, certificate(asked), data=data)


@pytest.mark.parametrize(
    ("recorded", "declared", "message"),
    [
        ({}, {"rows": 1001}, "ROWS of `trial` is 1000 at key `trial` and 1001 in the plan"),
        ({}, {"relation": "add_remove"}, "NEIGHBORS of `trial` is replace at key"),
        (
            {"unit_column": "pid"},
            {},
            "UNIT of `trial` is pid at key `trial` and not declared in the plan",
        ),
        ({}, {"unit": {"column": "pid", "max": 1}}, "UNIT of `trial` is not declared"),
        (
            {"unit_column": "pid", "max_rows": 3},
            {"unit": {"column": "pid", "max": 1}},
            "MAX of `trial` is 3 at key `trial` and 1 in the plan",
        ),
        (
            {"sensitivities": (SensitivityFact(column="e", sensitivity="1"),)},
            {"columns": [LOG_EVALUE]},
            "SENSITIVITY of column `e` of `trial` is 1 at key `trial` and 1/2 in the plan",
        ),
        ({}, {"columns": [LOG_EVALUE]}, "SENSITIVITY of column `e` of `trial` is not declared"),
        (
            {"hypotheses": (("rs*", 500),)},
            {"columns": [{"name": "rs*", "type": "genotype", "pattern": True, "hypotheses": 499}]},
            "HYPOTHESES of `rs\\*` of `trial` is 500",
        ),
        (
            {"sites": (SiteFact(name="a", rows=400), SiteFact(name="b", rows=600))},
            {},
            "SITES of `trial` is a ROWS 400, b ROWS 600 at key `trial` and not declared",
        ),
        (
            {},
            {"sites": {"max": 1, "members": [{"name": "a", "rows": 1000}]}},
            "SITES of `trial` is not declared",
        ),
    ],
)
def test_a_fact_declared_otherwise_is_named_with_both_values(ledger, recorded, declared, message):
    ledger.open_key(facts(tables=(table(**recorded),)))
    with pytest.raises(FactsDiffer, match=message):
        ask(ledger, dataset(**declared))
    assert ledger.remaining("trial").remaining == 1


def test_equal_facts_are_admitted_however_the_number_is_written(ledger):
    recorded = table(
        unit_column="pid",
        max_rows=3,
        sensitivities=(SensitivityFact(column="e", sensitivity="1/2"),),
    )
    ledger.open_key(facts(tables=(recorded,)))
    declared = dataset(unit={"column": "pid", "max": 3}, columns=[LOG_EVALUE])
    asked = plan("0.1", datasets=[declared])
    # Three rows a person: nine times the rho of one.
    with pytest.raises(CertificateRefused):
        ledger.reserve(asked, {**certificate(asked, "0.9"), "totals": []})
    assert ledger.reserve(asked, certificate(asked, "0.9")).charges[0].amount == Fraction(9, 10)


def test_bounds_are_the_analysts_choice(ledger):
    ledger.open_key(facts())
    ask(ledger, dataset(columns=[{"name": "age", "type": "real", "lo": "0", "hi": "120"}]))


def test_a_population_key_serves_its_tables_and_adds_their_costs(ledger):
    ledger.open_key(facts(population="citizens", tables=(table("visits"),), cap="0.3"))
    ledger.add_table("citizens", table("labs", rows=50))
    declared = [
        dataset("visits", population="citizens"),
        dataset("labs", population="citizens", rows=50),
    ]
    asked = plan("0.1", on=(("visits", None), ("labs", None)), datasets=declared)
    admitted = ledger.reserve(asked, certificate(asked))
    assert [(charge.key, charge.amount) for charge in admitted.charges] == [
        ("citizens", Fraction(1, 5))
    ]
    with pytest.raises(FactsDiffer, match="guards no table `pets`, only `visits`, `labs`"):
        ask(ledger, dataset("pets", population="citizens"))
    with pytest.raises(KeyRefused, match="already guards"):
        ledger.add_table("citizens", table("labs", rows=51))
    assert ledger.verify(certificates=False) == ()


def test_a_table_without_a_name_serves_any_name_of_the_population(ledger):
    ledger.open_key(key_facts("citizens", 1000, Cost("rho", Fraction(1)), population=True))
    ask(ledger, dataset("anything", population="citizens"))


def test_a_dataset_cannot_pass_for_a_population_of_its_name(ledger):
    ledger.open_key(facts())
    with pytest.raises(FactsDiffer, match=r"guards no table|POPULATION"):
        ask(ledger, dataset("other", population="trial"))


def test_a_sites_key_knows_its_own_rows(ledger):
    ledger.open_key(facts(site="north", tables=(table(rows=400, max_sites=2),)))
    members = [{"name": "north", "rows": 400}, {"name": "south", "rows": 600}]
    good = dataset(sites={"max": 2, "members": members})
    assert ask(ledger, good, site="north").keys == ("trial/north",)
    with pytest.raises(FactsDiffer, match=r"ROWS at the site of `trial` is 400 .* and 401"):
        ask(
            ledger,
            dataset(sites={"max": 2, "members": [{"name": "north", "rows": 401}]}),
            site="north",
        )
    with pytest.raises(FactsDiffer, match=r"MAX of SITES of `trial` is 2 .* and 1"):
        ask(ledger, dataset(sites={"max": 1, "members": members}), site="north")


def test_a_sites_key_that_recorded_the_other_sites_compares_them(ledger):
    sites = (SiteFact(name="north", rows=400), SiteFact(name="south", rows=600))
    ledger.open_key(facts(site="north", tables=(table(rows=400, max_sites=2, sites=sites),)))
    north = {"name": "north", "rows": 400}
    for others in ([], [{"name": "south", "rows": 601}], [{"name": "west", "rows": 600}]):
        declared = dataset(sites={"max": 2, "members": [north, *others]})
        with pytest.raises(FactsDiffer, match=r"SITES of `trial` is north ROWS 400, south ROWS"):
            ask(ledger, declared, site="north")
    members = [{"name": "south", "rows": 600}, north]
    ask(ledger, dataset(sites={"max": 2, "members": members}), site="north")


@pytest.mark.parametrize(
    "evalues",
    [
        [{"name": "e", "on": "trial", "params": {"design": "public"}}],
        [{"name": "e", "on": [{"dataset": "trial", "site": None}], "design": "public"}],
        [{"name": "e", "params": {"options": [{"design": {"word": "public"}}]}}],
    ],
)
def test_a_public_design_needs_the_custodians_permission(ledger, evalues):
    ledger.open_key(facts())
    with pytest.raises(
        FactsDiffer, match="`design=public` for `trial`, which key `trial` does not"
    ):
        ask(ledger, dataset(), evalues=evalues)


def test_a_permitted_public_design_is_admitted(ledger):
    ledger.open_key(facts(tables=(table(public_design=True),)))
    ask(ledger, dataset(), evalues=[{"name": "e", "on": "trial", "params": {"design": "public"}}])


def test_a_private_design_needs_no_permission(ledger):
    ledger.open_key(facts())
    ask(ledger, dataset(), evalues=[{"name": "e", "on": "trial", "params": {"design": "private"}}])


def test_data_that_the_key_does_not_guard_is_refused(ledger):
    ledger.open_key(facts())
    with pytest.raises(
        FactsDiffer, match=r"bound to `/data/other.parquet`, but key `trial` guards"
    ):
        ask(ledger, dataset(), data={"trial": "/data/other.parquet"})
    with pytest.raises(FactsDiffer, match="no data is bound to `trial`"):
        ask(ledger, dataset(), data={})
    ask(ledger, dataset(), data={"trial": DATA})


def test_guards_knows_every_spelling_of_a_place(ledger, tmp_path, monkeypatch):
    real = tmp_path / "my data.csv"
    real.write_text("x\n1\n")
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    print_of = "sha256:" + hashlib.sha256(real.read_bytes()).hexdigest()
    ledger.open_key(facts(tables=(table(data=(str(real), "sha256:" + "0" * 64)),)))
    monkeypatch.chdir(tmp_path)
    uris = real.as_uri(), link.as_uri(), f"{tmp_path.as_uri()}/sub/../my%20data.csv"
    for spelling in (real, link, "my data.csv", *uris, "./sub/../my data.csv"):
        assert ledger.guards("trial", "trial", str(spelling)), spelling
    for spelling in ("other.csv", print_of, "postgresql://host/db", "sha256:" + "1" * 64):
        assert not ledger.guards("trial", "trial", spelling)
    assert ledger.guards("trial", "trial", "SHA256:" + "0" * 64)
    assert not ledger.guards("trial", "other", str(real))
    assert place("postgresql://host/db") == "postgresql://host/db"


def test_a_key_is_opened_once(ledger):
    ledger.open_key(facts())
    with pytest.raises(KeyRefused, match="already has a key `trial`"):
        ledger.open_key(facts(cap="100"))
    assert ledger.remaining("trial").cap == 1


def test_an_unknown_key_is_named_with_the_known_ones(ledger):
    ledger.open_key(facts())
    with pytest.raises(KeyRefused, match="no key `other`") as refused:
        ask(ledger, dataset("other"))
    assert "`trial`" in refused.value.note


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 0}, "greater than or equal to 1"),
        ({"sites": {"a": 1, "b": 2}}, "do not add up"),
        ({"required": 1}, "1 must sign, of 0 registered"),
        ({"reviewers": {"a": "ssh-rsa AAAA"}}, "a public key reads"),
        (
            {"reviewers": {"a": "ed25519:" + "a" * 64, "b": "ed25519:" + "a" * 64}},
            "a reviewer or a public key is listed twice",
        ),
    ],
)
def test_facts_that_cannot_hold_are_refused_in_words(changes, message):
    with pytest.raises(KeyRefused, match=message):
        key_facts("trial", **{"rows": 1000, "cap": Cost("rho", Fraction(1)), **changes})


def test_a_cap_in_mu_is_kept_squared_and_one_in_eps_and_delta_compiled_down():
    assert compile_cap(Cost("mu", Fraction(5, 2))).value == Fraction(25, 4)
    cap = compile_cap(Cost("eps_delta", Fraction(3), Fraction(1, 10**6)))
    assert cap.unit == "mu2"
    assert dict(cap.declared)["mu"].startswith("0.647726530688")
    assert dict(cap.declared)["delta"] == "0.000001"
    assert float(cap.value) == pytest.approx(0.647726530688730**2, rel=1e-12)
    assert compile_cap(Cost("eps_delta", Fraction(1), Fraction(1, 10**5)), "rho").unit == "rho"


def test_a_compiled_cap_is_never_above_the_guarantee():
    from mpmath import mp, mpf, ncdf, sqrt

    mp.dps = 40
    for eps, delta in ((1, Fraction(1, 10**5)), (3, Fraction(1, 10**6)), (1, Fraction(1, 10))):
        cap = compile_cap(Cost("eps_delta", Fraction(eps), delta)).value
        mu = sqrt(mpf(cap.numerator) / cap.denominator)
        found = ncdf(mu / 2 - eps / mu) - mp.e**eps * ncdf(-mu / 2 - eps / mu)
        assert found <= mpf(delta.numerator) / delta.denominator
        assert found > mpf(delta.numerator) / delta.denominator * (1 - mpf(10) ** -9)


def test_a_part_of_the_plan_that_a_key_guards_cannot_be_left_out(ledger):
    ledger.open_key(facts(population="p", tables=(table("a"), table("b"))))
    declared = [dataset(name, population="p") for name in ("a", "b")]
    asked = plan("0.1", on=(("a", None), ("b", None)), datasets=declared)
    partial = certificate(asked)
    partial["totals"] = [total for total in partial["totals"] if total["dataset"] == "a"]
    with pytest.raises(CertificateRefused, match="0 totals in rho for `b`"):
        ledger.reserve(asked, partial)
    with pytest.raises(CertificateRefused, match="charges nothing to `q`"):
        ledger.reserve(asked, certificate(asked), keys=["p", "q"])


def test_a_cap_is_raised_by_a_logged_act_and_never_lowered_below_what_is_spent(ledger):
    ledger.open_key(facts(cap="0.1"))
    ask(ledger, dataset())
    with pytest.raises(KeyRefused, match="cannot be lowered"):
        ledger.change_cap("trial", Fraction(1, 20), reason="less")
    ledger.change_cap("trial", Fraction(1), reason="board decision 7", actor="custodian")
    ask(ledger, dataset(), tag="second")
    kinds = [entry["kind"] for entry in ledger.export()["entries"]]
    assert kinds == ["create", "open", "reserve", "cap", "reserve"]
    assert ledger.verify(certificates=False) == ()


def test_amended_facts_hold_from_then_on_and_release_what_waited(ledger):
    ledger.open_key(facts())
    waiting = ask(ledger, dataset(), tag="waiting")
    ledger.amend(facts(tables=(table(rows=1001),)), reason="one more visit", actor="custodian")
    assert ledger.remaining("trial").remaining == 1
    with pytest.raises(WrongState, match="was released"):
        ledger.release(waiting.rid)
    with pytest.raises(FactsDiffer, match="ROWS of `trial` is 1001"):
        ask(ledger, dataset())
    ask(ledger, dataset(rows=1001))
    for other in (facts(cap="2"), facts(population="trial", tables=(table("x"),))):
        with pytest.raises(KeyRefused, match="same people with the same cap"):
            ledger.amend(other, reason="no")
    assert ledger.verify() == ()
