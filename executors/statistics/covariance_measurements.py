"""The table of everything that was measured, as it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Measurements"]


@dataclass(slots=True)
class Measurements:
    """Noisy means and second moments, in the units of the columns, about the public centre.

    Where a mean was released first, products of two columns may be about it; the release says so.
    `j` and `k` name columns; `k` is None for a mean (of column j minus its centre). `y` is the
    noisy value before any shrinkage, clipping or projection, `sd` the noise in it, `round` counts
    releases from 1.
    """

    names: Sequence[str]
    j: list[str] = field(default_factory=list)
    k: list[str | None] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    sd: list[float] = field(default_factory=list)
    round: list[int] = field(default_factory=list)

    def mean(self, j: int, y: float, sd: float, round: int = 1) -> None:
        """Write down the mean of column j minus its public centre."""
        self._add(self.names[j], None, y, sd, round)

    def moment(self, j: int, k: int, y: float, sd: float, round: int = 1) -> None:
        """Write down the mean product of columns j and k."""
        self._add(self.names[j], self.names[k], y, sd, round)

    def _add(self, j: str, k: str | None, y: float, sd: float, round: int) -> None:
        self.j.append(j)
        self.k.append(k)
        self.y.append(float(y))
        self.sd.append(float(sd))
        self.round.append(round)

    def json(self) -> dict[str, list[Any]]:
        """The table as columns of equal length."""
        return {"j": self.j, "k": self.k, "y": self.y, "sd": self.sd, "round": self.round}

    def table(self) -> dict[str, tuple[Any, ...]]:
        """The same columns, frozen."""
        return {name: tuple(column) for name, column in self.json().items()}
