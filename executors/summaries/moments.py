"""First and second moments of clamped rows, in integers.

A row becomes z_j = clamp(floor(2^16 (x_j - c_j) / B_j), -2^16, 2^16) with the public centre c and
half width B. The integer clamp comes last, so z / 2^16 lies in the unit box whatever floating
point did before, and every statement about points of the box holds for z without slack.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.data.source import Clamp, Flag, Reader, Selection
from planner.facts import Column
from planner.mechanism import Query

__all__ = ["BATCH", "GRID", "Moments", "grid", "selection", "summarise"]

GRID = 1 << 16
"""Steps of the grid per unit of the box."""

BATCH = 1 << 16
"""Rows per product: each term is at most 2^32, so sums stay below 2^53 and float64 is exact."""

_SAFE_ROWS = 1 << 30

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """`total` = sum z, shape (d,); `gram` = sum z z^T, shape (d, d); exact integers.

    The arrays are int64 up to 2^30 rows and hold Python integers beyond. `rows` counts all rows
    read, the neutralised ones too.
    """

    rows: int
    total: Integers
    gram: Integers

    @classmethod
    def zero(cls, columns: int) -> Moments:
        """No rows of `columns` columns."""
        return cls(
            0, np.zeros(columns, dtype=np.int64), np.zeros((columns, columns), dtype=np.int64)
        )

    def plus(self, other: Moments) -> Moments:
        """The moments of both sets of rows; associative, commutative, exact."""
        rows = self.rows + other.rows
        if rows <= _SAFE_ROWS:
            return Moments(rows, self.total + other.total, self.gram + other.gram)
        return Moments(
            rows,
            self.total.astype(object) + other.total.astype(object),
            self.gram.astype(object) + other.gram.astype(object),
        )


def summarise(query: Query, reader: Reader) -> Moments:
    """The moments of the query's columns over every row of the reader.

    Parameters: `center` and `half`, one Fraction a column: c_j and B_j > 0 above. Raises ValueError
    for a half width that is not positive.
    """
    parameters = dict(query.parameters)
    center = _floats(parameters["center"], len(query.columns))
    half = _floats(parameters["half"], len(query.columns))
    if not (half > 0).all():
        raise ValueError("half widths are positive")
    moments = Moments.zero(len(query.columns))
    buffer = np.ones((len(query.columns) + 1, BATCH), dtype=np.float64)
    selections = [selection(column) for column in query.columns]
    for batch in _ahead(reader.batches(selections, rows=BATCH)):
        moments = moments.plus(_batch(batch, center, half, buffer))
    return moments


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches; while one is worked on, the next is read in a thread."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def grid(values: Floats, center: float, half: float, out: Floats) -> Floats:
    """The grid integers of one column as float64, written to `out`; values are finite."""
    if center:
        values = np.subtract(values, center, out=out)
    np.divide(values, half / GRID, out=out)
    np.floor(out, out=out)
    return np.clip(out, -float(GRID), float(GRID), out=out)


def selection(column: Column) -> Selection:
    """How a column enters moments: clamped to its bounds, missing values in their middle.

    A boolean is 0 or 1, missing values are 0. Raises ValueError for a column without bounds.
    """
    if column.type in ("boolean", "event"):
        return Flag(column.name)
    if column.bounds is None:
        raise ValueError(f"the column `{column.name}` has no bounds")
    lo, hi = column.bounds
    return Clamp(column.name, float(lo), float(hi), float((lo + hi) / 2))


def _batch(batch: pa.RecordBatch, center: Floats, half: Floats, buffer: Floats) -> Moments:
    """The moments of one batch; the last row of the buffer is 1, so that one product sums z too."""
    rows = batch.num_rows
    z = buffer[:, :rows]
    with np.errstate(all="ignore"):  # a warning must not depend on a value
        for place, column in enumerate(batch.columns):
            grid(column.to_numpy(), center[place], half[place], z[place])
    product = (z @ z.T).astype(np.int64)
    return Moments(rows, product[-1, :-1], product[:-1, :-1])


def _floats(numbers: tuple[Fraction, ...], columns: int) -> Floats:
    if len(numbers) != columns:
        raise ValueError("one number for each column")
    return np.array([float(number) for number in numbers], dtype=np.float64)
