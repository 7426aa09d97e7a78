"""Correlations of a matrix with its noise."""

from __future__ import annotations

import numpy as np
import pytest

from executors.statistics.correlation import correlations
from executors.statistics.covariance_matrix import projected


def flat(order: int, noise: float) -> list[list[float | None]]:
    return [[noise] * order for _ in range(order)]


def test_a_matrix_without_noise_gives_numpys_correlations() -> None:
    rows = np.random.default_rng(1).normal(size=(200, 4)) @ np.diag([1, 2, 0.01, 50])
    matrix = np.cov(rows.T)
    found = correlations(matrix.tolist(), flat(4, 0.0))
    assert np.array(found.matrix, dtype=float) == pytest.approx(np.corrcoef(rows.T))
    assert found.unseen == ()
    assert np.array(found.deviation, dtype=float).max() == 0.0


def test_a_variance_inside_three_deviations_has_no_correlations() -> None:
    matrix = [[1.0, 0.1, 0.1], [0.1, 0.3, 0.1], [0.1, 0.1, 0.31]]
    found = correlations(matrix, flat(3, 0.1))
    assert found.unseen == (1,)
    assert found.matrix[1] == (None, None, None)
    assert [row[1] for row in found.matrix] == [None] * 3
    assert found.matrix[0][0] == 1.0
    assert found.matrix[0][2] == pytest.approx(0.1 / np.sqrt(0.31))
    assert found.deviation[0][1] is None


def test_a_variance_of_zero_has_no_correlations_even_without_noise() -> None:
    found = correlations([[0.0, 0.0], [0.0, 1.0]], flat(2, 0.0))
    assert found.unseen == (0,)
    assert found.matrix == ((None, None), (None, 1.0))


def test_correlations_are_clipped_and_symmetric() -> None:
    found = correlations([[1.0, 1.0 + 1e-12], [1.0 + 1e-12, 1.0]], flat(2, 0.0))
    assert found.matrix == ((1.0, 1.0), (1.0, 1.0))


def test_entries_that_were_not_measured_have_no_noise() -> None:
    found = correlations([[1.0, 0.5], [0.5, 1.0]], [[0.1, None], [None, 0.1]])
    assert found.matrix[0][1] == 0.5
    assert found.deviation[0][1] is None
    assert found.deviation[0][0] == 0.0


def test_the_stated_noise_is_that_of_simulated_matrices() -> None:
    rng = np.random.default_rng(2)
    truth = np.array([[1.0, 0.6, 0.1], [0.6, 2.0, 0.3], [0.1, 0.3, 1.5]])
    draws = []
    for _ in range(4000):
        noise = np.triu(rng.normal(0, 0.03, (3, 3)))
        noisy = truth + noise + np.triu(noise, 1).T
        draws.append(correlations(projected(noisy).tolist(), flat(3, 0.03)).matrix)
    stated = np.array(correlations(truth.tolist(), flat(3, 0.03)).deviation, dtype=float)
    found = np.array(draws, dtype=float).std(axis=0)
    off = np.triu_indices(3, 1)
    assert found[off] == pytest.approx(stated[off], rel=0.06)
