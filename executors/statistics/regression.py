"""Least squares from second moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from executors.statistics.covariance_matrix import Matrix, Vector

__all__ = ["LEAST_RIDGE", "Regression", "regression", "ridge_of"]

LEAST_RIDGE = 1e-9
"""What is added at least to the diagonal of a matrix that may be singular, in the unit box."""


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Slopes of shape (p,), the residual variance, the explained share, the ridge that was used.

    All in the units of the matrix. `explained` is None where the response has no variance.
    """

    slopes: Vector
    residual: float
    explained: float | None
    ridge: float


def regression(matrix: Matrix, y: int, x: Sequence[int], ridge: float) -> Regression:
    """The slopes b = (S_xx + ridge I)^-1 S_xy from a positive semidefinite S of shape (d, d).

    The residual variance is S_yy - 2 b' S_xy + b' S_xx b >= 0, that of the prediction b' x.
    """
    places = list(x)
    inner = matrix[np.ix_(places, places)]
    cross = matrix[places, y]
    slopes: Vector = np.asarray(np.linalg.solve(inner + ridge * np.eye(len(places)), cross), float)
    variance = float(matrix[y, y])
    residual = max(0.0, variance - 2.0 * float(slopes @ cross) + float(slopes @ inner @ slopes))
    explained = 1.0 - residual / variance if variance > 0.0 else None
    return Regression(slopes, residual, explained, ridge)


def ridge_of(matrix: Matrix, x: Sequence[int], noise: float) -> float:
    """The least ridge that keeps the spectrum of S_xx above the noise.

    Noise of standard deviation `noise` in each entry of a p x p matrix has eigenvalues up to about
    2 noise sqrt(p). The smallest eigenvalue of S_xx is raised to that, by LEAST_RIDGE at least:
    what lies below it is noise, and dividing by it would make slopes of noise.
    """
    places = list(x)
    least = float(np.linalg.eigvalsh(matrix[np.ix_(places, places)])[0])
    return max(LEAST_RIDGE, 2.0 * noise * sqrt(len(places)) - least)
