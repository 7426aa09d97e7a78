"""The first score above a threshold: its exact law, its cost on all neighbours, its mutants."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from executors.noise import NoiseMismatch, OsSampler, StatementNoise
from planner.calculus.leaves import Leaf, Loss
from suites.samplers import FastSampler, ScriptedSampler

SCORES = 3


def leaf(sensitivity: int = 1, scale: Fraction | int = 4, width: int = SCORES) -> Leaf:
    return Leaf.pure(sensitivity, scale, 4, width=width, role="radius")


def tail(scale: int, reach: int) -> np.ndarray:
    """P(noise >= k) for k = -reach .. reach of the discrete Laplace law."""
    q = np.exp(-1.0 / scale)
    k = np.arange(-reach, reach + 1)
    upper = q ** np.abs(k) / (1 + q)
    return np.where(k > 0, upper, 1.0 - q ** (np.abs(k) + 1.0) / (1 + q))


def law(scores: tuple[int, ...], threshold_scale: int, score_scale: int) -> np.ndarray:
    """P(place) for each place and for none, summed over the threshold's noise."""
    reach = 60 * max(threshold_scale, score_scale)
    r = np.arange(-reach // 2, reach // 2 + 1)
    q = np.exp(-1.0 / threshold_scale)
    weight = (1 - q) / (1 + q) * q ** np.abs(r)
    above = tail(score_scale, 2 * reach)
    found, still = [], weight
    for score in scores:
        hit = above[r - score + 2 * reach]
        found.append((still * hit).sum())
        still = still * (1 - hit)
    return np.array([*found, still.sum()])


def worst(threshold_scale: int, score_scale: int, sensitivity: int) -> float:
    """The largest log-ratio over small scores and all their neighbours."""
    moves = list(itertools.product((-sensitivity, 0, sensitivity), repeat=SCORES))
    largest = 0.0
    for scores in itertools.product((-6, 0, 6), repeat=SCORES):
        base = law(scores, threshold_scale, score_scale)
        for move in moves:
            other = law(tuple(a + b for a, b in zip(scores, move)), threshold_scale, score_scale)
            largest = max(largest, float(np.abs(np.log(base / other)).max()))
    return largest


def hardest(threshold_scale: int, score_scale: int, sensitivity: int) -> float:
    """Twenty scores at the threshold that all rise, then one far below that falls."""
    scores = (*[0] * 20, -40)
    other = (*[sensitivity] * 20, -40 - sensitivity)
    base = law(scores, threshold_scale, score_scale)
    return float(np.abs(np.log(base / law(other, threshold_scale, score_scale))).max())


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_no_neighbour_sees_more_than_the_leaf_claims(sensitivity: int) -> None:
    assert leaf(sensitivity, 4 * sensitivity).param == 1
    assert 0.6 < worst(2 * sensitivity, 4 * sensitivity, sensitivity) <= 1.0


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_claim_is_met_by_the_hardest_neighbours(sensitivity: int) -> None:
    seen = hardest(2 * sensitivity, 4 * sensitivity, sensitivity)
    assert 0.999 < seen <= 1.0 + 1e-12


@pytest.mark.parametrize(("threshold_scale", "score_scale"), [(1, 4), (2, 3), (2, 2), (1, 2)])
def test_less_noise_on_either_side_is_caught(threshold_scale: int, score_scale: int) -> None:
    assert hardest(threshold_scale, score_scale, 1) > 1.16


def test_both_noises_are_drawn_with_the_scales_that_are_paid_for() -> None:
    sampler = ScriptedSampler()
    priced = leaf(7, Fraction(57, 2))
    assert StatementNoise(sampler, Loss((priced,))).above(priced, [-1, 0, 5]) == 1
    assert sampler.calls == [("discrete_laplace", 15, 1), ("discrete_laplace", 30, 3)]
    assert Fraction(7, 15) + 2 * Fraction(7, 30) <= priced.param


def test_the_first_is_taken_not_the_best() -> None:
    answers = {0: 2, 1: 0, 2: 1, 3: 9}
    sampler = ScriptedSampler(lambda law, scale, index: answers[index])
    priced = leaf()
    assert StatementNoise(sampler, Loss((priced,))).above(priced, [1, 1, 1]) == 1


def test_none_is_an_answer() -> None:
    priced = leaf()
    assert StatementNoise(ScriptedSampler(), Loss((priced,))).above(priced, [-1, -2, -3]) is None


def test_frequencies_follow_the_law() -> None:
    """20,000 draws against the exact law: within five standard errors each."""
    scores, counts = (-3, 1, 2), np.zeros(SCORES + 1)
    sampler, priced = FastSampler(3), leaf()
    for _ in range(20_000):
        place = StatementNoise(sampler, Loss((priced,))).above(priced, scores)
        counts[SCORES if place is None else place] += 1
    expected = law(scores, 2, 4)
    error = np.sqrt(expected * (1 - expected) / 20_000)
    assert (np.abs(counts / 20_000 - expected) < 5 * error).all()


def test_the_real_sampler_takes_it() -> None:
    priced = leaf(2**26, 2**40)
    noise = StatementNoise(OsSampler(), Loss((priced,)))
    assert noise.above(priced, [2**60, 0, 0]) == 0


def test_a_leaf_pays_for_one_search() -> None:
    priced = leaf()
    noise = StatementNoise(ScriptedSampler(), Loss((priced,)))
    noise.above(priced, [0, 0, 0])
    with pytest.raises(NoiseMismatch, match="used up"):
        noise.above(priced, [0, 0, 0])


@pytest.mark.parametrize(
    "other",
    [
        Leaf.pure(1, 4, 2, width=SCORES),
        Leaf.lap(1, 4, width=SCORES),
        Leaf.pure(1, 2**53, 4, width=SCORES),
        Leaf.pure(1, 4, 4, width=SCORES + 1),
    ],
)
def test_any_other_leaf_is_refused(other: Leaf) -> None:
    sampler = ScriptedSampler()
    with pytest.raises(NoiseMismatch):
        StatementNoise(sampler, Loss((other,))).above(other, [0, 0, 0])
    assert sampler.calls == []


def test_a_search_leaf_pays_for_no_additive_noise() -> None:
    priced = leaf(width=1)
    with pytest.raises(NoiseMismatch, match="factor"):
        StatementNoise(ScriptedSampler(), Loss((priced,))).lap(priced, [0.0])
