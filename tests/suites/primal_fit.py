"""A slow second solver of the penalised covariance fit, over Sigma instead of its inverse."""

from __future__ import annotations

import numpy as np

__all__ = ["primal_fit"]


def primal_fit(
    targets: np.ndarray, variances: np.ndarray, gamma: float, tolerance: float = 1e-13
) -> np.ndarray:
    """argmin over Sigma > 0 of sum_S (Sigma - y)^2 / (2 v) - gamma log det Sigma.

    `targets` (d, d) symmetric; `variances` (d, d) with inf where a pair was not measured. An
    interior Newton method over all d (d + 1) / 2 entries, from a large gamma to the wanted one.
    """
    d = len(targets)
    rows, columns = np.triu_indices(d)
    times = np.where(rows == columns, 1.0, 2.0)
    precisions = 1.0 / variances[rows, columns]
    y = np.where(np.isfinite(variances), targets, 0.0)[rows, columns]
    basis = np.zeros((len(rows), d, d))
    basis[np.arange(len(rows)), rows, columns] = 1.0
    basis[np.arange(len(rows)), columns, rows] = 1.0

    def matrix(x: np.ndarray) -> np.ndarray:
        return np.tensordot(x, basis, axes=1)

    def value(x: np.ndarray, weight: float) -> float:
        sign, logarithm = np.linalg.slogdet(matrix(x))
        inside = sign > 0 and np.linalg.eigvalsh(matrix(x))[0] > 0
        return 0.5 * (precisions * (x - y) ** 2).sum() - weight * logarithm if inside else np.inf

    x = np.where(rows == columns, np.maximum(np.abs(y), 1.0), 0.0)
    weights = gamma * 2.0 ** np.arange(np.ceil(np.log2(max(1.0, 1e6 / gamma))), -1, -1)
    for weight in weights:
        for _ in range(200):
            inverse = np.linalg.inv(matrix(x))
            gradient = precisions * (x - y) - weight * times * inverse[rows, columns]
            turned = inverse @ basis @ inverse
            hessian = weight * np.einsum("iab,jab->ij", turned, basis) + np.diag(precisions)
            step = -np.linalg.solve(hessian, gradient)
            square = -(gradient @ step) / weight
            if square <= (tolerance if weight == gamma else 1e-3):
                break
            length, before = 1.0, value(x, weight)
            while length > 1e-12 and not (
                value(x + length * step, weight) <= before + 1e-9 * abs(before)
                and (square > 0.01 or length == 1.0)
                and value(x + length * step, weight)
                <= before - 1e-4 * length * square * weight + 1e-9 * abs(before) * (square < 0.01)
            ):
                length /= 2.0
            x = x + length * step
    return matrix(x)
