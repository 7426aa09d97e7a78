"""Correlations of two columns given all others, from a covariance or its inverse."""

from __future__ import annotations

import numpy as np

from executors.statistics.covariance_matrix import Matrix

__all__ = ["inverse_with_ridge", "partial_correlations"]


def partial_correlations(precision: Matrix) -> Matrix:
    """-K_jk / sqrt(K_jj K_kk) with 1 on the diagonal, clipped to [-1, 1]; K positive definite."""
    scale = 1.0 / np.sqrt(np.diag(precision))
    found = np.clip(-precision * np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found + 0.0)


def inverse_with_ridge(matrix: Matrix, ridge: float) -> Matrix:
    """(S + ridge I)^-1 of a positive semidefinite S; ridge > 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    half = vectors / np.sqrt(np.clip(values, 0.0, None) + ridge)
    return np.asarray(half @ half.T)
