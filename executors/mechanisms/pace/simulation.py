"""The whole of `COVARIANCE pace` on rows made from a public covariance, to foresee its error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.mechanisms.pace.params import PaceParams
from executors.pricing.covariance_columns import box_of
from executors.summaries.moments import Moments
from planner.calculus.leaves import Leaf, Loss
from planner.facts import Facts, PublicTable
from planner.mechanism import Query

__all__ = ["Foreseen", "foresee"]

Matrix = npt.NDArray[np.float64]

_SEED = 20_261_130
_RUNS = 20
_MOST_ROWS = 20_000
_MOST_ENTRIES = 10_000_000


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Quantiles of the Frobenius error in the unit box over 20 runs; how many ended dense."""

    low: float
    median: float
    high: float
    dense: int
    rows: int


@lru_cache(maxsize=16)
def foresee(params: PaceParams, facts: Facts, loss: Loss) -> Foreseen:
    """20 runs with noise of a fixed, recorded seed; nothing of it is used again.

    Rows are normal with the public covariance about the box's centre, moved to the nearest wall
    where they leave it: at most 20,000 of them, with the noise for the declared number. Columns are
    those of the statement, in any order in the table.
    """
    from executors.mechanisms.pace.run import run

    (table,) = facts.tables
    rng = np.random.default_rng(_SEED)
    made = _rows(table, params, facts, rng)
    known: dict[Query, Moments] = {}

    def stats(query: Query) -> Moments:
        if query not in known:
            if len(known) > 1:
                known.pop(list(known)[1])
            module = import_module(f"executors.summaries.{query.summary}")
            known[query] = _inflated(module.summarise(query, _Reader(made)), facts.rows)
        return known[query]

    truth = _truth(made, params, facts)
    errors, dense = [], 0
    units = np.array([float(half) for half in box_of(params.center, facts).half])
    for _ in range(_RUNS):
        outcome = run(params, facts, loss, stats, _Noise(rng))
        found = np.array(outcome.value["matrix"]) / np.outer(units, units)
        errors.append(float(np.linalg.norm(found - truth)))
        dense += outcome.value["branch"] == "dense"
    low, median, high = np.quantile(errors, [0.1, 0.5, 0.9])
    return Foreseen(float(low), float(median), float(high), dense, len(made))


def _rows(table: PublicTable, params: PaceParams, facts: Facts, rng: np.random.Generator) -> Matrix:
    """Rows in the units of the columns, shape (m, d), inside the box."""
    places = [table.columns.index(column.name) for column in facts.columns]
    box = box_of(params.center, facts)
    half = np.array([float(value) for value in box.half])
    center = np.array([float(value) for value in box.center])
    matrix = np.array(table.rows)[np.ix_(places, places)] / np.outer(half, half)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    count = max(2, min(facts.rows, _MOST_ROWS, _MOST_ENTRIES // len(half)))
    made = np.clip(rng.standard_normal((count, len(half))) @ root.T, -1.0, 1.0)
    return np.asarray(center + half * made)


def _truth(made: Matrix, params: PaceParams, facts: Facts) -> Matrix:
    """What a run without noise would release: moments of the made rows in the unit box."""
    box = box_of(params.center, facts)
    half = np.array([float(value) for value in box.half])
    unit = (made - np.array([float(value) for value in box.center])) / half
    if params.center == "private":
        unit = unit - unit.mean(axis=0)
    return np.asarray(unit.T @ unit / len(unit))


def _inflated(moments: Moments, rows: int) -> Moments:
    """The same averages over the declared number of rows."""

    def scaled(sums: Any) -> Any:
        whole = [int(value) * rows // moments.rows for value in sums.ravel().tolist()]
        kind: Any = np.int64 if rows < 2**30 else object
        return np.array(whole, dtype=kind).reshape(sums.shape)

    return Moments(rows, scaled(moments.total), scaled(moments.gram))


class _Reader:
    """Batches of made rows; they lie within their bounds already."""

    def __init__(self, made: Matrix) -> None:
        self._made = made

    def batches(
        self, columns: Sequence[Any], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        """Record batches of the columns, in order."""
        names = [selection.name for selection in columns]
        for start in range(0, len(self._made), rows):
            part = np.ascontiguousarray(self._made[start : start + rows].T)
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in part], names=names)

    def close(self) -> None:
        """Nothing to close."""


class _Noise:
    """Noise of the same laws from a seeded generator, for made rows only."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def dgauss(self, leaf: Leaf, integers: Sequence[int]) -> list[int]:
        """`integers` with rounded normal noise of the leaf's scale."""
        return _noisy(self._rng, integers, float(leaf.scale or 0))

    def cap(self, leaf: Leaf) -> _Filter:
        """A filter that never refuses: the schedule keeps within the cap by itself."""
        return _Filter(self._rng)


class _Filter:
    """The draws of a filter, not charged."""

    left = Fraction(0)

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def dgauss(self, sensitivity: int, scale: int, integers: Sequence[int]) -> list[int]:
        """`integers` with rounded normal noise of this scale."""
        return _noisy(self._rng, integers, float(scale))

    def select(self, eta: Fraction, sensitivity: int, scores: Any, k: int) -> list[int]:
        """The largest of scores with Gumbel noise."""
        noise = self._rng.gumbel(size=len(scores))
        return [int(np.argmax(float(eta / (2 * sensitivity)) * scores.astype(float) + noise))]


def _noisy(rng: np.random.Generator, integers: Sequence[int], scale: float) -> list[int]:
    noise = rng.standard_normal(len(integers)) * scale
    return [int(value) + round(drawn) for value, drawn in zip(integers, noise, strict=True)]
