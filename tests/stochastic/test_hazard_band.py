"""The band of a released curve holds the true curve at a given time about as often as it says."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from executors.statistics.hazard_curve import curve
from planner.calculus.cost import Cost
from suites.hazard_world import World

COSTS = {
    "mu=1 sqrt": (Cost("mu", F(1)), "sqrt"),
    "mu=0.3 sqrt": (Cost("mu", F(3, 10)), "sqrt"),
    "mu=1 haar": (Cost("mu", F(1)), "haar"),
    "eps=1 haar": (Cost("eps", F(1)), "haar"),
    "eps=8 haar": (Cost("eps", F(8)), "haar"),
    "hardly any noise": (Cost("mu", F(1000)), "sqrt"),
}


def missed(name: str, rows: int, runs: int, level: float = 0.05, seed: int = 9) -> float:
    """The mean share of reliable times, of all studies, at which the band misses survival."""
    cost, tree = COSTS[name]
    world = World(rows, cost, tree, 1.0, 0.5, bins=16)
    rng = np.random.default_rng([seed, rows, sorted(COSTS).index(name)])
    outside = total = 0
    for _ in range(runs):
        found = curve(world.release(rng), level, "survival")
        seen = slice(1, found.reliable + 1)
        truth = np.exp(-found.time[seen])
        outside += int(((truth < found.lower[seen]) | (truth > found.upper[seen])).sum())
        total += found.reliable
    return outside / total


def test_the_band_misses_as_seldom_as_it_says() -> None:
    assert missed("mu=1 sqrt", 1000, 150) <= 0.05 * 1.3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [200, 1000, 4000])
@pytest.mark.parametrize("name", COSTS)
def test_the_band_misses_about_as_often_as_its_level(name: str, rows: int) -> None:
    """Times of one study go together, so a study counts as about two independent times."""
    runs = 1500
    error = math.sqrt(0.05 * 0.95 / (2 * runs))
    assert missed(name, rows, runs) <= 0.05 * 1.3 + 3 * error
