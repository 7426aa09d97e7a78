"""An order of columns in which similar ones are neighbours."""

from __future__ import annotations

import numpy as np

from executors.statistics.covariance_matrix import Matrix

__all__ = ["similar_order"]


def similar_order(correlations: Matrix) -> list[int]:
    """By the angle of each column in the plane of the two largest eigenvectors.

    The circle is opened at its widest gap. `correlations` is symmetric, without NaN.
    """
    order = len(correlations)
    if order < 3:
        return list(range(order))
    _, vectors = np.linalg.eigh(correlations)
    first, second = vectors[:, -1], vectors[:, -2]
    first, second = (v * (np.sign(v[np.argmax(np.abs(v))]) or 1.0) for v in (first, second))
    angles = np.arctan2(second, first)
    around = np.argsort(angles, kind="stable")
    gaps = np.diff(np.append(angles[around], angles[around[0]] + 2.0 * np.pi))
    start = (int(np.argmax(gaps)) + 1) % order
    return [int(j) for j in np.roll(around, -start)]
