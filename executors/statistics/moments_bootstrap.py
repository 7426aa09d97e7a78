"""Second moments drawn anew, as another sample of rows with other noise would have given them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from executors.statistics.covariance_matrix import Matrix, Vector, centred, projected

__all__ = ["MomentsModel"]


@dataclass(frozen=True, slots=True, eq=False)
class MomentsModel:
    """A Gaussian model of the rows, with the noise of a release that measured every entry once.

    In the unit box: `matrix` of shape (d, d) is the covariance, `mean` of shape (d,) lies about
    the public centre (None where the release is a second moment); `noise` holds the deviation of
    each second moment about the centre, `mean_noise` that of each mean.
    """

    matrix: Matrix
    mean: Vector | None
    rows: int
    noise: Matrix
    mean_noise: Vector

    def draws(self, count: int, seed: int) -> Iterator[tuple[Matrix, Vector]]:
        """`count` matrices, positive semidefinite, each with its mean (zeros where there is none).

        Each is a sample covariance of `rows` Gaussian rows, moved to about the centre, noised,
        moved back by the noisy mean, projected: what the mechanism does to real rows.
        """
        rng = np.random.default_rng(seed)
        root = _root(self.matrix)
        order = len(self.matrix)
        for _ in range(count):
            sample = root @ _wishart(rng, order, self.rows - (self.mean is not None)) @ root.T
            sample /= self.rows
            mean = np.zeros(order)
            if self.mean is not None:
                mean = self.mean + root @ rng.normal(size=order) / np.sqrt(self.rows)
            second = sample + np.outer(mean, mean) + self.noise * _symmetric(rng, order)
            if self.mean is not None:
                mean = mean + self.mean_noise * rng.normal(size=order)
                mean = np.clip(mean, -1.0, 1.0)
            yield projected(centred(second, mean)), mean


def _root(matrix: Matrix) -> Matrix:
    """A square root of a positive semidefinite matrix, singular ones included."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.clip(values, 0.0, None)))


def _wishart(rng: np.random.Generator, order: int, degrees: int) -> Matrix:
    """A standard Wishart matrix, by Bartlett's triangle where the degrees allow it."""
    if degrees < order:
        rows = rng.normal(size=(max(degrees, 1), order))
        return np.asarray(rows.T @ rows)
    triangle = np.tril(rng.normal(size=(order, order)), -1)
    np.fill_diagonal(triangle, np.sqrt(rng.chisquare(degrees - np.arange(order))))
    return np.asarray(triangle @ triangle.T)


def _symmetric(rng: np.random.Generator, order: int) -> Matrix:
    """Standard normal entries, the same above and below the diagonal."""
    upper = np.triu(rng.normal(size=(order, order)))
    return np.asarray(upper + np.triu(upper, 1).T)
