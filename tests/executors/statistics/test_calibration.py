"""The calibrated threshold against 40-digit values, brute force and its own inverse."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from executors.statistics.calibration import (
    largest_calm_sigma,
    log_cstar,
    log_k,
    log_k_laplace,
    p_calibrated,
    z_tangent,
)

LEVELS = (0.1, 0.05, 0.01, 0.001)

# sigma: z, K, thresholds at the four levels.
TABLE = {
    0.01: (
        2.71644490704,
        0.969941748106,
        (9.69941748106, 19.3988349621, 96.9941748106, 969.941748106),
    ),
    0.05: (
        2.04806205927,
        0.883257534884,
        (8.83257534884, 17.6651506977, 88.3257534884, 883.257534884),
    ),
    0.1: (
        1.69121674102,
        0.802051750117,
        (8.02051750117, 16.0410350023, 80.2051750117, 802.051750117),
    ),
    0.25: (
        1.10602046793,
        0.636328762640,
        (6.36328762640, 12.7265752528, 63.6328762640, 636.328762640),
    ),
    0.5: (
        0.517912715992,
        0.475273666271,
        (4.75273666271, 9.50547332542, 47.5273666271, 475.273666271),
    ),
    1: (
        -0.302630840712,
        0.312828423846,
        (3.12828423846, 6.25656847691, 31.2828423846, 312.828423846),
    ),
    2: (
        -1.57185768838,
        0.182001812481,
        (1.75611350427, 3.64003624963, 18.2001812481, 182.001812481),
    ),
    3: (
        -2.69371837568,
        0.126887420480,
        (0.519262728458, 1.54428478503, 11.9298495161, 126.887420480),
    ),
    5: (
        -4.80697691592,
        0.0783158397229,
        (0.00226033516798, 0.0139018706990, 0.419680895207, 19.1281587761),
    ),
}

EXTREMES = {
    1e-3: 0.996276327515,
    10: 0.0396990571206,
    50: 0.00797725127254,
    1000: 3.98942080931e-4,
    1e5: 3.98942280381e-6,
}


def exact_log_k(sigma: float) -> mp.mpf:
    """log K with 50 digits: the tangent point by bisection, then phi(z + sigma) / sigma."""
    with mp.workdps(60):
        s = mp.mpf(sigma)
        low, high = -s - 1, mp.mpf(60)
        for _ in range(230):
            z = (low + high) / 2
            above = -z * z / 2 - mp.log(2 * mp.pi) / 2 - mp.log(mp.ncdf(z)) - mp.log(s) > 0
            low, high = (z, high) if above else (low, z)
        return -((low + s) ** 2) / 2 - mp.log(2 * mp.pi) / 2 - mp.log(s)


@pytest.mark.parametrize("sigma", TABLE)
def test_the_table_of_thresholds_is_reproduced(sigma: float) -> None:
    z, k, thresholds = TABLE[sigma]
    assert z_tangent(sigma) == pytest.approx(z, rel=1e-10)
    assert math.exp(log_k(sigma)) == pytest.approx(k, rel=1e-10)
    for level, threshold in zip(LEVELS, thresholds):
        assert math.exp(log_cstar(level, sigma)) == pytest.approx(threshold, rel=1e-10)


@pytest.mark.parametrize("sigma", EXTREMES)
def test_extreme_noise_keeps_its_digits(sigma: float) -> None:
    assert math.exp(log_k(sigma)) == pytest.approx(EXTREMES[sigma], rel=1e-10)


@pytest.mark.parametrize(
    "sigma",
    [1e-6, 1e-4, 0.3, 0.797, 0.8, 7, 30, 49.99, 50.0, 50.01, 50.1, 51, 60, 300, 1e4, 1e5],
)
def test_log_k_is_never_below_the_truth_and_hardly_above(sigma: float) -> None:
    excess = float(mp.mpf(log_k(sigma)) - exact_log_k(sigma))
    assert 0 <= excess < 2e-12


def test_the_small_p_values_are_reproduced() -> None:
    for log_evalue, sigma, p in (
        (3, 0.5, 0.0236624825),
        (1, 1, 0.1150831457),
        (-1, 2, 0.3085375387),
        (0, 3, 0.0668072013),
    ):
        assert p_calibrated(log_evalue, sigma) == pytest.approx(p, abs=6e-11)


def test_the_second_regime_begins_where_the_constant_becomes_worst() -> None:
    for level, sigma in ((0.1, 1.754983), (0.05, 2.062713), (0.01, 2.665214), (0.001, 3.367090)):
        assert largest_calm_sigma(level) == pytest.approx(sigma, abs=5e-7)
        border = largest_calm_sigma(level)
        assert log_cstar(level, border * (1 - 1e-9)) == pytest.approx(
            log_cstar(level, border * (1 + 1e-9)), abs=1e-7
        )


def test_laplace_noise_has_its_own_constant() -> None:
    for beta, k in ((0.2, 0.6421932494), (0.5, 0.4082482905), (0.8, 0.1820153343)):
        assert math.exp(log_k_laplace(beta)) == pytest.approx(k, rel=3e-10)
        grid = np.linspace(-20, 20, 400_001)
        tau = -math.log1p(-beta * beta)
        # c P(e^-xi >= c) with xi = tau + Laplace: the largest value is K.
        tail = np.where(
            -grid - tau <= 0,
            0.5 * np.exp((-grid - tau) / beta),
            1 - 0.5 * np.exp(-(-grid - tau) / beta),
        )
        assert float(np.max(np.exp(grid) * tail)) <= k * (1 + 1e-9)
        assert float(np.max(np.exp(grid) * tail)) == pytest.approx(k, rel=1e-6)
    assert log_k_laplace(0.0) == 0.0


sigmas = st.floats(1e-5, 1e4)


@given(sigmas, st.floats(1.001, 5))
def test_more_noise_lowers_the_constant(sigma: float, factor: float) -> None:
    assert log_k(sigma * factor) < log_k(sigma) < 0


@given(sigmas, st.floats(1e-6, 0.5), st.floats(1.001, 1.9))
def test_a_smaller_level_needs_more_evidence(sigma: float, level: float, factor: float) -> None:
    assert log_cstar(level, sigma) > log_cstar(level * factor, sigma)


@given(st.floats(1e-4, 20), st.floats(1e-6, 0.9))
def test_the_threshold_has_its_level_as_p_value(sigma: float, level: float) -> None:
    assert p_calibrated(log_cstar(level, sigma), sigma) == pytest.approx(level, rel=1e-9)


@given(sigmas, st.floats(-50, 50), st.floats(0, 5))
def test_p_values_fall_with_the_evidence(sigma: float, log_evalue: float, more: float) -> None:
    before, after = p_calibrated(log_evalue, sigma), p_calibrated(log_evalue + more, sigma)
    assert 0 <= after <= before <= 1


@pytest.mark.parametrize("level", [0.1, 0.05, 0.01])
@pytest.mark.parametrize("sigma", [0.05, 0.25, 0.5, 1.0, 2.0, 3.0])
def test_no_two_point_law_breaks_the_level_and_some_reach_it(level: float, sigma: float) -> None:
    """All laws of E with mean 1 on {low, high}, on a grid of 4001 x 300 points."""
    high = np.exp(np.linspace(0, 12, 4001))[:, None]
    low = np.concatenate([[0.0], np.exp(np.linspace(-12, 0, 299))])[None, :]
    chance = np.where(high > low, (1 - low) / np.maximum(high - low, 1e-300), 1.0)

    def worst(threshold: float) -> float:
        with np.errstate(divide="ignore"):
            above = ndtr((np.log(high) - threshold) / sigma - sigma / 2)
            below = ndtr((np.log(low) - threshold) / sigma - sigma / 2)
        return float(np.max(chance * above + (1 - chance) * below))

    calibrated = log_cstar(level, sigma)
    assert worst(calibrated) <= level * (1 + 1e-9)
    assert worst(calibrated) >= level * 0.999
    assert worst(calibrated - 0.01) >= level * 1.005


def test_the_noise_free_threshold_is_markovs() -> None:
    assert log_cstar(0.05, 0.0) == pytest.approx(math.log(20))
    assert log_k(0.0) == 0.0
    assert p_calibrated(math.log(20), 0.0) == pytest.approx(0.05)


@pytest.mark.parametrize("sigma", [-1.0, math.inf, math.nan])
def test_impossible_noise_is_refused(sigma: float) -> None:
    with pytest.raises(ValueError, match="noise scale"):
        z_tangent(sigma)


def test_impossible_levels_are_refused() -> None:
    for level in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match="level"):
            log_cstar(level, 1.0)
    with pytest.raises(ValueError, match="Laplace"):
        log_k_laplace(1.0)


def test_the_level_holds_for_the_worst_evalue_in_simulation() -> None:
    """Recorded seed 20290611; 400,000 draws; fails by chance below once in 10,000 seeds."""
    rng = np.random.default_rng(20290611)
    draws, level = 400_000, 0.05
    for sigma in (0.25, 1.0, 3.0):
        threshold = log_cstar(level, sigma)
        if sigma < largest_calm_sigma(level):
            high = threshold + sigma * z_tangent(sigma) + sigma**2 / 2
            chance = math.exp(-high)
            evalue = np.where(rng.random(draws) < chance, high, -np.inf)
        else:
            evalue = np.zeros(draws)
        released = evalue - sigma**2 / 2 - sigma * rng.standard_normal(draws)
        found = float(np.mean(released >= threshold))
        error = math.sqrt(level * (1 - level) / draws)
        assert abs(found - level) < 4 * error
