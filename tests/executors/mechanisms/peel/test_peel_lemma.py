"""The inequalities behind the price of a value and of a selection, in many digits."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtri

DIGITS = 60


def discrete_tails(scale: int, reach: int) -> dict[int, mp.mpf]:
    """P(N >= k) for -reach <= k <= reach + 1, N the discrete Gaussian of that scale."""
    weights = {k: mp.exp(-(mp.mpf(k) ** 2) / (2 * scale**2)) for k in range(4 * reach + 1)}
    whole = weights[0] + 2 * mp.fsum(list(weights.values())[1:])
    tails, above = {}, mp.fsum(weights[k] for k in range(reach + 2, 4 * reach + 1))
    for k in range(reach + 1, -reach - 1, -1):
        above += weights[abs(k)]
        tails[k] = above / whole
    return tails


@pytest.mark.parametrize("scale", [1, 2, 8])
def test_the_discrete_law_lies_between_two_normal_ones(scale: int) -> None:
    """P(s Z >= k) <= P(N >= k) <= P(s Z >= k - 1) at every |k| <= 14 s."""
    with mp.workdps(DIGITS):
        tails = discrete_tails(scale, 14 * scale)
        for k in range(-14 * scale, 14 * scale + 1):
            normal = mp.erfc(mp.mpf(k) / scale / mp.sqrt(2)) / 2
            earlier = mp.erfc(mp.mpf(k - 1) / scale / mp.sqrt(2)) / 2
            assert normal <= tails[k] * (1 + mp.mpf(10) ** -45)
            assert tails[k] <= earlier * (1 + mp.mpf(10) ** -45)


@pytest.mark.parametrize(("scale", "shift"), [(2, 1), (4, 3), (9, 2), (16, 16)])
def test_one_more_step_makes_the_price_of_a_value_a_bound(scale: int, shift: int) -> None:
    """Every threshold test of N against N + shift stays below mu = (shift + 1) / s."""
    with mp.workdps(DIGITS):
        tails = discrete_tails(scale, 9 * scale)
        worst = mp.mpf(0)
        for k in range(-8 * scale + shift, 8 * scale):
            size, power = tails[k], tails[k - shift]
            gain = mp.sqrt(2) * (mp.erfinv(2 * power - 1) - mp.erfinv(2 * size - 1))
            worst = max(worst, gain)
        assert worst <= mp.mpf(shift + 1) / scale
        # The numerical finding for the leaf's parameter holds as well, and shift / s alone fails.
        assert mp.mpf(shift) / scale < worst
        assert worst <= mp.mpf(shift) / scale * (1 + mp.mpf(1) / (20 * scale**2))


@pytest.mark.parametrize("scale", [1, 3, 10])
def test_the_noise_factor_has_mean_at_most_one(scale: int) -> None:
    """E exp(g (N - tau)) with tau = s^2 g / 2, for steps g of any width."""
    with mp.workdps(40):
        for step in (mp.mpf("0.01"), mp.mpf("0.5"), mp.mpf(2)):
            support = range(-60 * scale - 200, 60 * scale + 200)
            weights = [mp.exp(-(mp.mpf(k) ** 2) / (2 * scale**2)) for k in support]
            mean = mp.fsum(w * mp.exp(step * k) for w, k in zip(weights, support))
            centre = mp.exp(step**2 * scale**2 / 2)
            assert mean / mp.fsum(weights) / centre <= 1 + mp.mpf(10) ** -30


def peeling_law(scores: np.ndarray, size: int) -> np.ndarray:
    """Probabilities of all ordered selections of `size`, scores in Gumbel scales."""
    weights = np.exp(scores - scores.max())
    law = []
    for picked in itertools.permutations(range(len(scores)), size):
        rest, chance = weights.sum(), 1.0
        for j in picked:
            chance *= weights[j] / rest
            rest -= weights[j]
        law.append(chance)
    return np.array(law)


def gdp_cost(first: np.ndarray, second: np.ndarray) -> float:
    """The least mu of a pair of laws: the largest gain over all likelihood-ratio tests."""
    order = np.argsort(-second / first)
    sizes = np.cumsum(first[order])[:-1]
    powers = np.cumsum(second[order])[:-1]
    return float(np.max(ndtri(powers) - ndtri(sizes)))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_exact_selection_laws_stay_below_their_price(size: int) -> None:
    """Six hypotheses, 200 random neighbours, range 0.3; recorded seed 5."""
    rng, eta = np.random.default_rng(5), 0.3
    price = math.sqrt(size) * -2 * ndtri(1 / (1 + math.exp(eta / 2)))
    worst = 0.0
    for _ in range(200):
        scores = rng.normal(0, 2, 6)
        moves = rng.choice([-1.0, 1.0], 6) * eta / 2
        worst = max(worst, gdp_cost(peeling_law(scores, size), peeling_law(scores + moves, size)))
    assert worst <= price * (1 + 1e-12)
    assert worst > 0.6 * price


def test_the_halved_range_of_monotone_scores_is_not_enough() -> None:
    """Two hypotheses that move in opposite directions use the whole range of 2 D / b."""
    eta = 0.3
    scores = np.array([-eta / 4, eta / 4])
    cost = gdp_cost(peeling_law(scores, 1), peeling_law(-scores, 1))
    price = -2 * float(ndtri(1 / (1 + math.exp(eta / 2))))
    halved = -2 * float(ndtri(1 / (1 + math.exp(eta / 4))))
    assert halved < cost <= price * (1 + 1e-12)
