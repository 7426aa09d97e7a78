"""Rows drawn from a Gaussian model."""

from __future__ import annotations

import numpy as np

from executors.statistics.covariance_matrix import Matrix, Vector

__all__ = ["gaussian_rows"]

_DIGITS = 6


def gaussian_rows(matrix: Matrix, mean: Vector, rows: int, seed: int) -> Matrix:
    """Shape (rows, d): draws from N(mean, matrix), to six significant digits.

    `matrix` is positive semidefinite. The same seed gives the same rows; digits beyond the sixth
    depend on the machine, so they are dropped.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    largest = np.argmax(np.abs(vectors), axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(len(vectors))])
    normal = np.random.default_rng(seed).normal(size=(rows, len(mean)))
    drawn = mean + normal * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(np.abs(drawn)))
    digits = 10.0 ** (_DIGITS - 1 - np.where(np.isfinite(size), size, 0.0))
    return np.asarray(np.rint(drawn * digits) / digits)
