"""Shares of a budget sum to it exactly, whatever the weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from planner.calculus.cost import Cost
from planner.calculus.shares import apportioned, balanced, part_of, split

F = Fraction
weights = st.lists(
    st.fractions(F(1, 1000), F(1000), max_denominator=10**6), min_size=1, max_size=500
)
budgets = st.sampled_from(
    [
        Cost("eps", F(1)),
        Cost("rho", F(7, 10)),
        Cost("mu", F(13, 10)),
        Cost("mu", F(1), square=F(1)),
        Cost("eps_delta", F(3), F(1, 10**6)),
        Cost("rho", F(1, 3)),
    ]
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(budgets, weights)
def test_the_parts_sum_to_the_budget_exactly_in_proportion(
    budget: Cost, given_weights: list[F]
) -> None:
    parts = split(budget, given_weights)
    assert sum(part.additive for part in parts) == budget.additive
    assert sum(part.delta for part in parts) == budget.delta
    assert {part.unit for part in parts} == {budget.unit}
    whole = sum(given_weights)
    for part, weight in zip(parts, given_weights, strict=True):
        assert part.additive * whole == budget.additive * weight
        assert part.unit != "mu" or part.amount**2 <= part.additive


def test_three_thirds_and_ten_tenths_fill_one() -> None:
    for count in (3, 7, 10, 11, 500):
        parts = split(Cost("mu", F(1)), [F(1)] * count)
        assert sum(part.additive for part in parts) == 1
        assert all(part.additive == F(1, count) for part in parts)


@pytest.mark.parametrize("wrong", [[], [F(0)], [F(1), F(-1)]])
def test_weights_that_are_not_positive_are_refused(wrong: list[F]) -> None:
    with pytest.raises(ValueError, match="weights are positive"):
        split(Cost("rho", F(1)), wrong)


@pytest.mark.parametrize("part", [F(0), F(-1, 2), F(3, 2)])
def test_a_part_is_no_more_than_the_whole(part: F) -> None:
    with pytest.raises(ValueError, match="lies in"):
        part_of(Cost("rho", F(1)), part)


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 10**6), weights)
def test_whole_numbers_are_apportioned_without_loss(total: int, given_weights: list[F]) -> None:
    parts = apportioned(total, given_weights)
    whole = sum(given_weights)
    assert sum(parts) == total
    assert all(abs(p - total * w / whole) < 1 for p, w in zip(parts, given_weights, strict=True))


@pytest.mark.parametrize(("unit", "power"), [("rho", 1), ("mu", 1), ("eps", 2)])
def test_balanced_parts_make_the_sum_of_squared_errors_least(unit: str, power: int) -> None:
    importance = [0.3, 2.0, 41.0, 0.007]
    parts = np.array([float(one) for one in balanced(importance, unit)])  # type: ignore[arg-type]
    parts /= parts.sum()
    a = np.array(importance)

    def loss(log_parts: np.ndarray) -> float:
        shares = np.exp(log_parts) / np.exp(log_parts).sum()
        return float((a / shares**power).sum())

    best = minimize(loss, np.zeros(4), method="BFGS", tol=1e-12)
    assert loss(np.log(parts)) == pytest.approx(best.fun, rel=1e-9)
