"""Rescaling before, and shrinkage after, a release of all correlations: published values."""

from __future__ import annotations

import numpy as np
import pytest

from executors.statistics.covariance_scales import scales_of
from executors.statistics.covariance_shrinkage import noise_edge, shrunk, stands_out


def factor() -> np.ndarray:
    u = np.array([1, 1, 1, 1, 0.5, -0.5])
    y = 0.3 * np.outer(u, u)
    np.fill_diagonal(y, 0.0)
    return y


def test_little_noise_takes_one_factor() -> None:
    found = shrunk(factor(), 0.02)
    assert found.rule == "scalar"
    assert found.matrix[0, 1] == pytest.approx(0.297519379845, abs=1e-11)
    assert found.risk == pytest.approx(0.011900775194, abs=1e-11)
    assert shrunk(factor(), 0.05).matrix[0, 1] == pytest.approx(0.284496124031, abs=1e-11)


def test_more_noise_keeps_the_eigenvalue_that_stands_out() -> None:
    found = shrunk(factor(), 0.15)
    assert found.rule == "spectral"
    assert noise_edge(0.15, 6) == pytest.approx(0.846122379174, abs=1e-11)
    assert found.matrix[0, 1] == pytest.approx(0.167676755806, abs=1e-11)
    assert found.matrix[0, 4] == pytest.approx(0.100181282948, abs=1e-11)
    assert found.matrix[4, 5] == pytest.approx(-0.059854983506, abs=1e-11)
    assert (np.diag(found.matrix) == 0).all()
    assert stands_out(factor(), 0.15)


def test_too_much_noise_leaves_nothing() -> None:
    assert not shrunk(factor(), 0.3).matrix.any()
    assert not stands_out(factor(), 0.3)


def test_one_large_entry_takes_a_threshold() -> None:
    y = np.zeros((6, 6))
    for j, k, value in ((0, 1, 0.6), (2, 3, 0.05), (4, 5, -0.05)):
        y[j, k] = y[k, j] = value
    found = shrunk(y, 0.05)
    assert found.rule == "soft"
    assert found.matrix[0, 1] == pytest.approx(0.541818707892, abs=1e-11)
    assert np.count_nonzero(found.matrix) == 2


def test_the_estimated_risk_is_the_error_on_average() -> None:
    """Stein's estimates, each averaged over many draws, against the mean squared error."""
    rng = np.random.default_rng(1)
    truth, deviation = factor(), 0.1
    rows, columns = np.triu_indices(6, 1)
    errors, risks = [], []
    for _ in range(2000):
        noise = np.zeros((6, 6))
        noise[rows, columns] = rng.normal(0, deviation, len(rows))
        found = shrunk(truth + noise + noise.T, deviation)
        errors.append(((found.matrix - truth) ** 2).sum())
        risks.append(found.risk)
    assert np.mean(risks) == pytest.approx(np.mean(errors), rel=0.35)


def test_nothing_at_all_is_shrunk_to_nothing() -> None:
    found = shrunk(np.zeros((3, 3)), 0.1)
    assert not found.matrix.any()


def test_scales_are_standard_deviations_with_a_floor() -> None:
    """By the formulas as they are written down, in plain Python."""
    y, raw, se = np.array([0.2, 0.01, 0.0]), 0.07, 0.03
    mean = np.array([0.1, -0.5, 0.0])
    floor = raw + se / 3**0.5
    square = [min(max(v, floor / 16, 1e-6), 1.0) for v in y]
    found = scales_of(y, raw, se, mean, 2.0)
    assert found.s == pytest.approx([v**0.5 for v in square])
    expected = sum(a / b for a, b in zip(y, square)) + se * sum(b**-2 for b in square) ** 0.5
    assert found.square == pytest.approx(2.0 * expected)
    longest = sum((1 + abs(m)) ** 2 / b for m, b in zip(mean, square))
    assert scales_of(y, raw, se, mean, 1e9).square == pytest.approx(longest)
    negative = scales_of(np.zeros(2), -0.5, 0.01, np.zeros(2), 2.0)
    assert negative.s == pytest.approx([(0.01 / 2**0.5 / 16) ** 0.5] * 2)
