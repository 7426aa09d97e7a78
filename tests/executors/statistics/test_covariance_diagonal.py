"""Variances drawn towards their average, means towards zero."""

from __future__ import annotations

import numpy as np
import pytest

from executors.statistics.covariance_diagonal import shrunk_means, shrunk_variances


def test_the_published_example_of_shrunk_variances() -> None:
    found = shrunk_variances(np.array([0.1, 0.2, -0.05, 0.3, 0.15]), 0.08)
    assert found.factor == pytest.approx(0.808955223881, abs=1e-12)
    expected = [0.107641791045, 0.188537313433, 0.0, 0.269432835821, 0.148089552239]
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.variance == pytest.approx(0.005177313433, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_up_to_three_variances_are_only_clipped(count: int) -> None:
    raw = np.array([-0.2, 0.4, 1.3])[:count]
    found = shrunk_variances(raw, 0.5)
    assert found.factor == 1.0
    assert np.array_equal(found.value, np.clip(raw, 0, 1))
    assert found.variance == 0.25


def test_equal_variances_collapse_to_their_average() -> None:
    found = shrunk_variances(np.full(5, 0.3), 0.1)
    assert found.factor == 0.0
    assert found.value == pytest.approx(np.full(5, 0.3))
    assert found.variance == pytest.approx(0.01 / 5)


def test_noise_alone_is_averaged_away() -> None:
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(2000):
        raw = 0.2 + rng.normal(0, 0.05, 30)
        errors.append(((shrunk_variances(raw, 0.05).value - 0.2) ** 2).mean())
    assert np.mean(errors) < 0.15 * 0.05**2


def test_means_are_shrunk_clipped_and_rounded_to_the_grid() -> None:
    noisy = np.array([0.5, -0.25, 1.75])
    factor = 1 - 0.1**2 / (noisy @ noisy)
    found = shrunk_means(noisy, 0.1)
    assert found == pytest.approx(np.clip(factor * noisy, -1, 1), abs=2**-17)
    assert np.array_equal(found * 2**16, np.rint(found * 2**16))


@pytest.mark.parametrize("count", [1, 2])
def test_up_to_two_means_are_not_shrunk(count: int) -> None:
    noisy = np.array([0.5, -0.25])[:count]
    assert np.array_equal(shrunk_means(noisy, 0.4), noisy)


def test_means_below_the_noise_become_zero() -> None:
    assert np.array_equal(shrunk_means(np.full(6, 0.01), 1.0), np.zeros(6))
    assert np.array_equal(shrunk_means(np.zeros(6), 1.0), np.zeros(6))
