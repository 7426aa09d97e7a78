"""Advice about a better method: given where the better method really errs less."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpql
from executors.mechanisms.adaptive import MECHANISM as ADAPTIVE
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.diagonal.forecast import forecast
from executors.mechanisms.pace import MECHANISM as PACE
from executors.mechanisms.ssp import MECHANISM as SSP
from executors.mechanisms.ssp.forecast import forecast as ssp_forecast
from executors.pricing.covariance_advice import advice
from planner.calculus.cost import Cost
from suites.covariance_tables import facts_of, loss_of, released, stats_of

CODES = Path(dpql.__file__).parent / "codes"


def codes(method: Any, rows: int, columns: int, rho: float, **more: Any) -> list[str]:
    facts = facts_of(rows, [(-1, 1)] * columns, max_rows=more.pop("max_rows", 1))
    return [w["code"] for w in advice(method, facts, Fraction((2 * rho) ** 0.5), **more)]


def table(rows: int, columns: int, shared: float) -> np.ndarray:
    """Columns of variance 1/9 with equal correlations."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=(rows, 1)) * shared**0.5
    x = common + rng.normal(size=(rows, columns)) * (1 - shared) ** 0.5
    return np.clip(x / 3, -1, 1)


def error(mechanism: Any, x: np.ndarray, rho: Fraction) -> float:
    """The median Frobenius error of seven releases."""
    facts = facts_of(len(x), [(-1, 1)] * x.shape[1])
    truth = np.cov(x.T, bias=True)
    cost, stats = Cost("rho", rho), stats_of(x)
    found = [released(mechanism, mechanism.params(), facts, cost, stats, s) for s in range(7)]
    return float(np.median([np.linalg.norm(np.array(o.value["matrix"]) - truth) for o in found]))


def test_where_zeros_err_less_than_ssp_even_with_the_highest_correlations() -> None:
    assert codes("ssp", 300, 12, 0.01) == ["DPQL-W250"]
    x = table(300, 12, 0.99)
    assert error(DIAGONAL, x, Fraction(1, 100)) < error(SSP, x, Fraction(1, 100))


@pytest.mark.parametrize("shared", [0.0, 0.4])
def test_where_pace_errs_less_than_ssp(shared: float) -> None:
    assert codes("ssp", 300, 12, 0.1) == ["DPQL-W251"]
    x = table(300, 12, shared)
    assert error(PACE, x, Fraction(1, 10)) < error(SSP, x, Fraction(1, 10))


def test_diagonal_tells_what_all_pairs_would_show() -> None:
    facts = facts_of(5000, [(-1, 1)] * 6)
    cost = Cost("rho", Fraction(1, 10))
    figures = forecast(DIAGONAL.params(), facts, loss_of(DIAGONAL, DIAGONAL.params(), facts, cost))
    ssp = ssp_forecast(SSP.params(), facts, loss_of(SSP, SSP.params(), facts, cost))
    told = figures["correlation_noise_of_all_pairs"]
    assert told == pytest.approx(9 * ssp["noise_sd_covariance"], rel=0.01)


def test_where_a_search_for_a_radius_finds_nothing() -> None:
    assert codes("adaptive", 1000, 3, 0.1) == ["DPQL-W253"]
    x = table(1000, 3, 0.3)
    assert error(SSP, x, Fraction(1, 10)) < error(ADAPTIVE, x, Fraction(1, 10))


def test_nothing_is_said_of_a_good_choice() -> None:
    assert codes("ssp", 5000, 6, 0.1) == []
    assert codes("ssp", 50, 1, 0.1) == []
    assert codes("ssp", 50, 2, 0.5) == []
    assert codes("adaptive", 1000, 30, 0.1) == []
    assert codes("ssp", 300, 12, 0.1, norm="l2") == []


def test_several_rows_a_person_count_as_fewer_rows() -> None:
    assert codes("ssp", 3000, 12, 0.1) == []
    assert codes("ssp", 3000, 12, 0.1, max_rows=10) == ["DPQL-W251"]


@pytest.mark.parametrize("code", ["DPQL-W250", "DPQL-W251", "DPQL-W253"])
def test_the_example_of_each_page_is_warned_of(code: str) -> None:
    text = (CODES / f"{code}.md").read_text()
    block = text.split("Example:\n\n")[1].split("\n\nMeasure")[0].split("\n\nWrite")[0]
    query = "\n".join(line[4:] for line in block.split("\n"))
    assert [d.code for d in dpql.plan(query).diagnostics] == [code]
