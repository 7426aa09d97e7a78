"""From noisy second moments to a matrix that is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Matrix",
    "Vector",
    "centred",
    "centred_deviation",
    "from_triangle",
    "projected",
    "scaled",
    "triangle",
]

Matrix = npt.NDArray[np.float64]
"""Shape (d, d)."""

Vector = npt.NDArray[np.float64]
"""Shape (d,)."""


def triangle(matrix: npt.NDArray[Any]) -> list[int]:
    """The integers above the diagonal of a (d, d) array, row by row, as Python integers."""
    order = len(matrix)
    return [int(value) for row in range(order) for value in matrix[row, row + 1 :]]


def from_triangle(diagonal: Sequence[float], pairs: Sequence[float]) -> Matrix:
    """The symmetric matrix of a diagonal and of the entries above it, row by row."""
    order = len(diagonal)
    matrix = np.zeros((order, order))
    rows, columns = np.triu_indices(order, 1)
    matrix[rows, columns] = pairs
    matrix[columns, rows] = pairs
    np.fill_diagonal(matrix, diagonal)
    return matrix


def centred(second: Matrix, mean: Vector) -> Matrix:
    """Second moments about the public centre, moved to about `mean`: S - m m'.

    `second` is (d, d), `mean` (d,), both in the unit box.
    """
    return second - np.outer(mean, mean)


def projected(matrix: Matrix) -> Matrix:
    """The nearest positive semidefinite matrix in Frobenius norm: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] >= 0.0:
        return (matrix + matrix.T) / 2
    # Half of each factor makes the product a Gram matrix, symmetric to the last bit.
    half = vectors * np.sqrt(np.clip(values, 0.0, None))
    return np.asarray(half @ half.T)


def scaled(matrix: Matrix, units: Vector) -> Matrix:
    """Entry (j, k) times the units of columns j and k."""
    return np.asarray(matrix * np.outer(units, units))


def centred_deviation(mean: Vector, diagonal: float, pairs: float, mean_deviation: float) -> Matrix:
    """Root mean square noise of S - m m', shape (d, d), where m carries noise e of its own.

    The error is N_jk - m_j e_k - m_k e_j - e_j e_k: for j != k its mean square is
    pairs^2 + e^2 (m_j^2 + m_k^2) + e^4, for j = k it is diagonal^2 + 4 e^2 m_j^2 + 3 e^4.
    """
    variance = mean_deviation**2
    squares = mean**2
    total = pairs**2 + variance * (squares[:, None] + squares[None, :]) + variance**2
    np.fill_diagonal(total, diagonal**2 + 4 * variance * squares + 3 * variance**2)
    return np.asarray(np.sqrt(total))
