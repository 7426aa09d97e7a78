"""Principal components of a positive semidefinite matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from executors.statistics.covariance_matrix import Matrix, Vector

__all__ = ["Components", "principal_components"]


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Variances in falling order, their shares of the trace, and the axes, one a row."""

    variance: Vector
    share: Vector
    axes: Matrix


def principal_components(matrix: Matrix, count: int) -> Components:
    """The first `count` eigenvalues with unit eigenvectors; the largest loading is positive.

    None of a matrix without columns.
    """
    if not len(matrix):
        return Components(np.zeros(0), np.zeros(0), np.zeros((0, 0)))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    values, axes = np.clip(values[::-1], 0.0, None), vectors.T[::-1]
    largest = np.argmax(np.abs(axes), axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    trace = float(values.sum())
    share = values / trace if trace > 0.0 else np.zeros(len(values))
    return Components(values[:count], share[:count], axes[:count])
