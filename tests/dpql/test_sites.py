"""Sites: each has its own file, ledger, price, certificate total and charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dpql.api import PlanResult, plan, run
from dpql.checker import Rejected, check
from dpql.cli import app
from dpql.commands.ledger import cost_of
from dpql.commands.run import pairs
from dpql.errors import DataRefused, DpqlError, FactsDiffer, OverBalance, UsageError
from dpql.ledger import Ledger
from dpql.ledger.opening import key_facts
from dpql.report.html import sheet
from dpql.report.sheet import sheet_of
from executors.data.mock import mock_source
from executors.mechanisms.hazard.combine import combine
from executors.mechanisms.hazard.run import site_release
from executors.noise import StatementNoise
from executors.registry import REGISTRY
from planner.calculus.leaves import Loss
from planner.charge_token import Token
from planner.charges import reservations
from planner.decode import decode
from planner.encode import canonical
from suites.queries import checked, findings
from suites.samplers import FastSampler

SITES = {"north": 300, "south": 400}
HEAD = """\
DATASET trial
  ROWS 700
  SITES (north ROWS 300, south ROWS 400){most}
  COLUMNS (months DURATION IN [0, 60], died EVENT)
{budget}
"""
TEST = (
    "TEST hazard ON north VS south bins=8 "
    "BUDGET eps=1, delta=1e-6 AT north AND mu=0.4 AT south AS h"
)


def query(*statements: str, most: str = "", budget: str = "") -> str:
    return HEAD.format(most=most, budget=budget) + "\n".join(statements)


def table(rows: int, rate: float, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    ends, censored = rng.exponential(60 / rate, rows), rng.exponential(120, rows)
    return pa.table({"months": np.minimum(ends, censored), "died": ends <= censored})


class Hospitals:
    """Two files and two ledgers in a folder."""

    def __init__(self, folder: Path, cap: str = "mu=1") -> None:
        self.folder = folder
        self.data = {name: str(folder / f"{name}.parquet") for name in SITES}
        self.ledgers = {f"trial/{name}": str(folder / f"{name}.db") for name in SITES}
        for seed, (name, rows) in enumerate(SITES.items()):
            pq.write_table(table(rows, 1 + seed, seed), self.data[name])
            self.open(name, cap)

    def open(self, name: str, cap: str = "mu=1", **more: Any) -> None:
        facts = key_facts(
            "trial",
            SITES[name],
            cost_of(cap),
            site=name,
            **{"sites": SITES, "data": [self.data[name]], **more},
        )
        ledger = Ledger.connect(self.ledgers[f"trial/{name}"], create=True)
        ledger.open_key(facts)
        ledger.close()

    def run(self, planned: PlanResult, data: Mapping[str, str] | None = None, **more: Any) -> Any:
        return run(planned, data or self.data, self.ledgers, **more)

    def spent(self) -> dict[str, Fraction]:
        found = {}
        for name in SITES:
            ledger = Ledger.connect(self.ledgers[f"trial/{name}"])
            balance = ledger.remaining(f"trial/{name}")
            found[name] = balance.spent + balance.reserved
            assert ledger.verify() == ()
            ledger.close()
        return found


@pytest.fixture
def hospitals(tmp_path: Path) -> Hospitals:
    return Hospitals(tmp_path)


# --- planned -------------------------------------------------------------------------------------


def test_each_site_pays_its_own_cost_in_its_own_unit() -> None:
    content = plan(query(TEST)).json()
    (statement,) = content["statements"]
    assert [(paid["site"], paid["declared"]) for paid in statement["cost"]] == [
        ("north", {"eps": "1", "delta": "0.000001"}),
        ("south", {"mu": "0.4"}),
    ]
    assert [leaf["site"] for leaf in statement["leaves"]] == ["north"] * 2 + ["south"] * 2
    (dataset,) = content["datasets"]
    north, south = dataset["sites"]
    assert (north["total"]["mu"][:8], south["total"]["mu"]) == ("0.236704", "0.4")
    assert dataset["total"]["mu"] == "0.4"
    assert [key["key"] for key in content["keys"]] == ["trial/north", "trial/south"]


def test_the_certificate_has_a_total_for_each_site() -> None:
    totals = plan(query(TEST)).json()["certificate"]["totals"]
    assert {(total["dataset"], total["site"]) for total in totals} == {
        ("trial", "north"),
        ("trial", "south"),
    }
    assert {tuple(total["out"]) for total in totals} == {("rho",), ("mu2",)}


def test_sites_of_one_dataset_cost_a_person_the_dearest() -> None:
    both = query(
        "RELEASE survival ON north mu=0.3",
        "RELEASE survival ON north mu=0.4",
        "RELEASE survival ON south mu=0.4",
        budget="  BUDGET mu=0.5",
    )
    assert findings(both) == ()
    (dataset,) = plan(both).json()["datasets"]
    assert dataset["total"]["mu_squared"] == "0.25"
    more = both.replace("ON south mu=0.4", "ON south mu=0.51")
    assert "DPQL-E071" in {one.code for one in findings(more)}


def test_whole_statements_add_to_the_dearest_site() -> None:
    text = query(
        "TEST cox ON trial COLUMNS (age) beta=[0] VS [0.5] mu=0.3",
        "RELEASE survival ON north mu=0.4",
        "RELEASE survival ON south mu=0.2",
        budget="  BUDGET mu=0.5",
    ).replace("died EVENT", "died EVENT, age REAL IN [0, 1]")
    assert not [one for one in findings(text) if one.code.startswith("DPQL-E")]
    content = plan(text).json()
    assert content["datasets"][0]["total"]["mu_squared"] == "0.25"
    assert {total["site"] for total in content["certificate"]["totals"]} == {None, "north", "south"}


def test_a_person_at_two_sites_gets_half_of_a_cost_without_at() -> None:
    shared = query("TEST hazard ON north VS south BUDGET mu=0.4", most=" MAX 2")
    prices = checked(shared).prices
    assert [price.cost.additive for price in prices] == [Fraction(8, 100)] * 2
    content = plan(shared).json()
    assert content["datasets"][0]["total"]["mu_squared"] == "0.16"
    alone = shared.replace("TEST hazard ON north VS south", "RELEASE survival ON north")
    assert [price.cost.additive for price in checked(alone).prices] == [Fraction(16, 100)]
    at = shared.replace("mu=0.4", "mu=0.4 AT north AND mu=0.3 AT south")
    assert plan(at).json()["datasets"][0]["total"]["mu_squared"] == "0.25"


@pytest.mark.parametrize(
    ("statements", "most"),
    [
        ((TEST,), ""),
        ((TEST, "RELEASE survival ON south eps=1, delta=1e-6"), ""),
        ((TEST, "RELEASE hazard ON trial mu=0.2", "RELEASE survival ON north mu=0.3"), ""),
        ((TEST, *(["RELEASE survival ON north tree=haar bins=4 eps=0.1"] * 6)), ""),
        (
            ("RELEASE survival ON south tree=haar eps=0.5", "RELEASE hazard ON trial mu=0.5", TEST),
            " MAX 2",
        ),
        (("TEST hazard ON north VS south tree=haar eps=1",), " MAX 2"),
        (("TEST hazard ON north VS south eps=1, delta=1e-6", "RELEASE survival mu=0.1"), " MAX 2"),
    ],
)
def test_the_independent_checker_accepts_the_totals_of_sites(
    statements: tuple[str, ...], most: str
) -> None:
    planned = plan(query(*statements, most=most)).planned.plan
    assert planned is not None
    asked = reservations(planned.checked)
    check(dict(planned.certificate), canonical(planned.body), asked)
    forged = [{**one, "amount": str(Fraction(one["amount"]) / 2)} for one in asked]
    with pytest.raises(Rejected):
        check(dict(planned.certificate), canonical(planned.body), forged)


def test_a_site_without_a_statement_costs_nothing() -> None:
    (dataset,) = plan(query("RELEASE survival ON north mu=0.3")).json()["datasets"]
    assert [site["total"]["mu"] for site in dataset["sites"]] == ["0.3", "0"]


def test_a_person_may_be_at_two_sites_of_one_dataset_only() -> None:
    """Of each of two datasets one site is read, so nothing is divided."""
    other = query(most=" MAX 2").replace("trial", "other").replace("north", "east")
    text = query(most=" MAX 2") + other.replace("south", "west")
    prices = checked(text + "TEST hazard ON north VS east BUDGET mu=0.4").prices
    assert [price.cost.additive for price in prices] == [Fraction(16, 100)] * 2


def test_a_pair_for_a_person_at_two_sites_becomes_mu_first() -> None:
    text = query("TEST hazard ON north VS south BUDGET eps=1, delta=1e-6", most=" MAX 2")
    (one, two) = checked(text).prices
    assert (one.cost.unit, two.cost.unit) == ("mu", "mu")
    assert float(one.cost.additive) == pytest.approx(0.236704380663436**2 / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("TEST hazard ON north BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON (north, south) BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON north VS north BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON trial VS north BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON trial VS trial BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON north VS east BUDGET mu=1", "DPQL-E047"),
        ("TEST hazard ON north VS south BUDGET mu=1 AT north", "DPQL-E063"),
        ("TEST hazard ON north VS south BUDGET mu=1 AT trial AND mu=1 AT south", "DPQL-E063"),
        ("TEST cox ON north beta=[0] VS [1] BUDGET mu=1", "DPQL-E046"),
        ("RELEASE survival ON north VS south BUDGET mu=1", "DPQL-E046"),
        ("TEST hazard ON north VS south tree=sqrt BUDGET eps=1", "DPQL-E152"),
        ("TEST hazard ON north VS south BUDGET mu=1 AT north AND eps=1 AT south", "DPQL-E152"),
        ("TEST hazard ON north VS south tree=haar bins=12 BUDGET mu=1", "DPQL-E151"),
        ("TEST hazard ON north VS south tree=haar bins=1 BUDGET mu=1", "DPQL-E151"),
        ("TEST hazard ON north VS south horizon=61 BUDGET mu=1", "DPQL-E153"),
        ("TEST hazard ON north VS south effect=0 BUDGET mu=1", "DPQL-E154"),
        ("TEST hazard ON north VS south censoring=[1] BUDGET mu=1", "DPQL-E154"),
        ("TEST hazard ON north VS south horizon=0 BUDGET mu=1", "DPQL-E043"),
        ("TEST hazard ON north VS south bins=0 BUDGET mu=1", "DPQL-E043"),
        ("TEST hazard ON north VS south floor=1.1 BUDGET mu=1", "DPQL-E043"),
        ("TEST hazard ON north VS south level=1 BUDGET mu=1", "DPQL-E043"),
        ("TEST hazard ON north VS south rate=0 BUDGET mu=1", "DPQL-E043"),
        ("TEST hazard ON north VS south COLUMNS (died) BUDGET mu=1", "DPQL-E042"),
    ],
)
def test_what_does_not_fit_is_refused(statement: str, code: str) -> None:
    assert code in {one.code for one in findings(query(statement))}


def test_a_person_with_several_records_is_refused() -> None:
    text = query(TEST).replace("ROWS 700", "ROWS 700 UNIT person MAX 2")
    assert "DPQL-E144" in {one.code for one in findings(text)}


def test_a_site_may_not_be_mistaken_for_a_dataset_of_the_same_full_name() -> None:
    other = 'DATASET "trial.north" ROWS 5 COLUMNS (x REAL IN [0, 1])\n'
    for text in (query() + other, other + query()):
        assert "DPQL-E027" in {one.code for one in findings(text)}


def test_the_step_that_compares_sees_two_releases_and_no_row() -> None:
    graph = checked(query(TEST)).graph
    into = [start for start, end in graph.edges if end == "release:h"]
    sorts = {node.id: node.sort for node in graph.nodes}
    assert [sorts[start] for start in into] == ["release", "release"]
    assert sorts["release:h"] == "derived"
    assert sum(node.sort == "measurement" for node in graph.nodes) == 2
    assert {node.label for node in graph.nodes if node.sort == "scan"} == {
        "trial.north",
        "trial.south",
    }


def test_the_text_says_what_datasets_cost_the_people_they_share() -> None:
    columns = "COLUMNS (week DURATION IN [0, 52], arrest EVENT)"
    text = (
        f"DATASET a ROWS 300 {{0}}{columns}\nDATASET b ROWS 400 {{0}}{columns}\n"
        "TEST hazard ON a VS b mu=1"
    )
    shared = str(plan(text.format("POPULATION folk ")))
    assert "people folk: in a, b\n  total     rho=1, mu=1.4143," in shared
    assert "people" not in str(plan(text.format(""))).split("dataset a:")[1]


def test_the_sheet_and_the_text_name_the_sites() -> None:
    planned = plan(query(TEST))
    assert "mu=0.4 on trial, site south" in str(planned)
    page = sheet(sheet_of(planned.json()))
    assert "trial, site north" in page
    assert "each pays from its own ledger" in page


# --- run -----------------------------------------------------------------------------------------


def test_one_run_charges_each_ledger_its_own_part(hospitals: Hospitals) -> None:
    done = hospitals.run(plan(query(TEST)), out=hospitals.folder / "out")
    spent = hospitals.spent()
    assert float(spent["north"]) == pytest.approx(0.236704380663436**2, rel=1e-9)
    assert spent["south"] == Fraction(16, 100)
    value = done["h"]["value"]
    assert value["outcome"] in ("TESTED", "INCONCLUSIVE")
    assert [site["source"] for site in value["sites"]] == ["trial.north", "trial.south"]
    assert done["h"]["cost"]["mu"] == "0.4"
    assert {file.suffix for file in (hospitals.folder / "out/releases").iterdir()} == {
        ".json",
        ".csv",
        ".svg",
    }
    again = hospitals.run(plan(query(TEST)))
    assert again["h"] == done["h"]
    assert hospitals.spent() == spent


def test_the_command_line_runs_with_one_ledger_a_site(tmp_path: Path) -> None:
    hospitals = Hospitals(tmp_path)
    (tmp_path / "h.dpql").write_text(query(TEST))
    target = str(tmp_path / "plan.json")
    call = CliRunner().invoke
    assert call(app, ["plan", str(tmp_path / "h.dpql"), "-o", target]).exit_code == 0
    places = [f"--data={name}={place}" for name, place in hospitals.data.items()]
    books = [f"--ledger={key}={place}" for key, place in hospitals.ledgers.items()]
    wrong = [book.replace("north=", "nort=") for book in books]
    refused = call(app, ["run", target, *places, *wrong])
    assert isinstance(refused.exception, UsageError)
    assert "charges no key `trial/nort`" in str(refused.exception)
    assert call(app, ["run", target, *places, *books]).exit_code == 0
    assert all(hospitals.spent().values())


def test_a_path_with_an_equals_sign_is_no_name(tmp_path: Path) -> None:
    for text in ("/data/run=3.db", "./run/x=3.db", "../run=3.db", "a/b/c=3.db", "sqlite:///x=3.db"):
        assert pairs([text], "--ledger", required=False) == {"": text}
    assert pairs(["people=x.db"], "--ledger", required=False) == {"people": "x.db"}
    assert pairs(["trial/north=x.db"], "--data", required=True) is None


def test_full_names_bind_as_well_as_short_ones(hospitals: Hospitals) -> None:
    named = {f"trial.{name}": place for name, place in hospitals.data.items()}
    assert hospitals.run(plan(query(TEST)), named)["h"]["mock"] is False


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("north",), "no data is bound to `trial.south`"),
        (("north", "south", "east"), "has no dataset `east`"),
        (("north", "south", "trial.south"), "two locations are bound to `trial.south`"),
        (("trial",), "no data is bound to `trial.north`"),
    ],
)
def test_every_site_wants_data_once(
    hospitals: Hospitals, names: tuple[str, ...], message: str
) -> None:
    data = dict.fromkeys(names, hospitals.data["north"])
    with pytest.raises(UsageError, match=message):
        hospitals.run(plan(query(TEST)), data)
    assert not any(hospitals.spent().values())


def test_a_ledger_with_too_little_left_refuses_and_the_other_pays_nothing(tmp_path: Path) -> None:
    hospitals = Hospitals(tmp_path, cap="mu=0.3")
    with pytest.raises(OverBalance, match="trial/south"):
        hospitals.run(plan(query(TEST)))
    assert not any(hospitals.spent().values())


def test_a_site_guards_its_own_file(hospitals: Hospitals) -> None:
    swapped = {"north": hospitals.data["south"], "south": hospitals.data["north"]}
    with pytest.raises(FactsDiffer, match="guards"):
        hospitals.run(plan(query(TEST)), swapped)
    assert not any(hospitals.spent().values())


def test_other_rows_at_a_site_are_refused(hospitals: Hospitals) -> None:
    text = query(TEST).replace("north ROWS 300", "north ROWS 301").replace("ROWS 700", "ROWS 701")
    with pytest.raises(FactsDiffer, match="ROWS at the site"):
        hospitals.run(plan(text))


def test_one_file_for_two_sites_is_refused(tmp_path: Path) -> None:
    text = query(TEST).replace("south ROWS 400", "south ROWS 300").replace("ROWS 700", "ROWS 600")
    path = str(tmp_path / "both.parquet")
    pq.write_table(table(300, 1, 1), path)
    ledger = Ledger.connect(str(tmp_path / "l.db"), create=True)
    sites = {"north": 300, "south": 300}
    for name in sites:
        ledger.open_key(
            key_facts("trial", 300, cost_of("mu=1"), site=name, sites=sites, data=[path])
        )
    with pytest.raises(DataRefused, match="bound to the same data"):
        run(plan(text), {"north": path, "south": path}, ledger)
    assert ledger.remaining("trial/north").spent == 0
    ledger.close()


def test_one_ledger_may_keep_the_keys_of_both_sites(tmp_path: Path) -> None:
    hospitals = Hospitals.__new__(Hospitals)
    hospitals.folder = tmp_path
    hospitals.data = {name: str(tmp_path / f"{name}.parquet") for name in SITES}
    hospitals.ledgers = {f"trial/{name}": str(tmp_path / "one.db") for name in SITES}
    for name, rows in SITES.items():
        pq.write_table(table(rows, 1, 3), hospitals.data[name])
        hospitals.open(name)
    run(plan(query(TEST)), hospitals.data, str(tmp_path / "one.db"))
    assert hospitals.spent()["south"] == Fraction(16, 100)


def test_a_mock_run_makes_up_the_rows_of_each_site() -> None:
    done = run(plan(query(TEST)), mock=True)
    first, second = (site["raw"]["hazard"] for site in done["h"]["value"]["sites"])
    assert done["h"]["mock"] is True
    assert first != second
    facts = plan(query(TEST)).planned.plan
    assert facts is not None
    (dataset,) = facts.checked.bound.datasets
    tables = [mock_source(site)._table(5) for site in dataset.sites]
    assert tables[0] != tables[1]


def test_two_datasets_are_compared_each_at_its_own_ledger(tmp_path: Path) -> None:
    columns = "COLUMNS (months DURATION IN [0, 60], died EVENT)"
    text = (
        f"DATASET a ROWS 300 {columns}\nDATASET b ROWS 400 {columns}\n"
        "TEST hazard ON a VS b bins=8 BUDGET eps=1, delta=1e-6 AT a AND mu=0.4 AT b AS h"
    )
    data, ledgers = {}, {}
    for seed, (name, rows) in enumerate((("a", 300), ("b", 400))):
        data[name], ledgers[name] = str(tmp_path / f"{name}.parquet"), str(tmp_path / f"{name}.db")
        pq.write_table(table(rows, 1, seed), data[name])
        ledger = Ledger.connect(ledgers[name], create=True)
        ledger.open_key(key_facts(name, rows, cost_of("mu=1"), data=[data[name]]))
        ledger.close()
    done = run(plan(text), data, ledgers)
    assert [site["source"] for site in done["h"]["value"]["sites"]] == ["a", "b"]
    ledger = Ledger.connect(ledgers["b"])
    assert ledger.remaining("b").spent == Fraction(16, 100)
    ledger.close()


def test_the_command_line_opens_plans_and_runs_at_sites(tmp_path: Path) -> None:
    cli = CliRunner()
    (tmp_path / "q.dpql").write_text(query(TEST))
    for seed, (name, rows) in enumerate(SITES.items()):
        place = tmp_path / f"{name}.parquet"
        pq.write_table(table(rows, 1, seed), place)
        opened = cli.invoke(
            app,
            f"ledger open trial --site {name} --sites north=300 --sites south=400 --rows {rows} "
            f"--cap mu=1 --data {place} --ledger {tmp_path}/one.db".split(),
        )
        assert opened.exit_code == 0, opened.output
    shown = cli.invoke(app, f"plan {tmp_path}/q.dpql --ledger {tmp_path}/one.db".split())
    assert "north: mu=1 left" in shown.output
    data = " ".join(f"--data {name}={tmp_path}/{name}.parquet" for name in SITES)
    ran = cli.invoke(
        app,
        f"run {tmp_path}/q.dpql {data} --ledger {tmp_path}/one.db --out {tmp_path}/out".split(),
    )
    assert ran.exit_code == 0, ran.output
    assert json.loads((tmp_path / "out/releases/h.json").read_text())["kind"] == "release"


# --- releases made apart -------------------------------------------------------------------------


def test_releases_made_apart_combine_to_what_one_process_makes() -> None:
    planned = plan(query(TEST))
    runnable = decode(planned.json()["body"], REGISTRY)
    (statement,) = runnable.statements
    files = []
    for place, source in enumerate(statement.facts.sources):
        mine = Loss(tuple(leaf for leaf in statement.loss.leaves if leaf.site == source.site))
        token = Token("mock", f"mock:{runnable.hash}", (), mock=True)
        reader = mock_source(source).open(token)
        noise = StatementNoise(FastSampler(place), mine)

        def ask(query: Any, reader: Any = reader) -> Any:
            from executors.summaries.survival_groups import summarise

            return summarise(query, reader)

        apart = site_release(statement.params, statement.facts, place, mine, ask, noise)
        noted = [{"law": n.law, "scale": n.scale, "role": n.role} for n in apart.noise]
        written = json.dumps({"value": apart.value, "noise": noted}, allow_nan=False)
        files.append(json.loads(written))
    found = combine(files[0], files[1], statement.params, statement.facts, statement.loss)
    assert found.value["outcome"] == "TESTED"
    assert 0 < found.value["p_value"] <= 1
    assert [site["raw"] for site in found.value["sites"]] == [file["value"] for file in files]
    with pytest.raises(ValueError, match=r"not the release of `trial\.north`"):
        combine(files[1], files[0], statement.params, statement.facts, statement.loss)
    quieter = [{**note, "scale": note["scale"] / 2} for note in files[1]["noise"]]
    with pytest.raises(ValueError, match="other noise"):
        combine(
            files[0],
            {**files[1], "noise": quieter},
            statement.params,
            statement.facts,
            statement.loss,
        )
    for changed in ({"n": 299}, {"floor": 29}, {"horizon": 59.0}, {"tree": "haar"}):
        liar = {**files[0], "value": {**files[0]["value"], **changed}}
        with pytest.raises(ValueError):
            combine(liar, files[1], statement.params, statement.facts, statement.loss)


def test_a_refusal_is_a_coded_message(hospitals: Hospitals) -> None:
    with pytest.raises(DpqlError, match="DPQL-E"):
        hospitals.run(plan(query(TEST)), {"north": "nowhere.csv", "south": "nowhere.csv"})
