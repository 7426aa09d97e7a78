"""Noisy correlations drawn towards zero by the rule whose estimated risk is least.

A symmetric matrix Y of order d with zero diagonal carries independent noise of standard deviation
sg on each of its m = d (d - 1) / 2 distinct entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from executors.statistics.covariance_matrix import Matrix

__all__ = ["Shrunk", "noise_edge", "shrunk", "stands_out"]

_THRESHOLDS = 11


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """The shrunk matrix, the rule that made it, and Stein's estimate of its squared error."""

    matrix: Matrix
    rule: str
    risk: float


def noise_edge(deviation: float, order: int) -> float:
    """Beyond what the eigenvalues of pure noise lie rarely: 2 sg sqrt(d) (1 + d^(-2/3) / 2)."""
    return 2.0 * deviation * sqrt(order) * (1.0 + 0.5 * float(order ** (-2.0 / 3.0)))


def stands_out(noisy: Matrix, deviation: float) -> bool:
    """Whether some eigenvalue is too large for noise alone."""
    values = np.linalg.eigvalsh(noisy)
    return bool(np.abs(values).max() > noise_edge(deviation, len(noisy)))


def shrunk(noisy: Matrix, deviation: float) -> Shrunk:
    """The candidate of least estimated risk; the first of several.

    Candidates: eigenvalues beyond the edge, each shortened; everything times one factor; every
    entry pulled towards zero by one of eleven thresholds. All risks are estimates for both halves
    of the matrix: tot = sum Y^2 - 2 m sg^2 is that of the zero matrix.
    """
    order = len(noisy)
    variance = deviation**2
    rows, columns = np.triu_indices(order, 1)
    entries = noisy[rows, columns]
    count = len(entries)
    square = 2.0 * float(entries @ entries)
    total = square - 2.0 * count * variance

    kept = _kept(noisy, deviation)
    spectral = (kept[1] * kept[0]) @ kept[1].T
    np.fill_diagonal(spectral, 0.0)
    candidates = [Shrunk(spectral, "spectral", total - float(kept[0] @ kept[0]))]

    factor = max(0.0, 1.0 - 2.0 * count * variance / square) if square > 0.0 else 0.0
    candidates.append(Shrunk(factor * noisy, "scalar", total - factor * max(total, 0.0)))

    most = deviation * sqrt(2.0 * log(max(count, 2)))
    for step in range(_THRESHOLDS):
        threshold = most * step / (_THRESHOLDS - 1)
        below = int((np.abs(entries) < threshold).sum())
        squares = float(np.minimum(entries**2, threshold**2).sum())
        risk = 2.0 * ((count - 2.0 * below) * variance + squares)
        soft = np.sign(noisy) * np.maximum(np.abs(noisy) - threshold, 0.0)
        candidates.append(Shrunk(soft, "soft", risk))
    return min(candidates, key=lambda one: one.risk)


def _kept(noisy: Matrix, deviation: float) -> tuple[Matrix, Matrix]:
    """The eigenvalues beyond the edge, shortened by what noise adds to them, and their vectors."""
    values, vectors = np.linalg.eigh(noisy)
    beyond = np.abs(values) > noise_edge(deviation, len(noisy))
    inner = np.maximum(values[beyond] ** 2 - 4.0 * len(noisy) * deviation**2, 0.0)
    return np.sign(values[beyond]) * np.sqrt(inner), vectors[:, beyond]
