"""Running and grouped sums are right to about 100 bits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from executors.statistics.survival_sums import (
    LONGEST_RUN,
    add,
    cumulate,
    group_sums,
    levels_for,
    pair_of,
    total,
)


def exact(high: np.ndarray, low: np.ndarray) -> list[Fraction]:
    return [Fraction(float(h)) + Fraction(float(x)) for h, x in zip(high, low)]


def terms(size: int, seed: int) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).uniform(-30, 30, size))


@pytest.mark.parametrize("size", [1, 2, 7, 63, 64, 65, 200, 5000])
def test_running_sums_keep_a_hundred_bits(size: int) -> None:
    values = terms(size, size)
    found = exact(*cumulate((values, np.zeros(size))))
    truth = list(accumulate(Fraction(float(v)) for v in values))
    assert max(abs(a / b - 1) for a, b in zip(found, truth)) < Fraction(1, 2**90)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [1.0, 60.0, 1200.0])
def test_group_sums_of_positive_numbers_keep_fifty_four_bits(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, [2, 3, 5, 40, 300, 9][seed], 50)
    values = np.exp(rng.uniform(-spread / 2, spread / 2, (2, int(counts.sum()))))
    values[1] *= 1e-9  # each row has its own grids
    high, low = group_sums(pair_of(values), counts, levels_for(spread))
    ends = np.cumsum(counts)
    for row in range(2):
        for found, end, count in zip(exact(high[row], low[row]), ends, counts):
            truth = sum(Fraction(float(v)) for v in values[row, end - count : end])
            assert abs(found / truth - 1) < Fraction(1, 2**54)


@pytest.mark.parametrize("spread", [0.0, 4.0, 27.0, 28.0, 600.0])
def test_sums_of_billions_of_weights_may_stand_beside_a_single_one(spread: float) -> None:
    """When parts are merged, a sum of 2^33 of the largest weights meets runs of the smallest."""
    rng = np.random.default_rng(int(spread))
    small = rng.uniform(1.0, 2.0, LONGEST_RUN)
    values = np.append(small, 2.0**33 * np.exp(spread))
    high, low = group_sums(pair_of(values), np.array([LONGEST_RUN, 1]), levels_for(spread))
    truth = sum(map(Fraction, small.tolist()))
    assert abs(exact(high[:1], low[:1])[0] / truth - 1) < Fraction(1, 2**54)


def test_the_longest_run_adds_up_without_error() -> None:
    values = np.random.default_rng(2).uniform(0.5, 1.0, LONGEST_RUN)
    (high,), (low,) = (part.tolist() for part in group_sums(pair_of(values), np.array([2**16])))
    truth = sum(map(Fraction, values.tolist()))
    assert abs((Fraction(high) + Fraction(low)) / truth - 1) < Fraction(1, 2**90)


def test_low_parts_are_added_too() -> None:
    pair = (np.array([1.0, 2.0, 4.0]), np.array([2.0**-60, 2.0**-61, 0.0]))
    high, low = group_sums(pair, np.array([2, 1]))
    assert exact(high, low) == [3 + Fraction(3, 2**61), Fraction(4)]


def test_a_long_sum_is_rounded_once() -> None:
    values = np.random.default_rng(3).normal(0, 1, 200_000)
    assert total(values) == math.fsum(values)
    assert total(np.zeros(0)) == 0.0


def test_a_plain_running_sum_would_not_do() -> None:
    values = np.full(2**16, 0.1)
    truth = Fraction(0.1) * 2**16
    assert abs(Fraction(float(np.cumsum(values)[-1])) / truth - 1) > Fraction(1, 2**50)
    high, low = cumulate((values, np.zeros(len(values))))
    assert abs(exact(high[-1:], low[-1:])[0] / truth - 1) < Fraction(1, 2**90)


def test_pairs_add_without_loss() -> None:
    high, low = add((np.array([1e16]), np.array([1.0])), (np.array([-1e16]), np.array([0.5])))
    assert exact(high, low) == [Fraction(3, 2)]


def test_nothing_adds_up_to_nothing() -> None:
    none = np.zeros(0)
    assert len(cumulate((none, none))[0]) == 0
