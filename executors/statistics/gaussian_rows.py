"""Rows drawn from a Gaussian model."""

from __future__ import annotations

import numpy as np

from executors.statistics.covariance_matrix import Matrix, Vector

__all__ = ["gaussian_rows"]

_DIGITS = 6


def gaussian_rows(matrix: Matrix, mean: Vector, units: Vector, rows: int, seed: int) -> Matrix:
    """Shape (rows, d): draws from N(mean, U matrix U), U = diag(units), to six digits of a unit.

    `matrix` is positive semidefinite, of columns divided by `units`: a spectrum of columns of very
    different size would drown the small ones. The same seed gives the same rows; digits beyond the
    sixth depend on the machine, so they are dropped.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    largest = np.argmax(np.abs(vectors), axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(len(vectors))])
    normal = np.random.default_rng(seed).normal(size=(rows, len(mean)))
    drawn = mean + units * (normal * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T)
    places = _DIGITS - 1 - np.floor(np.log10(units)).astype(int)
    rounded = [np.round(column, int(place)) for column, place in zip(drawn.T, places, strict=True)]
    return np.asarray(np.array(rounded).T)
