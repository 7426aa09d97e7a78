"""Noise in the shape of a norm: its law, what rounding costs, how it is spent."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction as F
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from executors.noise import NoiseMismatch, OsSampler, StatementNoise
from executors.noise.knorm import draw_knorm
from executors.noise.realise import Grid, integers, knorm_grid
from planner.calculus.leaves import Leaf, Loss
from suites.samplers import FastSampler, HalvedSampler, ScriptedSampler

Norm = Literal["linf", "l2"]
FAILURE = 1e-6


def size(norm: Norm, z: tuple[int, ...]) -> int:
    """|z|_inf, or |z|_2 rounded up, by a square root in integers."""
    if norm == "linf":
        return max(abs(value) for value in z)
    square = sum(value * value for value in z)
    root = math.isqrt(square)
    return root + (root * root < square)


def chances(norm: Norm, rate: F, width: int, reach: int) -> dict[tuple[int, ...], float]:
    """The law on the cube of half-width `reach`, normalised over all integers by its tail."""
    points = itertools.product(range(-reach, reach + 1), repeat=width)
    weights = {z: math.exp(-float(rate) * size(norm, z)) for z in points}
    whole = sum(weights.values())
    return {z: weight / whole for z, weight in weights.items()}


def seeded(seed: int) -> Callable[[int], int]:
    return random.Random(seed).randrange


@pytest.mark.parametrize(
    ("norm", "width", "rate", "reach", "draws"),
    [
        ("linf", 1, F(1, 2), 40, 6000),
        ("linf", 1, F(3, 1), 8, 20_000),
        ("linf", 2, F(4, 5), 24, 6000),
        ("linf", 3, F(7, 5), 12, 4000),
        ("l2", 1, F(2, 3), 30, 6000),
        ("l2", 2, F(4, 5), 24, 4000),
        ("l2", 3, F(7, 5), 12, 2500),
    ],
)
def test_draws_follow_the_stated_law(
    norm: Norm, width: int, rate: F, reach: int, draws: int
) -> None:
    law = chances(norm, rate, width, reach)
    below = seeded(width)
    found = Counter(tuple(draw_knorm(below, norm, rate, width)) for _ in range(draws))
    often = [z for z, chance in law.items() if chance * draws >= 8]
    seen = np.array([found[z] for z in often] + [draws - sum(found[z] for z in often)])
    rest = 1.0 - sum(law[z] for z in often)
    wanted = np.array([law[z] for z in often] + [rest]) * draws
    assert len(often) > 4
    assert stats.chisquare(seen, wanted * (seen.sum() / wanted.sum())).pvalue > FAILURE


@pytest.mark.parametrize(("norm", "width"), [("linf", 6), ("l2", 6), ("linf", 20)])
def test_lengths_of_wide_vectors_follow_gamma_laws(norm: Norm, width: int) -> None:
    """Scaled by the rate, |z|_inf and |z|_2 tend to a gamma law of shape `width`."""
    rate = F(1, 5000)
    below, lengths = seeded(1), []
    for _ in range(300):
        z = np.array(draw_knorm(below, norm, rate, width), dtype=float)
        length = np.abs(z).max() if norm == "linf" else np.linalg.norm(z)
        lengths.append(length * float(rate))
    assert stats.kstest(lengths, stats.gamma(width).cdf).pvalue > FAILURE


def test_the_systems_randomness_is_used() -> None:
    drawn = [tuple(OsSampler().knorm("l2", F(1, 10**6), 3)) for _ in range(20)]
    assert len(set(drawn)) == 20
    assert all(isinstance(value, int) for z in drawn for value in z)


def test_what_has_no_law_is_refused() -> None:
    for rate, width in ((F(0), 2), (F(-1), 2), (F(1), 0)):
        with pytest.raises(ValueError, match="positive rate"):
            draw_knorm(seeded(1), "linf", rate, width)


# --- what rounding costs --------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("width", [1, 2, 3, 6, 30])
def test_the_rate_pays_for_every_move_that_rounding_allows(norm: Norm, width: int) -> None:
    """Vectors at the sensitivity apart, rounded; the log-ratio is bounded by the norm of the move.

    For integers N(z + v) - N(z) <= N(v), so the ratio costs rate N(v), which must not pass eps.
    """
    rng = np.random.default_rng(width)
    for ratio in (F(1, 1000), F(1, 3), F(1), F(17, 3), F(10**6)):
        moved = F(int(rng.integers(1, 1000)), int(rng.integers(1, 1000)))
        grid, rate = knorm_grid(norm, moved, moved / ratio, width)
        for _ in range(40):
            start = [F(float(value)) for value in rng.normal(0, 10, width)]
            step = rng.normal(0, 1, width)
            step /= np.abs(step).max() if norm == "linf" else np.linalg.norm(step)
            shrunk = F(1) - F(1, 2**40)
            end = [a + moved * shrunk * F(float(b)) for a, b in zip(start, step)]
            one, two = integers(start, grid), integers(end, grid)
            apart = tuple(b - a for a, b in zip(one, two))
            assert rate * size(norm, apart) <= ratio


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_no_move_of_small_integers_costs_more_than_its_norm(norm: Norm, width: int) -> None:
    points = list(itertools.product(range(-3, 4), repeat=width))
    for v in itertools.product(range(-2, 3), repeat=width):
        for z in points:
            there = tuple(a + b for a, b in zip(z, v))
            assert abs(size(norm, there) - size(norm, z)) <= size(norm, v)


def test_a_rate_that_forgets_rounding_would_be_caught() -> None:
    """A distance of 2^20 steps and a half can become 2^20 + 1 steps, which costs more than eps."""
    step = F(1, 2**20)
    moved = 1 + step / 2
    grid, rate = knorm_grid("linf", moved, moved, 1)
    assert grid.step == step
    one, two = integers([step * F(49, 100), step * F(49, 100) + moved], grid)
    assert two - one == 2**20 + 1
    assert rate * (two - one) <= 1 < F(1, 2**20) * (two - one)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_the_noise_is_hardly_wider_than_the_leaf_says(norm: Norm) -> None:
    for width, ratio in ((1, F(1, 10)), (6, F(1)), (6, F(100))):
        grid, rate = knorm_grid(norm, F(3), 3 / ratio, width)
        assert 3 / ratio < grid.step / rate < 3 / ratio * (1 + F(1, 2**17))
        assert isinstance(grid, Grid)


# --- spending it ----------------------------------------------------------------------------------


def test_a_pure_leaf_pays_for_one_vector() -> None:
    leaf = Leaf.pure(F(3), F(6), width=2, role="score")
    sampler = ScriptedSampler()
    noise = StatementNoise(sampler, Loss((leaf,)))
    (a, b), note = noise.knorm(leaf, [1.25, -2.5], "linf")
    assert (a, b) == (1.25, -2.5)
    assert (note.law, note.role) == ("knorm_linf", "score")
    assert note.scale == pytest.approx(6.0, rel=1e-5)
    assert [call[0] for call in sampler.calls] == ["knorm_linf"]
    with pytest.raises(NoiseMismatch, match="used up"):
        noise.knorm(leaf, [0.0, 0.0], "linf")


@pytest.mark.parametrize(
    "leaf",
    [Leaf.lap(1, 1, width=2), Leaf.gauss(1, 1, width=2), Leaf.pure(1, 1, 2, width=2)],
)
def test_no_other_leaf_pays_for_it(leaf: Leaf) -> None:
    noise = StatementNoise(ScriptedSampler(), Loss((leaf,)))
    with pytest.raises(NoiseMismatch):
        noise.knorm(leaf, [0.0, 0.0], "l2")


def test_a_vector_of_another_width_is_refused() -> None:
    leaf = Leaf.pure(1, 1, width=3)
    noise = StatementNoise(ScriptedSampler(), Loss((leaf,)))
    with pytest.raises(NoiseMismatch, match="3 numbers"):
        noise.knorm(leaf, [0.0, 0.0], "l2")


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_the_fast_sampler_of_tests_has_the_same_law(norm: Norm) -> None:
    """Lengths over the scale against their gamma law; half the noise is caught by the same test."""
    fast, half = FastSampler(3), HalvedSampler(FastSampler(4))
    rate = F(1, 2**21)

    def p_value(sampler: FastSampler | HalvedSampler) -> float:
        drawn = np.array([sampler.knorm(norm, rate, 3) for _ in range(500)], dtype=float)
        lengths = np.abs(drawn).max(axis=1) if norm == "linf" else np.linalg.norm(drawn, axis=1)
        return float(stats.kstest(lengths * float(rate), stats.gamma(3).cdf).pvalue)

    assert p_value(fast) > FAILURE > p_value(half)
