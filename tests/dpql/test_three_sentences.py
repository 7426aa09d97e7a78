"""The three sentences that started the language parse, plan and run as written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpql.api import check, parse, plan, run
from dpql.commands.ledger import cost_of
from dpql.ledger import Ledger
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.opening import compile_cap
from suites.queries import ROSSI
from suites.studies import evalue_facts, survival_table

DECLARED = """\
DATASET trial ROWS 200
  COLUMNS (time DURATION IN [0, 10], event EVENT, arm BOOLEAN, age REAL IN [20, 80])
DATASET hits ROWS 40
  COLUMNS (gene ID, log_e LOG_EVALUE SENSITIVITY 0.3 ASSERTED_BY 'the laboratory')
LET b0 = [0, 0]
LET b1 = [-0.5, 0.02]
"""
SENTENCES = (
    "TEST cox beta=b0 VS b1 BUDGET eps=1",
    "PEEL evalues ADAPTIVE mu=0.5",
    "COVARIANCE pace rho=0.1",
)


def test_the_three_sentences_parse_in_one_file() -> None:
    script, findings = parse(DECLARED + "\n".join(SENTENCES) + "\n")
    assert findings == ()
    assert len(script.statements) == 7


def test_the_three_sentences_have_no_finding() -> None:
    assert check(DECLARED + "\n".join(SENTENCES) + "\n").diagnostics == ()


def test_the_three_sentences_plan_and_run(tmp_path: Path) -> None:
    made = plan(DECLARED + "\n".join(SENTENCES) + "\n")
    assert made.ok, str(made)
    generator = np.random.default_rng(1)
    names = [f"g{index:02}" for index in range(40)]
    hits = pa.table({"gene": names, "log_e": np.where(np.arange(40) < 8, 30.0, -2.0)})
    hits = hits.take(generator.permutation(40))
    places = {"trial": tmp_path / "trial.parquet", "hits": tmp_path / "hits.parquet"}
    pq.write_table(survival_table(), places["trial"])
    pq.write_table(hits, places["hits"])
    tables = (
        TableFacts(dataset="trial", rows=200, data=(str(places["trial"]),)),
        evalue_facts(40, "0.3", str(places["hits"])),
    )
    ledger = Ledger.connect(str(tmp_path / "ledger.db"), create=True)
    for table, cap in zip(tables, ("rho=2", "mu=2"), strict=True):
        ledger.open_key(KeyFacts(tables=(table,), cap=compile_cap(cost_of(cap))))
    done = run(made, {name: str(place) for name, place in places.items()}, ledger)
    assert list(done.releases) == ["cox_1", "evalues_1", "pace_1"]
    peel = done["evalues_1"]["value"]
    assert set(peel) >= {"selected", "log_evalue", "rejected", "level"}
    assert set(peel["selected"]) <= set(names)
    assert len(peel["selected"]) == len(peel["log_evalue"])
    matrix = np.array(done["pace_1"]["value"]["matrix"])
    assert done["pace_1"]["value"]["columns"] == ["arm", "age"]
    assert done["pace_1"]["value"]["kind"] == "covariance"
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-9 * np.abs(matrix).max()
    assert ledger.remaining("hits").spent > 0
    assert ledger.remaining("trial").spent > 0
    assert ledger.verify() == ()
    ledger.close()


WHOLE_FILE = f"""\
-- recidivism.dpql: may a reviewer approve this?
{ROSSI}TEST cox beta=b0 VS b1 event_rate=0.26 BUDGET eps=1 AS effect
COVARIANCE pace COLUMNS (age, prio) mu=0.3 AS sigma
DERIVE corr = correlation(sigma)
EXPECT effect.power >= 0.15
"""


def prisoners() -> pa.Table:
    """432 made-up people with the columns of the whole file."""
    generator = np.random.default_rng(5)
    week = np.minimum(generator.exponential(60.0, 432), 52.0)
    return pa.table(
        {
            "week": week,
            "arrest": week < 52.0,
            "fin": generator.random(432) < 0.5,
            "age": 17.0 + generator.gamma(2.0, 4.0, 432),
            "prio": generator.poisson(3.0, 432).astype(float),
        }
    )


def test_the_whole_file_of_the_language_plans_and_runs(tmp_path: Path) -> None:
    made = plan(WHOLE_FILE)
    assert made.ok, str(made)
    assert made.diagnostics == ()
    place = tmp_path / "rossi.parquet"
    pq.write_table(prisoners(), place)
    ledger = Ledger.connect(str(tmp_path / "ledger.db"), create=True)
    facts = TableFacts(dataset="rossi", rows=432, data=(str(place),))
    ledger.open_key(KeyFacts(tables=(facts,), cap=compile_cap(cost_of("mu=2.5"))))
    done = run(made, {"rossi": str(place)}, ledger)
    assert list(done.releases) == ["effect", "sigma", "corr"]
    assert done["sigma"]["value"]["columns"] == ["age", "prio"]
    assert done["sigma"]["value"]["branch"] in ("entries", "dense")
    assert 0 < ledger.remaining("rossi").spent <= 6.25
    assert ledger.verify() == ()
    ledger.close()
