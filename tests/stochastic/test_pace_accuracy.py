"""`COVARIANCE pace` on generated data: errors and branches lie where they were published.

About the middle, ranges of three standard deviations to each side. Seeds are fixed, so nothing
here fails by chance.
"""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import resolve
from executors.mechanisms.pace.run import run
from executors.noise import StatementNoise
from executors.release import Outcome
from planner.calculus.cost import Cost
from suites.covariance_tables import ArrayReader, factors, facts_of, loss_of, pairs_of_columns
from suites.samplers import FastSampler


def released(rows: np.ndarray, rho: Fraction, seeds: range, **options: Any) -> list[Outcome]:
    facts, cost = facts_of(len(rows), [(-1, 1)] * rows.shape[1]), Cost("rho", rho)
    params = resolve(MECHANISM.params(**options), facts, cost)
    loss = loss_of(MECHANISM, params, facts, cost)
    known: dict[Any, Any] = {}

    def stats(query: Any) -> Any:
        if query not in known:
            module = import_module(f"executors.summaries.{query.summary}")
            known[query] = module.summarise(query, ArrayReader(rows))
        return known[query]

    return [
        run(params, facts, loss, stats, StatementNoise(FastSampler(seed), loss)) for seed in seeds
    ]


def median_error(rows: np.ndarray, rho: Fraction, seeds: range, **options: Any) -> float:
    outcomes = released(rows, rho, seeds, **options)
    centre = rows.mean(axis=0) if outcomes[0].value["kind"] == "covariance" else 0.0
    truth = (rows - centre).T @ (rows - centre) / len(rows)
    errors = [np.linalg.norm(np.array(o.value["matrix"]) - truth) for o in outcomes]
    return float(np.median(errors) / np.linalg.norm(truth))


@pytest.mark.slow
def test_three_factors_in_a_hundred_columns() -> None:
    rows, rho, seeds = factors(), Fraction(1, 10), range(1000, 1005)
    assert 0.09 <= median_error(rows, rho, seeds, variant="paper") <= 0.12
    assert median_error(rows, rho, seeds, center="midpoint") == pytest.approx(0.0977, rel=0.1)
    assert median_error(rows, rho, seeds, center="midpoint", strategy="dense") < 0.12


@pytest.mark.slow
def test_the_pilot_sees_what_is_spread_out_and_what_is_not() -> None:
    """Factors are everywhere; 32 pairs among 33,670 are not, unless the cost is high."""
    spread = released(factors(), Fraction(1, 10), range(5), center="midpoint")
    assert {outcome.value["branch"] for outcome in spread} == {"dense"}
    sparse = pairs_of_columns()
    few = released(sparse, Fraction(1, 10), range(4), center="midpoint")
    assert [outcome.value["branch"] for outcome in few].count("entries") >= 3
    rich = released(sparse, Fraction(10), range(3), center="midpoint")
    assert {outcome.value["branch"] for outcome in rich} == {"dense"}
    assert all(outcome.value["converged"] for outcome in (*spread, *few, *rich))


@pytest.mark.slow
def test_thirty_two_pairs_are_found_one_by_one() -> None:
    rows = pairs_of_columns()
    (outcome,) = released(rows, Fraction(1), range(1), center="midpoint", strategy="entries")
    table = outcome.value["measurements"]
    found = {(j, k) for j, k in zip(table["j"], table["k"]) if k is not None and j != k}
    assert {(f"x{2 * i}", f"x{2 * i + 1}") for i in range(32)} <= found
