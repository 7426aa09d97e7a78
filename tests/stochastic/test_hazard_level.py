"""`TEST hazard` rejects equal hazards about as often as its level says, and sees real differences.

Exponential survival with rates 1 and h at two sites of n records each, censored at rates 0.3 and
0.8: different on purpose. delta = 1e-5 a site, level 0.05.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from executors.statistics.hazard_comparison import compare
from planner.calculus.cost import Cost
from suites.hazard_world import World

LEVEL = 0.05
RATES = (1.0, 1.25, 1.5)
TABLE = {
    (500, 1, "haar"): (0.050, 0.040, 0.065),
    (500, 1, "sqrt"): (0.038, 0.060, 0.190),
    (500, 4, "haar"): (0.050, 0.162, 0.450),
    (500, 4, "sqrt"): (0.042, 0.320, 0.890),
    (1000, 1, "haar"): (0.060, 0.078, 0.208),
    (1000, 1, "sqrt"): (0.048, 0.178, 0.528),
    (1000, 4, "haar"): (0.065, 0.510, 0.980),
    (1000, 4, "sqrt"): (0.062, 0.822, 1.0),
    (2000, 1, "haar"): (0.045, 0.258, 0.708),
    (2000, 1, "sqrt"): (0.058, 0.670, 0.998),
    (2000, 4, "haar"): (0.040, 0.952, 1.0),
    (2000, 4, "sqrt"): (0.065, 0.992, 1.0),
    (4000, 1, "haar"): (0.082, 0.752, 1.0),
    (4000, 1, "sqrt"): (0.052, 0.998, 1.0),
    (4000, 4, "haar"): (0.042, 1.0, 1.0),
    (4000, 4, "sqrt"): (0.065, 1.0, 1.0),
}
"""Shares of 400 studies that reject at h = 1, 1.25, 1.5, simulated by another program."""


def rejected(
    rows: int, eps: int, tree: str, rate: float, runs: int, draws: int = 1000, seed: int = 5
) -> float:
    """The share of studies that reject."""
    cost = Cost("eps_delta", F(eps), F(1, 10**5))
    rng = np.random.default_rng([seed, rows, eps, len(tree), int(100 * rate)])
    first = World(rows, cost, tree, 1.0, 0.3)
    second = World(rows, cost, tree, rate, 0.8)
    found = [
        compare(first.release(rng), second.release(rng), LEVEL, draws).p_value <= LEVEL
        for _ in range(runs)
    ]
    return float(np.mean(found))


def allowed(share: float, runs: int, others: int = 400) -> float:
    """Four standard errors of the difference of two simulated shares."""
    kept = min(max(share, 0.01), 0.99)
    return 4 * math.sqrt(kept * (1 - kept) * (1 / runs + 1 / others))


def test_equal_hazards_are_seldom_said_to_differ_and_unequal_ones_often() -> None:
    runs = 120
    level = rejected(1000, 4, "sqrt", 1.0, runs)
    assert level <= 1.3 * LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert rejected(1000, 4, "sqrt", 1.25, runs) == pytest.approx(0.822, abs=allowed(0.822, runs))


@pytest.mark.slow
@pytest.mark.parametrize("cell", TABLE)
def test_the_level_is_at_most_1_3_times_the_stated_one(cell: tuple[int, int, str]) -> None:
    runs = 2000
    error = math.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert rejected(*cell, 1.0, runs) <= 1.3 * LEVEL + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("cell", TABLE)
def test_power_is_that_of_another_program(cell: tuple[int, int, str]) -> None:
    runs = 300
    for rate, wanted in zip(RATES[1:], TABLE[cell][1:], strict=True):
        found = rejected(*cell, rate, runs)
        assert found == pytest.approx(wanted, abs=allowed(wanted, runs)), rate


@pytest.mark.slow
@pytest.mark.parametrize("rows", [500, 2000])
@pytest.mark.parametrize("eps", [1, 4])
def test_laplace_noise_keeps_the_level_too(rows: int, eps: int) -> None:
    runs = 600
    cost = Cost("eps", F(eps))
    rng = np.random.default_rng([7, rows, eps])
    worlds = [World(rows, cost, "haar", 1.0, c) for c in (0.3, 0.8)]
    found = [
        compare(worlds[0].release(rng), worlds[1].release(rng), LEVEL, 1000).p_value <= LEVEL
        for _ in range(runs)
    ]
    assert np.mean(found) <= 1.3 * LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / runs)
