"""Tails, thresholds, p-values of a noisy score against integrals and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import integrate, stats

from executors.pricing.score_design import Law
from executors.statistics.score_decision import Judge
from executors.statistics.score_law import SIMULATIONS, ScoreNoise, unit_noise, unit_reach
from executors.statistics.survival_decision import LEAST_P, Noise

LAWS: tuple[Law, ...] = ("knorm_l2", "knorm_linf", "gaussian")


# --- one covariate -------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "trace", "scale"), [(1, 1, 1), (3, 0.5, 2), (0.2, 0.1, 0.01)])
def test_one_covariate_is_a_normal_variable_with_laplace_noise(
    length: float, trace: float, scale: float
) -> None:
    def density(z: float) -> float:
        return float(stats.norm.pdf(z) * stats.laplace.sf(length, math.sqrt(trace) * z, scale))

    exact = 2 * integrate.quad(density, -12, 12, limit=400, points=[length / math.sqrt(trace)])[0]
    assert ScoreNoise("laplace", scale, 1).tail(length, trace) == pytest.approx(exact, rel=1e-8)


def test_one_covariate_under_gaussian_noise_is_normal() -> None:
    exact = 2 * stats.norm.sf(3 / math.sqrt(0.5 + 4))
    assert ScoreNoise("gaussian", 2.0, 1).tail(3, 0.5) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_no_tail_is_zero(law: Law) -> None:
    assert ScoreNoise(law, 0.1, 1).tail(1e150, 0.5) == LEAST_P


def test_without_variance_only_the_noise_is_left() -> None:
    assert ScoreNoise("laplace", 2.0, 1).tail(3.0, 0.0) == pytest.approx(math.exp(-1.5), rel=1e-5)


# --- several covariates --------------------------------------------------------------------------


def exact_tail(law: Law, d: int, length: float, scale: float, spectrum: np.ndarray) -> float:
    """P(|G^(1/2) N + noise| > length) by 200 000 draws of another generator."""
    rng = np.random.Generator(np.random.Philox(77))
    hits, draws = 0, 0
    for _ in range(4):
        normal = rng.standard_normal((50_000, d)) * np.sqrt(spectrum)
        lengths = np.linalg.norm(normal + scale * unit_noise(law, 50_000, d, rng), axis=1)
        hits, draws = hits + int((lengths > length).sum()), draws + 50_000
    return hits / draws


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("d", "scale"), [(2, 0.4), (3, 0.05), (6, 0.2)])
def test_the_tail_is_the_largest_of_the_candidates(law: Law, d: int, scale: float) -> None:
    noise = ScoreNoise(law, scale, d)
    length = noise.threshold(0.045, 1.0)
    one, even = np.eye(d)[0], np.ones(d) / d
    found = noise.tail(length, 1.0)
    assert found == pytest.approx(0.045, abs=1e-5)
    error = 4 * math.sqrt(0.045 / 2e5 + 0.045 / SIMULATIONS)
    largest = max(exact_tail(law, d, length, scale, spectrum) for spectrum in (one, even))
    assert largest <= found + error
    if law != "knorm_linf":  # there the diagonal is a candidate too
        assert largest >= found - error


@pytest.mark.parametrize("law", LAWS)
def test_no_other_spectrum_passes_the_level(law: Law) -> None:
    d, scale = 3, 0.3
    noise = ScoreNoise(law, scale, d)
    length = noise.threshold(0.09, 1.0)
    error = 4 * math.sqrt(0.09 / 2e5 + 0.09 / SIMULATIONS)
    for spectrum in ([0.5, 0.5, 0], [0.8, 0.2, 0], [0.6, 0.2, 0.2]):
        assert exact_tail(law, d, length, scale, np.array(spectrum)) <= 0.09 + error


@pytest.mark.parametrize("law", LAWS)
def test_thresholds_and_tails_agree(law: Law) -> None:
    noise = ScoreNoise(law, 0.3, 4)
    for level in (0.001, 0.045, 0.09):
        limit = noise.threshold(level, 2.0)
        assert noise.tail(limit, 2.0) <= level < noise.tail(limit * (1 - 1e-3), 2.0)
    assert noise.threshold(1e-6, 2.0) == math.inf  # beyond what the simulation can tell
    assert noise.tail(1e9, 2.0) == 1 / (SIMULATIONS + 1)


@pytest.mark.parametrize("law", LAWS)
def test_a_larger_trace_has_a_larger_tail(law: Law) -> None:
    noise = ScoreNoise(law, 0.2, 3)
    tails = [noise.tail(2.0, trace) for trace in (0.0, 0.5, 1.0, 2.0)]
    assert tails == sorted(tails)


@pytest.mark.parametrize("law", ["laplace", *LAWS])
def test_the_mean_square_and_the_reach_are_those_of_the_draws(law: Law) -> None:
    d = 1 if law == "laplace" else 3
    drawn = unit_noise(law, 400_000, d, np.random.default_rng(5))
    squares = np.einsum("ij,ij->i", drawn, drawn)
    error = 5 * squares.std() / math.sqrt(len(squares))
    assert ScoreNoise(law, 1.0, d).mean_square == pytest.approx(squares.mean(), abs=error)
    inside = np.mean(np.abs(drawn[:, -1]) <= unit_reach(law, d, 0.95))
    assert inside == pytest.approx(0.95, abs=0.004)


# --- judging -------------------------------------------------------------------------------------


def judge(level: float = 0.05, trace: Noise | None = None) -> Judge:
    return Judge(level, ScoreNoise("laplace", 0.3, 1), trace, 0.25)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_a_noisy_trace_is_raised_so_that_it_is_rarely_too_small(law: str) -> None:
    noise = Noise(law, 0.01)  # type: ignore[arg-type]
    lift = judge(trace=noise).lift
    frozen = stats.laplace(scale=0.01) if law == "laplace" else stats.norm(scale=0.01)
    assert frozen.cdf(-lift) == pytest.approx(0.005, rel=1e-9)


def test_a_trace_is_kept_between_zero_and_the_largest() -> None:
    found = judge(trace=Noise("laplace", 0.001))
    assert found.upper_trace(-5.0) == 0.0
    assert found.upper_trace(5.0) == 0.25
    assert found.upper_trace(0.1) == pytest.approx(0.1 + found.lift)
    assert judge().upper_trace(None) == 0.25


def test_the_part_of_the_level_for_the_trace_is_in_the_p_value() -> None:
    with_trace, without = judge(trace=Noise("laplace", 0.001)), judge()
    assert with_trace.p_value(1.0, 0.2) == pytest.approx(without.p_value(1.0, 0.2) + 0.005)
    assert with_trace.p_value(-1.0, 0.2) == 1.0


@pytest.mark.parametrize("trace", [None, Noise("gaussian", 0.01)])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.3])
def test_the_threshold_is_where_the_p_value_reaches_the_level(
    level: float, trace: Noise | None
) -> None:
    found = judge(level, trace)
    limit = found.threshold(0.2)
    assert found.p_value(limit, 0.2) == pytest.approx(level, rel=1e-9)


def test_p_values_are_exact_numbers_that_a_level_can_be_held_against() -> None:
    assert F(judge().p_value(0.4, 0.2)) > 0
