"""What a plan says on a terminal: options as they will be used, noise by what it hides, sources."""

from __future__ import annotations

import re

import pytest

import dpql
from dpql.text import rule

TRIAL = """
DATASET trial ROWS 3000 UNIT patient
  COLUMNS (months DURATION IN [0, 60], died EVENT, treated BOOLEAN, age REAL IN [18, 90])
TEST logrank group=treated effect=-0.5 mu=0.4 AS arms
TEST cox beta=[0] VS [0.03] COLUMNS (age) eps=0.5 AS older
COVARIANCE ssp COLUMNS (age, treated) eps=1, delta=1e-6 AS spread
COVARIANCE pace COLUMNS (age, treated) rho=0.1 AS searched
"""


@pytest.fixture(scope="module")
def text() -> str:
    return str(dpql.plan(TRIAL))


def test_every_option_is_told_with_what_auto_became(text: str) -> None:
    told = " ".join(text.split())
    assert "options beta=[0] VS [0.03], event_rate=0.5" in told
    assert "group=treated, level=0.05, riskfloor=0.1" in told
    assert re.search(r"shrink=0\.\d+ \(auto\)", told)
    assert "variant" not in told


def test_noise_names_what_it_hides(text: str) -> None:
    assert "of scale" in text
    assert "for sensitivity 5." in text
    assert ", on the score\n" in text
    assert ", on the variance\n" in text
    assert "times the sensitivity" in text
    assert "grid steps" not in text
    assert "integer_scale" not in text


def test_a_filter_is_told_in_its_unit(text: str) -> None:
    (most,) = re.findall(r"noise     at most (\S+), drawn step by step", text)
    assert re.fullmatch(r"(mu|rho)=0\.\d{3,6}", most)


def test_an_eps_says_where_it_comes_from_and_its_delta_can_be_typed(text: str) -> None:
    assert "eps=1 at delta=1e-6, as declared" in text
    assert ", from mu)" in text
    assert ", from mu)" in text
    assert not re.search(r"\bC\d+\b|1e-0", text)
    assert rule("eps+C10") == "from eps and mu"
    mixed = TRIAL[: TRIAL.index("COVARIANCE pace")]
    assert ", PLD)" in str(dpql.plan(mixed))


def test_a_person_with_one_row_is_told_so(text: str) -> None:
    assert "protects one person (patient, one row) replaced" in text


def test_no_line_of_a_plan_is_wide_and_no_cost_is_told_twice(text: str) -> None:
    assert max(map(len, text.split("\n"))) <= 96
    assert "eps=0.5," in text
    assert "eps=0.5 at delta" not in text
