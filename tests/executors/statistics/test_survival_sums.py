"""Running and grouped sums are right to about 100 bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from executors.statistics.survival_sums import add, cumulate, group_sums


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
def test_group_sums_keep_a_hundred_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, [2, 3, 5, 40, 300, 9][seed], 50)
    values = terms(int(counts.sum()), seed)
    found = exact(*group_sums((values, np.zeros(len(values))), counts))
    ends = np.cumsum(counts)
    for total, end, count in zip(found, ends, counts):
        truth = sum(Fraction(float(v)) for v in values[end - count : end])
        assert abs(total / truth - 1) < Fraction(1, 2**90)


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
