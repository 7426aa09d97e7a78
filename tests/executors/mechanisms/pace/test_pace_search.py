"""Scores and measurements of a search: exact integers that move as far as declared, no further."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from executors.mechanisms.pace.search import (
    SCORE_SENSITIVITY,
    candidates_of,
    recentred,
    scores,
)
from executors.noise.selection import ladder
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import GRID, PRODUCT
from executors.summaries.moments import Moments

NAMES = ["a", "b", "c", "d"]


def moments(z: np.ndarray) -> Moments:
    z = z.astype(np.int64)
    return Moments(len(z), z.sum(axis=0), z.T @ z)


def test_the_candidates_are_all_pairs_or_the_listed_ones() -> None:
    every = candidates_of(NAMES, None, np.zeros(4, dtype=np.int64))
    assert list(zip(every.j, every.k)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert set(every.reach) == {GRID}
    some = candidates_of(NAMES, (("d", "a"), ("b", "c")), np.array([5, -7, 0, 2]))
    assert list(zip(some.j, some.k)) == [(0, 3), (1, 2)]
    assert list(some.reach) == [GRID + 5, GRID + 7]


def test_recentred_sums_are_those_of_recentred_rows() -> None:
    rng = np.random.default_rng(1)
    z = rng.integers(-GRID, GRID + 1, (50, 4))
    steps = rng.integers(-GRID, GRID + 1, 4)
    pairs = candidates_of(NAMES, None, steps)
    expected = (z - steps)[:, pairs.j] * (z - steps)[:, pairs.k]
    assert np.array_equal(recentred(moments(z), steps, pairs, 50), expected.sum(axis=0))


def test_beyond_64_bits_sums_and_scores_are_python_integers() -> None:
    """The same numbers, whether the rows could fill 64 bits or not."""
    rng = np.random.default_rng(2)
    z = rng.integers(-GRID, GRID + 1, (50, 4))
    steps = rng.integers(-GRID, GRID + 1, 4)
    pairs = candidates_of(NAMES, None, steps)
    small = recentred(moments(z), steps, pairs, 50)
    expected = rng.normal(0, 0.3, 6)
    huge = 2**30
    big = Moments(huge, moments(z).total.astype(object), moments(z).gram.astype(object))
    found = recentred(big, steps, pairs, huge)
    assert found.dtype == object
    more = (huge - 50) * (steps[pairs.j] * steps[pairs.k]).astype(object)
    assert list(found - more) == list(small)
    far = scores(found, np.full(6, 8.0), pairs, huge)
    for secret, reach, score in zip(found, pairs.reach, far):
        assert score == 2**16 * abs(int(secret) - huge * 2**35) // int(reach)
    assert list(scores(small, expected, pairs, 50)) == [
        2**16 * abs(int(a) - round(50 * PRODUCT * float(e))) // int(p)
        for a, e, p in zip(small, expected, pairs.reach)
    ]


def test_a_score_does_not_overflow() -> None:
    pairs = SimpleNamespace(reach=np.array([65537]))
    found = scores(np.array([2**50]), np.zeros(1), pairs, 2**18)  # type: ignore[arg-type]
    assert found.tolist() == [1125882727235580]


def test_a_product_about_a_mean_is_as_long_as_its_reach_says() -> None:
    """Every corner against every corner, for means all over the box; attained."""
    rng = np.random.default_rng(3)
    walls = (-GRID, GRID)
    for _ in range(200):
        steps = rng.integers(-GRID, GRID + 1, 2)
        (reach,) = candidates_of(["a", "b"], None, steps).reach
        products = [(x - int(steps[0])) * (y - int(steps[1])) for x, y in product(walls, walls)]
        assert max(products) - min(products) == 2**17 * int(reach)


def test_scores_move_by_their_sensitivity_and_no_further() -> None:
    """All rows of a coarse grid in place of all others, about means inside it."""
    worst = 0
    grid = [-GRID, -GRID // 2, 0, GRID // 3, GRID]
    for steps in product((-GRID, -12345, 0, 40000), repeat=2):
        about = np.array(steps)
        pairs = candidates_of(["a", "b"], None, about)
        rest = np.array([[1000, -2000], [30000, 40000]])
        found = []
        for expected in (-4.0, 0.1, 8.0):
            for row in product(grid, repeat=2):
                z = np.vstack([[row], rest])
                secret = recentred(moments(z), about, pairs, 3)
                found.append(int(scores(secret, np.array([expected]), pairs, 3)[0]))
            moved = max(found) - min(found)
            assert moved <= SCORE_SENSITIVITY
            worst = max(worst, moved)
            found.clear()
    assert worst >= SCORE_SENSITIVITY - 1


def test_without_the_reach_a_recentred_score_moves_too_far() -> None:
    """The mutant that takes every product for 2 long."""
    about = np.array([0, GRID // 2])
    honest = candidates_of(["a", "b"], None, about)
    mutant = SimpleNamespace(j=honest.j, k=honest.k, reach=np.array([GRID]))
    ends = [
        int(
            scores(
                recentred(moments(np.array([[GRID, wall], [0, 0]])), about, honest, 2),
                np.array([-8.0]),
                mutant,  # type: ignore[arg-type]
                2,
            )[0]
        )
        for wall in (-GRID, GRID)
    ]
    other = [
        int(
            scores(
                recentred(moments(np.array([[-GRID, -GRID], [0, 0]])), about, honest, 2),
                np.array([-8.0]),
                mutant,  # type: ignore[arg-type]
                2,
            )[0]
        )
    ]
    assert max(ends + other) - min(ends + other) > SCORE_SENSITIVITY


def log_chances(found: np.ndarray, eta: Fraction) -> np.ndarray:
    """The selection's log-probabilities, but for a constant, from its exact integer weights."""
    design = ladder(eta, SCORE_SENSITIVITY)
    coarse = found // design.divisor
    levels = np.minimum(coarse.max() - coarse, design.depth)
    return np.array([np.log(float(design.weight(int(level)))) for level in levels])


