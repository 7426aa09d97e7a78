"""What a run of `COVARIANCE pace` writes down: every measurement, every draw with its price."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from executors.pricing.covariance import PRODUCT
from executors.pricing.covariance_squares import SquareDeviations
from executors.release import NoiseNote
from executors.statistics.covariance_matrix import Matrix, Vector
from executors.statistics.covariance_measurements import Measurements
from planner.calculus.convert import Native, charge
from planner.calculus.leaves import Leaf

__all__ = ["Journal"]


@dataclass(slots=True)
class Journal:
    """Measurements in the units of the columns; draws with their cost in `unit`, in their order.

    `units` are the half-widths of the columns. `round` 1 is that of the variances.
    """

    names: list[str]
    units: Vector
    rows: int
    unit: Native
    table: Measurements
    round: int = 0
    calls: list[dict[str, Any]] = field(default_factory=list)
    used: Fraction = Fraction(0)
    notes: list[NoiseNote] = field(default_factory=list)
    pairs: list[float] = field(default_factory=list)
    choices: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, names: list[str], units: Vector, rows: int, unit: Native) -> Journal:
        """An empty one."""
        return cls(names, units, rows, unit, Measurements(names))

    def leaf(self, leaf: Leaf, what: str) -> None:
        """A draw that used up a leaf; a new round begins with it."""
        self.round += 1
        self._call("discrete_gaussian", what, float(leaf.scale or 0), charge(leaf, self.unit).value)

    def selection(self, cost: Fraction, scale: float) -> None:
        """A draw that chose a pair; a new round begins with it."""
        self.round += 1
        self.choices.append(scale)
        self._call("exponential_mechanism", "which pair", scale, cost)

    def draw(self, what: str, cost: Fraction, scale: int, begins: bool = False) -> None:
        """A Gaussian draw that a filter paid for."""
        self.round += begins
        self._call("discrete_gaussian", what, float(scale), cost)

    def variances(
        self, places: tuple[int, ...], second: Vector, first: Vector, sd: SquareDeviations
    ) -> None:
        """Write down noisy means and second moments of the unit box."""
        for j, mean in enumerate(first):
            self.table.mean(j, mean * self.units[j], sd.mean * self.units[j], self.round)
        for j, moment in zip(places, second, strict=True):
            square = self.units[j] ** 2
            self.table.moment(j, j, moment * square, sd.square * square, self.round)
        self.notes.append(NoiseNote("discrete_gaussian", sd.square, "squares, unit box"))
        if len(first):
            self.notes.append(NoiseNote("discrete_gaussian", sd.mean, "means, unit box"))

    def pair(self, j: int, k: int, value: float, deviation: float) -> None:
        """Write down one noisy covariance of the unit box."""
        unit = self.units[j] * self.units[k]
        self.pairs.append(deviation)
        self.table.moment(j, k, value * unit, deviation * unit, self.round)

    def all_pairs(self, noisy: Matrix, scales: Vector, deviation: float) -> None:
        """Write down a noisy covariance of every pair, given over `scales` of the unit box."""
        units = self.units * scales
        for j, k in zip(*np.triu_indices(len(noisy), 1), strict=True):
            unit = units[j] * units[k]
            self.table.moment(int(j), int(k), noisy[j, k] * unit, deviation * unit, self.round)

    def title(self, j: int, k: int) -> str:
        """A pair in the words of the table of draws."""
        return f"{self.names[j]} x {self.names[k]}"

    def laws(self) -> tuple[NoiseNote, ...]:
        """The noise of every kind of draw; of a search, that of its first round and of its last."""
        notes = list(self.notes)
        steps = self.rows * PRODUCT
        for when, place in (("first", 0), ("last", -1)):
            if self.choices:
                scale = self.choices[place] / steps
                notes.append(NoiseNote("exponential_mechanism", scale, f"{when} choice, unit box"))
            if self.pairs:
                deviation = self.pairs[place]
                notes.append(NoiseNote("discrete_gaussian", deviation, f"{when} pair, unit box"))
        return tuple(notes)

    def columns(self) -> dict[str, list[Any]]:
        """The draws as columns of equal length."""
        keys = ("round", "law", "of", "scale", "cost")
        return {key: [call[key] for call in self.calls] for key in keys}

    def _call(self, law: str, what: str, scale: float, cost: Fraction) -> None:
        self.used += cost
        self.calls.append(
            {"round": self.round, "law": law, "of": what, "scale": scale, "cost": float(cost)}
        )
