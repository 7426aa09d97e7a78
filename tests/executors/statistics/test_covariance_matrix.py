"""Centring, projection and the noise of a centred matrix."""

from __future__ import annotations

import numpy as np
import pytest

from executors.statistics.covariance_matrix import (
    centred,
    centred_deviation,
    from_triangle,
    projected,
    scaled,
    triangle,
)


def test_the_published_example_of_a_private_centre() -> None:
    augmented = np.array([[1, 0.5, 0.2], [0.5, 0.3, 0.05], [0.2, 0.05, 0.02]])
    matrix = projected(centred(augmented[1:, 1:], augmented[1:, 0]))
    assert matrix == pytest.approx(
        np.array([[0.05981736, -0.03114424], [-0.03114424, 0.01621542]]), abs=1e-8
    )


@pytest.mark.parametrize("order", [1, 2, 5, 40])
def test_a_projection_is_symmetric_positive_and_nearest(order: int) -> None:
    rng = np.random.default_rng(order)
    for _ in range(20):
        noise = rng.normal(size=(order, order))
        raw = noise + noise.T
        matrix = projected(raw)
        assert np.array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-12
        assert projected(matrix) == pytest.approx(matrix, abs=1e-10)
        negative = np.linalg.eigvalsh(raw).clip(None, 0.0)
        assert np.linalg.norm(matrix - raw) == pytest.approx(np.linalg.norm(negative), abs=1e-9)


def test_a_positive_matrix_is_left_alone() -> None:
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert np.array_equal(projected(matrix), matrix)


def test_the_triangle_goes_there_and_back() -> None:
    matrix = np.array([[1, 2, 3], [2, 4, 5], [3, 5, 6]])
    assert triangle(matrix) == [2, 3, 5]
    assert np.array_equal(from_triangle([1.0, 4.0, 6.0], [2.0, 3.0, 5.0]), matrix)


def test_scaling_multiplies_by_both_units() -> None:
    matrix = scaled(np.ones((2, 2)), np.array([2.0, 5.0]))
    assert np.array_equal(matrix, [[4.0, 10.0], [10.0, 25.0]])
    rng = np.random.default_rng(1)
    noisy = rng.normal(size=(9, 9))
    found = scaled(projected(noisy + noisy.T), rng.uniform(0.1, 99, 9))
    assert np.array_equal(found, found.T)


def test_the_stated_deviation_is_that_of_simulated_errors() -> None:
    rng = np.random.default_rng(4)
    mean, square, product, noise = np.array([0.5, -0.8, 0.1]), 0.05, 0.1, 0.2
    second = np.outer(mean, mean)
    draws = []
    for _ in range(40_000):
        e = rng.normal(0, noise, 3)
        pairs = rng.normal(0, product, 3) + second[np.triu_indices(3, 1)]
        noisy = from_triangle(rng.normal(0, square, 3) + np.diag(second), pairs)
        draws.append(centred(noisy, mean + e))
    found = np.sqrt((np.array(draws) ** 2).mean(axis=0))
    assert found == pytest.approx(centred_deviation(mean, square, product, noise), rel=0.02)
