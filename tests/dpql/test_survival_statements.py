"""Score tests and two-group tests from text to release, over real files and a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpql.api import check, plan, run
from dpql.commands.ledger import cost_of
from dpql.ledger import Ledger
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.opening import compile_cap
from dpql.report.words import noise

DECLARED = """\
DATASET trial ROWS 3000
  COLUMNS (
    months DURATION IN [0, 60],
    died   EVENT,
    arm    CATEGORY ('placebo', 'drug'),
    young  BOOLEAN,
    age    REAL IN [20, 80]
  )
"""


def trial() -> pa.Table:
    """The drug raises the hazard, age does as well."""
    rng = np.random.default_rng(1)
    n = 3000
    drug, age = rng.integers(0, 2, n), rng.uniform(20, 80, n)
    event = rng.exponential(20 * np.exp(-(0.8 * drug + 0.03 * (age - 50))))
    censor = rng.uniform(10, 70, n)
    return pa.table(
        {
            "months": np.minimum(event, censor),
            "died": event <= censor,
            "arm": np.where(drug == 1, "drug", "placebo"),
            "young": age < 50,
            "age": age,
        }
    )


def ran(text: str, tmp_path: Path, name: str = "trial.parquet", cap: str = "mu=9") -> Any:
    """The releases of a file over this trial."""
    place = tmp_path / name
    if name.endswith("csv"):
        pa.csv.write_csv(trial(), place)
    else:
        pq.write_table(trial(), place)
    made = plan(DECLARED + text)
    assert made.ok, str(made)
    ledger = Ledger.connect(str(tmp_path / "ledger.db"), create=True)
    table = TableFacts(dataset="trial", rows=3000, data=(str(place),))
    ledger.open_key(KeyFacts(tables=(table,), cap=compile_cap(cost_of(cap))))
    done = run(made, {"trial": str(place)}, ledger)
    return {name: done[name] for name in done.releases}


def test_the_statements_have_no_finding() -> None:
    text = """\
    TEST score beta=[0, 0] COLUMNS (young, age) BUDGET mu=0.5
    TEST logrank group=young BUDGET eps=1
    """
    assert check(DECLARED + text).diagnostics == ()


def test_both_tests_plan_and_run(tmp_path: Path) -> None:
    text = """\
    TEST logrank group=arm effect=0.8 event_rate=0.7 BUDGET eps=1 AS drug
    TEST score beta=[0] COLUMNS (age) radius=0.9 BUDGET mu=1 AS older
    TEST score beta=[0, 0] COLUMNS (young, age) radius=0.9 BUDGET eps=2 AS both
    TEST score beta=[0, 0.03] COLUMNS (young, age) trace=bound BUDGET rho=1 AS known
    EXPECT drug.power >= 0.9
    EXPECT both.power >= 0.5
    """
    found = ran(text, tmp_path)
    for name in ("drug", "older", "both"):
        assert found[name]["value"]["reject"], found[name]["value"]
    assert 0.0 < found["known"]["value"]["p_value"] <= 1.0
    assert found["drug"]["value"]["score"][0] > 0  # more events than expected under the drug
    assert [note["law"] for note in found["both"]["noise"]] == ["knorm_linf", "discrete_laplace"]
    assert [note["law"] for note in found["known"]["noise"]] == ["discrete_gaussian"]
    assert found["known"]["value"]["trace"] is None
    assert found["both"]["value"]["simulations"] == 200_000


@pytest.mark.parametrize("name", ["trial.parquet", "trial.csv"])
def test_the_published_variant_splits_rows_by_their_numbers(name: str, tmp_path: Path) -> None:
    text = "TEST score beta=[0, 0] COLUMNS (young, age) variant=paper BUDGET eps=2, delta=1e-6 AS s"
    value = ran(text, tmp_path, name)["s"]["value"]
    assert (value["rows"], value["trace_rows"], value["riskfloor"]) == (2700, 300, 0.0)


def test_a_budget_in_mu_pays_for_gaussian_noise_under_eps_with_delta(tmp_path: Path) -> None:
    """Chosen before the price: charged as what it draws, so two such statements fit."""
    text = """\
    TEST score beta=[0, 0] COLUMNS (young, age) noise=gaussian BUDGET eps=1, delta=1e-6
    TEST score beta=[0, 0] COLUMNS (young, age) noise=gaussian BUDGET eps=1, delta=1e-6
    """
    found = ran(text, tmp_path, cap="mu=0.34")
    assert [note["law"] for note in found["score_2"]["noise"]] == ["discrete_gaussian"] * 2


def test_what_is_chosen_stands_in_the_plan() -> None:
    text = "TEST score beta=[0, 0] COLUMNS (young, age) BUDGET eps=1, delta=1e-6 AS s"
    made = plan(DECLARED + text)
    assert made.ok
    (statement,) = made.json()["body"]["statements"]
    assert statement["params"]["noise"] == {"auto": "knorm"}
    assert [leaf["kind"] for leaf in statement["leaves"]] == ["pure", "lap"]


def test_noise_on_a_vector_has_a_name_of_its_own() -> None:
    made = plan(DECLARED + "TEST score beta=[0, 0] COLUMNS (young, age) BUDGET eps=1 AS s")
    (statement,) = made.json()["body"]["statements"]
    first, second = (noise(leaf) for leaf in statement["leaves"])
    assert first.startswith("noise in the shape of the declared ranges; its scale is 1.11 times")
    assert second.startswith("Laplace noise")


def test_a_test_that_cannot_succeed_is_warned_of() -> None:
    text = "TEST logrank group=young effect=0.05 BUDGET eps=0.1"
    made = plan(DECLARED + text)
    assert [finding.code for finding in made.diagnostics] == ["DPQL-W212"]


def test_a_test_that_would_miss_every_effect_is_warned_of_without_a_stated_one() -> None:
    for test in ("logrank group=young", "score beta=[0] COLUMNS (age)"):
        lost, sound = (plan(f"{DECLARED}TEST {test} BUDGET eps={eps}") for eps in ("1e-9", "1"))
        assert [finding.code for finding in lost.diagnostics] == ["DPQL-W212"]
        assert not sound.diagnostics


def test_a_variance_that_noise_hides_is_better_assumed() -> None:
    small = DECLARED.replace("ROWS 3000", "ROWS 400")
    text = "TEST logrank group=young effect=0.5{} BUDGET eps=1"
    made = plan(small + text.format(""))
    assert [finding.code for finding in made.diagnostics] == ["DPQL-W216"]
    assert plan(small + text.format(" trace=bound")).diagnostics == ()


def test_without_an_effect_there_is_no_power_to_expect() -> None:
    text = "TEST logrank group=young BUDGET eps=1 AS t\nEXPECT t.power >= 0.8"
    assert "DPQL-E066" in [finding.code for finding in plan(DECLARED + text).diagnostics]
