"""Correlations from a released covariance matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

__all__ = ["Correlations", "correlations"]

Numbers = Sequence[Sequence[float]]
Gaps = Sequence[Sequence[float | None]]
Table = tuple[tuple[float | None, ...], ...]

_DISTINCT = 3.0
"""Noise deviations above which a variance counts as seen."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """R_jk and its noise, both (d, d), None where nothing can be said.

    `unseen` are the places of the columns whose variance cannot be told from 0.
    """

    matrix: Table
    deviation: Table
    unseen: tuple[int, ...]


def correlations(matrix: Numbers, deviation: Gaps) -> Correlations:
    """R_jk = S_jk / sqrt(S_jj S_kk), clipped to [-1, 1], with 1 on the diagonal.

    `matrix` is the positive semidefinite S of shape (d, d), `deviation` the noise in its entries.
    A column with S_jj <= 3 deviations (or without a positive S_jj) has no correlations. The noise
    of R is that of its first-order change, with the noise of the three entries taken as
    independent; the sampling error of the rows is not in it.
    """
    order = range(len(matrix))
    unseen = tuple(
        j for j in order if not matrix[j][j] > max(0.0, _DISTINCT * (deviation[j][j] or 0.0))
    )

    def value(j: int, k: int) -> float | None:
        if j in unseen or k in unseen:
            return None
        if j == k:
            return 1.0
        found = matrix[j][k] / sqrt(matrix[j][j]) / sqrt(matrix[k][k])
        return min(1.0, max(-1.0, found))

    def noise(j: int, k: int) -> float | None:
        found, product = value(j, k), deviation[j][k]
        if found is None or product is None:
            return None
        if j == k:
            return 0.0
        first, second = matrix[j][j], matrix[k][k]
        spread = (product / sqrt(first) / sqrt(second)) ** 2
        for variance, sd in ((first, deviation[j][j]), (second, deviation[k][k])):
            spread += (found * (sd or 0.0) / variance / 2.0) ** 2
        return sqrt(spread)

    return Correlations(
        tuple(tuple(value(j, k) for k in order) for j in order),
        tuple(tuple(noise(j, k) for k in order) for j in order),
        unseen,
    )
