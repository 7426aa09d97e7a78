"""From noisy integers to a positive semidefinite matrix."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from executors.statistics.covariance_matrix import Matrix, Vector, centred, projected

__all__ = ["about_the_mean", "limited", "rebuilt", "spectrum"]


def limited(matrix: Matrix, most: float) -> Matrix:
    """The matrix with its eigenvalues clipped to [0, most]."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return _assembled(np.clip(values, 0.0, most), vectors)


def rebuilt(matrix: Matrix, spectrum: Vector, most: float) -> Matrix:
    """The eigenvectors of one noisy matrix with eigenvalues measured apart, largest to largest.

    `spectrum` is in rising order before its noise; values are clipped to [0, most].
    """
    _, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return _assembled(np.clip(spectrum, 0.0, most), vectors)


def spectrum(gram: npt.NDArray[np.int64]) -> list[int]:
    """The eigenvalues of an integer matrix, in rising order, rounded to integers."""
    return [int(value) for value in np.rint(np.linalg.eigvalsh(gram.astype(np.float64)))]


def about_the_mean(second: Matrix, constant: float) -> tuple[Vector, Matrix]:
    """The mean and the covariance from second moments whose first column is a constant.

    Shortening rows shortens the constant too, so the matrix is first scaled back by
    a^2 / max(S_00, a^2 / 2). Then m = S_0j / a, and S - m m' is positive semidefinite, because
    S_00 <= a^2 makes it at least a Schur complement; what rounding takes from that is put back.
    """
    scaled = second * constant**2 / max(float(second[0, 0]), constant**2 / 2.0)
    mean = scaled[1:, 0] / constant
    return mean, projected(centred(scaled[1:, 1:], mean))


def _assembled(values: Vector, vectors: Matrix) -> Matrix:
    half = vectors * np.sqrt(values)
    return np.asarray(half @ half.T)