@pytest.mark.parametrize("factor", [1, 2])
def test_the_choice_has_the_range_that_is_charged(factor: int) -> None:
    """Random neighbours of 20 rows, and signs against other signs; a doubled range is caught."""
    eta = Allowance("rho", Fraction(7, 2000) / 2).eta()
    rng = np.random.default_rng(4)
    steps = np.zeros(4, dtype=np.int64)
    pairs = candidates_of(NAMES, None, steps)
    widest = 0.0
    for number in range(500):
        z = rng.choice([-1, 0, 1], (20, 4)) * GRID
        other = z.copy()
        other[0] = rng.choice([-1, 0, 1], 4) * GRID
        if number % 2:
            z[0], other[0] = np.ones(4) * GRID, rng.choice([-1, 1], 4) * GRID
        expected = rng.uniform(-0.3, 0.3, 6)
        found = [
            log_chances(
                scores(recentred(moments(table), steps, pairs, 20), expected, pairs, 20),
                factor * eta,
            )
            for table in (z, other)
        ]
        moved = found[0] - found[1]
        widest = max(widest, float(moved.max() - moved.min()))
    if factor == 1:
        assert 0.99 * float(eta) <= widest <= float(eta) + 1e-9
    else:
        assert widest > 1.9 * float(eta)


def test_signs_against_orthogonal_signs_move_the_triangle_by_d_over_n() -> None:
    z, other = np.array([[1, 1, 1, 1]]), np.array([[1, 1, -1, -1]])
    upper = np.triu_indices(4)
    moved = (z.T @ z - other.T @ other)[upper] / 20
    assert float(np.linalg.norm(moved)) == pytest.approx(4 / 20)


def test_the_published_first_round() -> None:
    """n = 1000, d = 10, rho = 0.1: range and noise of the first round."""
    part = Allowance("rho", Fraction(7, 100)).part(Fraction(1, 20))
    assert part.amount == Fraction(35, 10000)
    half = part.part(Fraction(1, 2))
    assert float(half.eta()) == pytest.approx(0.1183215957, abs=1e-10)
    assert half.scale(2 * PRODUCT) / (1000 * PRODUCT) == pytest.approx(0.0338061702, abs=1e-9)


@pytest.mark.parametrize(
    ("mu", "eps"),
    [("0.1", 0.159595080), ("0.5", 0.800155379), ("1", 1.613930693), ("2", 3.336535732)],
)
def test_the_published_ranges_under_mu(mu: str, eps: float) -> None:
    assert float(Allowance("mu_squared", Fraction(mu) ** 2).eta()) == pytest.approx(eps, abs=1e-8)
