"""Public draws of a curve's noise, with a recorded seed: what a noisy curve is held against."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from executors.pricing.hazard import Tree
from executors.statistics.hazard_tree import Doubles, to_prefixes

__all__ = ["DRAWS", "SEED", "Law", "deviations", "noise_draws", "normal_draws", "upper_reach"]

Law = Literal["gaussian", "laplace"]

SEED = 20_261_130
DRAWS = 4000
"""How many null draws a p-value is counted from."""

_QUANTILE_DRAWS = 20_000
_NORMAL_95 = 1.6448536269514722
_ROOT_TWO = 2.0**0.5


def deviations(tree: Tree, law: Law, bins: int, scale: float) -> Doubles:
    """The standard deviation of the noise of each prefix sum, shape (B,)."""
    spread = scale * (_ROOT_TWO if law == "laplace" else 1.0)
    return np.asarray(spread * np.sqrt((to_prefixes(tree, bins) ** 2).sum(axis=1)))


@lru_cache(maxsize=8)
def noise_draws(tree: Tree, law: Law, bins: int, draws: int, stream: int) -> Doubles:
    """Noise of scale 1 on prefix sums, shape (draws, B); each `stream` is independent."""
    found = _noise(tree, law, bins, draws, stream)
    found.setflags(write=False)
    return found


def _noise(tree: Tree, law: Law, bins: int, draws: int, stream: int) -> Doubles:
    matrix = to_prefixes(tree, bins)
    rng = np.random.default_rng([SEED, stream])
    shape = (draws, matrix.shape[1])
    noise = rng.standard_normal(shape) if law == "gaussian" else rng.laplace(size=shape)
    found: Doubles = noise @ matrix.T
    return found


@lru_cache(maxsize=4)
def normal_draws(bins: int, draws: int) -> Doubles:
    """Standard normal numbers for the sampling error of each bin, shape (draws, B)."""
    found = np.random.default_rng([SEED, 0]).standard_normal((draws, bins))
    found.setflags(write=False)
    return found


@lru_cache(maxsize=64)
def _quantile_95(tree: Tree, bins: int) -> Doubles:
    """The 95 % quantile of Laplace noise of scale 1 on each prefix sum."""
    drawn = np.abs(_noise(tree, "laplace", bins, _QUANTILE_DRAWS, 9))
    return np.asarray(np.quantile(drawn, 0.9, axis=0))


def upper_reach(tree: Tree, law: Law, bins: int, scale: float) -> Doubles:
    """What the noise of each prefix sum stays below with probability 95 %, shape (B,).

    1.645 standard deviations of Gaussian noise; for Laplace noise counted from draws.
    """
    if law == "gaussian":
        return _NORMAL_95 * deviations(tree, law, bins, scale)
    return scale * _quantile_95(tree, bins)
