"""Tails of a noisy score under the null, at the worst covariance of a given trace.

The score over the root of n is G^(1/2) N + noise, G the covariance. Of all G with trace tau one
of rank one has the largest tail at levels up to 0.1 (see the score mechanism's proof.md, claim 4);
G = (tau/d) I and, for noise in the shape of a cube, the diagonal are tried beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from executors.pricing.score_design import Law
from executors.statistics.draws import row_chunks
from executors.statistics.survival_decision import LEAST_P, exceeds
from executors.statistics.survival_sums import Doubles

__all__ = ["SEED", "SIMULATIONS", "ScoreNoise", "unit_noise", "unit_reach"]

SEED = 20261130
"""Of public simulations, recorded so that a p-value can be computed again."""
SIMULATIONS = 200_000
CHUNK = 20_000
LEAST_SHARE = 1e-6
"""A deviation is taken as at least this part of the noise's scale, whatever the unit."""


@dataclass(frozen=True, slots=True)
class ScoreNoise:
    """The noise on a score over the root of n: its law, its scale, its number of columns."""

    law: Law
    scale: float
    columns: int

    def tail(self, length: float, trace: float) -> float:
        """P(|G^(1/2) N + noise| >= length) at the worst G with this trace."""
        if self.columns == 1:
            return min(1.0, max(LEAST_P, self._one(length, trace)))
        longer = max(
            int(np.count_nonzero(squares >= length * length)) for squares in self._worst(trace)
        )
        return (1 + longer) / (SIMULATIONS + 1)

    def threshold(self, level: float, trace: float) -> float:
        """A length whose tail is at most `level`, and no shorter one by much."""
        if self.columns > 1:
            rank = math.floor(level * (SIMULATIONS + 1)) - 1
            if rank < 0:
                return math.inf
            place = SIMULATIONS - rank - 1
            longest = max(float(np.partition(s, place)[place]) for s in self._worst(trace))
            return math.nextafter(math.sqrt(longest), math.inf)
        least, most = 0.0, 1.0
        while self._one(most, trace) > level:
            most *= 2.0
        for _ in range(200):
            middle = (least + most) / 2.0
            if middle in (least, most):
                break
            if self._one(middle, trace) <= level:
                most = middle
            else:
                least = middle
        return most

    @property
    def mean_square(self) -> float:
        """E |noise|^2."""
        d, b = self.columns, self.scale
        match self.law:
            case "laplace":
                return 2.0 * b * b
            case "gaussian":
                return d * b * b
            case "knorm_l2":
                return d * (d + 1) * b * b
            case "knorm_linf":
                return d * (d + 1) * (d + 2) / 3.0 * b * b

    def _one(self, length: float, trace: float) -> float:
        """Both tails of one noisy number, in closed form."""
        deviation = max(math.sqrt(trace), LEAST_SHARE * self.scale)
        if self.law == "gaussian":
            return math.erfc(length / math.hypot(deviation, self.scale) / math.sqrt(2.0))
        return 2.0 * exceeds(length, 0.0, deviation, self.scale)

    def _worst(self, trace: float) -> list[Doubles]:
        """Squared lengths under each candidate for the worst covariance, shape (simulations,)."""
        draws = _draws(self.law, self.columns)
        root, noise = math.sqrt(trace), self.scale
        even = root / math.sqrt(self.columns)
        rest = noise * noise * draws.noise_square
        lengths = [
            root * root * draws.first**2 + 2.0 * root * noise * draws.first_product + rest,
            even * even * draws.square + 2.0 * even * noise * draws.product + rest,
        ]
        if self.law == "knorm_linf":
            cross = 2.0 * root * noise * draws.diagonal_product
            lengths.append(root * root * draws.first**2 + cross + rest)
        return lengths


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """Sums over the coordinates of normal draws N and unit noise X, shape (simulations,) each."""

    first: Doubles
    square: Doubles
    product: Doubles
    first_product: Doubles
    diagonal_product: Doubles
    noise_square: Doubles


@lru_cache(maxsize=4)
def _draws(law: Law, columns: int) -> _Draws:
    rng = np.random.default_rng(SEED)
    parts = []
    for some in (few for _ in range(SIMULATIONS // CHUNK) for few in row_chunks(CHUNK, columns)):
        normal = rng.standard_normal((some, columns))
        noise = unit_noise(law, some, columns, rng)
        first = normal[:, 0]
        parts.append(
            (
                first.copy(),
                np.einsum("ij,ij->i", normal, normal),
                np.einsum("ij,ij->i", normal, noise),
                first * noise[:, 0],
                first * noise.sum(axis=1) / math.sqrt(columns),
                np.einsum("ij,ij->i", noise, noise),
            )
        )
    return _Draws(*(np.concatenate(column) for column in zip(*parts)))


def unit_noise(law: Law, size: int, columns: int, rng: np.random.Generator) -> Doubles:
    """Noise of scale 1, shape (size, columns)."""
    match law:
        case "laplace":
            return rng.laplace(size=(size, columns))
        case "gaussian":
            return rng.standard_normal((size, columns))
        case "knorm_l2":
            direction = rng.standard_normal((size, columns))
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            return np.asarray(direction * rng.gamma(columns, size=(size, 1)), dtype=np.float64)
        case "knorm_linf":
            edge = rng.gamma(columns + 1, size=(size, 1))
            return np.asarray(edge * rng.uniform(-1.0, 1.0, (size, columns)), dtype=np.float64)


@lru_cache(maxsize=16)
def unit_reach(law: Law, columns: int, confidence: float) -> float:
    """How far one coordinate of noise of scale 1 reaches with this confidence, by simulation."""
    rng = np.random.default_rng(SEED)
    chunks = row_chunks(SIMULATIONS, columns)
    drawn = np.concatenate([unit_noise(law, some, columns, rng)[:, 0].copy() for some in chunks])
    return float(np.quantile(np.abs(drawn), confidence))
