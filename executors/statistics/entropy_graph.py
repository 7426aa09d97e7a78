"""The covariance that a growing set of noisy entries implies, component by component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from executors.statistics.entropy_fit import diagonal_precision, solve_component
from executors.statistics.entropy_newton import Matrix, Vector

__all__ = ["Entry", "Reconstruction"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one pair: the precision-weighted value, its noise variance."""

    value: float
    variance: float

    def merged(self, value: float, variance: float) -> Entry:
        """The weighted mean with one more measurement."""
        total = 1.0 / self.variance + 1.0 / variance
        return Entry((self.value / self.variance + value / variance) / total, 1.0 / total)


class Reconstruction:
    """`sigma` and `precision`, shape (d, d), fitted to a noisy diagonal and measured pairs.

    Pairs in different components of the measured graph are uncorrelated, so a new value touches one
    component only. `labels` gives two columns the same number when they are connected.
    """

    def __init__(self, y: Vector, v: Vector, gamma: float) -> None:
        self._y = np.asarray(y, dtype=float)
        self._v = np.asarray(v, dtype=float)
        self._gamma = gamma
        self._unfinished: set[int] = set()
        self.entries: dict[tuple[int, int], Entry] = {}
        self.labels: npt.NDArray[np.int64] = np.arange(len(self._y))
        single = diagonal_precision(self._y, self._v, gamma)
        self.precision: Matrix = np.diag(single)
        self.sigma: Matrix = np.diag(1.0 / single)

    @property
    def converged(self) -> bool:
        """Whether every component's last fit reached its tolerance."""
        return not self._unfinished

    def measure(self, j: int, k: int, value: float, variance: float, tolerance: float) -> None:
        """Take in one noisy value of the pair (j, k), in either order; refit its component."""
        pair = (min(j, k), max(j, k))
        known = self.entries.get(pair)
        self.entries[pair] = (
            Entry(value, variance) if known is None else known.merged(value, variance)
        )
        joined, left = self.labels[pair[0]], self.labels[pair[1]]
        self.labels[self.labels == left] = joined
        self._unfinished.discard(int(left))
        self._fit(int(joined), tolerance)

    def finish(self, tolerance: float) -> None:
        """Refit every component of more than one column."""
        labels, sizes = np.unique(self.labels, return_counts=True)
        for label in labels[sizes > 1]:
            self._fit(int(label), tolerance)

    def shrunk(self) -> Reconstruction:
        """A fresh one, not yet fitted, with every pair y times (1 - v / y^2)_+; zeros are left out.

        Its components are those of the pairs that stay; call `finish`.
        """
        other = Reconstruction(self._y, self._v, self._gamma)
        for (j, k), entry in self.entries.items():
            square = entry.value**2
            if square > entry.variance:
                kept = entry.value * (1.0 - entry.variance / square)
                other.entries[j, k] = Entry(kept, entry.variance)
                other.labels[other.labels == other.labels[k]] = other.labels[j]
        return other

    def _fit(self, label: int, tolerance: float) -> None:
        nodes = np.flatnonzero(self.labels == label)
        places = np.full(len(self.labels), -1)
        places[nodes] = np.arange(len(nodes))
        mine = [(pair, entry) for pair, entry in self.entries.items() if places[pair[0]] >= 0]
        block = np.ix_(nodes, nodes)
        sigma, precision, fit = solve_component(
            self._y[nodes],
            self._v[nodes],
            places[np.array([pair[0] for pair, _ in mine], dtype=np.int64)],
            places[np.array([pair[1] for pair, _ in mine], dtype=np.int64)],
            np.array([entry.value for _, entry in mine]),
            np.array([entry.variance for _, entry in mine]),
            self._gamma,
            self.precision[block],
            tolerance,
        )
        self.sigma[block] = sigma
        self.precision[block] = precision
        if fit.converged:
            self._unfinished.discard(label)
        else:
            self._unfinished.add(label)
