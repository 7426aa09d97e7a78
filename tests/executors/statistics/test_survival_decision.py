"""p-values and thresholds against quadrature, golden values and simulations of their definition."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from executors.statistics.survival_decision import (
    LEAST_P,
    Noise,
    exceeds,
    p_value,
    power,
    threshold,
)


def laplace(scale: float) -> Noise:
    return Noise("laplace", scale)


def gaussian(scale: float) -> Noise:
    return Noise("gaussian", scale)


@pytest.mark.parametrize(
    ("c", "b", "golden"),
    [
        (0, 2, 0.666666666666667),
        (3, 0.5, 0.0651433817354854),
        (5, 10, 0.336893417547432),
        (-1, 2, 0.797823113429122),
        (2, 1, 0.236836745664072),
    ],
)
def test_golden_p_values_under_laplace_noise(c: float, b: float, golden: float) -> None:
    assert p_value(c, laplace(b)) == pytest.approx(golden, rel=1e-13)


@pytest.mark.parametrize(
    ("c", "g", "golden"),
    [(3, 0.5, 0.0564161394190472), (5, 3, 0.103112753546328), (-1, 2, 0.816186923455528)],
)
def test_golden_p_values_under_gaussian_noise(c: float, g: float, golden: float) -> None:
    assert p_value(c, gaussian(g)) == pytest.approx(golden, rel=1e-13)


@pytest.mark.parametrize(
    ("noise", "rule", "golden"),
    [
        (laplace(0.5), "finite", 3.26904558876739),
        (laplace(2), "finite", 5.95726559763429),
        (laplace(10), "finite", 24.0794560864483),
        (laplace(36.8383), "finite", 85.8371440025983),
        (laplace(0.1), "normal", 1.36276607783981),
        (laplace(0.5), "normal", 1.59789744077230),
        (laplace(1), "normal", 2.30258509299406),
        (laplace(2), "normal", 4.60517018598809),
        (gaussian(0.5), "finite", 3.12073227319586),
        (gaussian(2), "finite", 4.75200408678742),
        (gaussian(10), "finite", 17.5359603273),
        (gaussian(0.5), "normal", 1.47777172704771),
        (gaussian(2), "normal", 3.28970725390294),
        (gaussian(5), "normal", 8.22426813475736),
    ],
)
def test_golden_thresholds(noise: Noise, rule: str, golden: float) -> None:
    assert threshold(0.05, noise, rule) == pytest.approx(golden, rel=1e-11)


def test_the_golden_normal_p_value() -> None:
    assert p_value(2, laplace(0.5), "normal") == pytest.approx(0.0307724242785835, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "golden"),
    [
        ((1, 0, 1, 1), 0.259308410009164),
        ((5, -2, 1.5, 3), 0.0549418030581768),
        ((3, 0, 8, 0.1), 0.35385201198436),
    ],
)
def test_golden_convolutions(arguments: tuple[float, ...], golden: float) -> None:
    assert exceeds(*arguments) == pytest.approx(golden, rel=1e-13)


@pytest.mark.parametrize("c", [-40.0, -3.0, -0.1, 0.0, 0.2, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("scale", [0.05, 0.5, 0.999999999, 1.0, 1.000001, 1.5, 40.0])
def test_the_finite_rule_is_its_integral(c: float, scale: float) -> None:
    for noise, law in ((laplace(scale), stats.laplace), (gaussian(scale), stats.norm)):

        def integrand(z: float, law=law) -> float:  # type: ignore[no-untyped-def]
            return min(1.0, math.exp(min(0.0, z - c))) * law.pdf(z, scale=scale)

        reach = 60 * scale + 60
        cuts = sorted({-reach, 0.0, min(max(c, -reach), reach), reach})
        truth = sum(
            integrate.quad(integrand, a, b, limit=500, epsabs=1e-13)[0] for a, b in pairwise(cuts)
        )
        assert p_value(c, noise) == pytest.approx(truth, rel=1e-7, abs=1e-10)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-1e4, 1e4),
    st.floats(0, 1e4),
    st.floats(1e-4, 1e4),
    st.sampled_from(["laplace", "gaussian"]),
)
def test_p_values_fall_as_the_statistic_grows(
    c: float, more: float, scale: float, law: str
) -> None:
    noise = Noise(law, scale)  # type: ignore[arg-type]
    low, high = p_value(c + more, noise), p_value(c, noise)
    assert LEAST_P <= low <= high * (1 + 1e-12) + 1e-300 <= 1.0 + 1e-11


@pytest.mark.parametrize("rule", ["finite", "normal"])
@pytest.mark.parametrize("noise", [laplace(0.3), laplace(3.0), gaussian(0.3), gaussian(3.0)])
def test_no_p_value_is_zero_however_large_the_statistic(noise: Noise, rule: str) -> None:
    found = [p_value(c, noise, rule) for c in (10.0, 1e3, 1e5, 1e150)]  # type: ignore[arg-type]
    assert found == sorted(found, reverse=True)
    assert found[-1] == LEAST_P > 0


@pytest.mark.parametrize("level", [1 - 1e-12, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("rule", ["finite", "normal"])
def test_a_threshold_is_found_at_levels_next_to_one(level: float, rule: str) -> None:
    for noise in (laplace(2.0), gaussian(2.0)):
        assert p_value(threshold(level, noise, rule), noise, rule) <= level  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0.2, 0.05, 0.001])
@pytest.mark.parametrize("rule", ["finite", "normal"])
@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 7.0, 1e4])
def test_a_threshold_is_where_the_p_value_meets_the_level(
    level: float, rule: str, scale: float
) -> None:
    for noise in (laplace(scale), gaussian(scale)):
        limit = threshold(level, noise, rule)
        assert p_value(limit, noise, rule) <= level
        assert p_value(limit - 1e-6 * (1 + abs(limit)), noise, rule) > level


def test_the_normal_rule_is_the_worst_case_over_s() -> None:
    for b, c in ((0.1, 1.5), (0.5, 2.0), (1.0, 2.4), (0.05, -0.5)):
        grid = np.exp(np.linspace(-8, 4, 4001))
        worst = max(exceeds(c, -s * s / 2, s, b) for s in grid)
        assert p_value(c, laplace(b), "normal") >= worst - 1e-12
    for g, c in ((0.5, 1.5), (2.0, 3.0), (0.1, -0.3)):
        grid = np.exp(np.linspace(-8, 4, 4001))
        worst = max(stats.norm.sf(c, -s * s / 2, math.hypot(s, g)) for s in grid)
        assert p_value(c, gaussian(g), "normal") == pytest.approx(worst, rel=1e-4)


def test_convolutions_survive_extreme_scales() -> None:
    for deviation in (0.0, 1e-8, 1e-3, 1.0, 1e3, 1e8):
        for scale in (1e-8, 1.0, 1e8):
            for limit in (-1e9, -27.0, 0.0, 28.5, 1e9):
                assert 0.0 <= exceeds(limit, 0.0, deviation, scale) <= 1.0
    assert exceeds(2.0, 0.0, 0.0, 1.0) == pytest.approx(0.5 * math.exp(-2))
    assert exceeds(-2.0, 0.0, 0.0, 1.0) == pytest.approx(1 - 0.5 * math.exp(-2))


def test_power_is_the_chance_to_pass_the_threshold() -> None:
    rng = np.random.default_rng(7)
    draws = rng.normal(2.0, 1.5, 400_000)
    for noise, drawn in (
        (laplace(2.0), rng.laplace(0, 2.0, 400_000)),
        (gaussian(2.0), rng.normal(0, 2.0, 400_000)),
    ):
        found = power(3.0, 2.0, 1.5, noise)
        assert found == pytest.approx(float(np.mean(draws + drawn > 3.0)), abs=0.004)
