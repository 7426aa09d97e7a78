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
from executors.mechanisms.pace.forecast import forecast as pace_forecast
from executors.mechanisms.pace.forecast import resolve
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


def error(mechanism: Any, x: np.ndarray, rho: Fraction, center: str = "private") -> float:
    """The median Frobenius error of seven releases."""
    facts = facts_of(len(x), [(-1, 1)] * x.shape[1])
    truth = np.cov(x.T, bias=True) if center == "private" else x.T @ x / len(x)
    cost, stats, params = Cost("rho", rho), stats_of(x), mechanism.params(center=center)
    found = [released(mechanism, params, facts, cost, stats, s) for s in range(7)]
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


def pace_codes(rows: int, columns: int, rho: Fraction, center: str) -> list[str]:
    facts, cost = facts_of(rows, [(-1, 1)] * columns), Cost("rho", rho)
    params = resolve(PACE.params(center=center), facts, cost)
    found = pace_forecast(params, facts, loss_of(PACE, params, facts, cost))
    return [warning["code"] for warning in found["warnings"]]


@pytest.mark.parametrize(
    ("rows", "columns", "rho", "center"),
    [(1000, 2, 1, "midpoint"), (3000, 4, 20, "midpoint"), (2500, 20, 220, "private")],
)
def test_where_ssp_errs_less_than_pace(rows: int, columns: int, rho: int, center: str) -> None:
    assert "DPQL-W243" in pace_codes(rows, columns, Fraction(rho), center)
    x = table(rows, columns, 0.3)
    assert error(SSP, x, Fraction(rho), center) < error(PACE, x, Fraction(rho), center)


@pytest.mark.parametrize(("columns", "rho"), [(2, Fraction(1, 10)), (4, Fraction(20))])
def test_about_a_private_mean_few_columns_are_left_to_pace(columns: int, rho: Fraction) -> None:
    assert pace_codes(3000, columns, rho, "private") == []
    x = table(3000, columns, 0.3)
    assert error(PACE, x, rho) < error(SSP, x, rho)


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


@pytest.mark.parametrize("code", ["DPQL-W243", "DPQL-W250", "DPQL-W251", "DPQL-W253"])
def test_the_example_of_each_page_is_warned_of(code: str) -> None:
    text = (CODES / f"{code}.md").read_text()
    block = (
        text.split("Example:\n\n")[1]
        .split("\n\nMeasure")[0]
        .split("\n\nWrite")[0]
        .split("\n\nType")[0]
    )
    query = "\n".join(line[4:] for line in block.split("\n"))
    assert [d.code for d in dpql.plan(query).diagnostics] == [code]
