"""How long rows are, as integer sums of squared lengths and of what exceeds some thresholds.

A row is on the grid 2^-16 of its public frame: an integer vector z, in a box |z_j| <= 2^16, in a
ball |z|^2 <= limit, whatever floating point did before. With a constant column a, its squared
length is q = |z|^2 + a^2. Summed are |z|^2 and (q - t)_+ for each threshold t, in exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from executors.data.source import Reader
from executors.summaries.framed import BATCH, Frame, arrays
from executors.summaries.moments import selection
from planner.mechanism import Query

__all__ = ["ExcessLengths", "summarise"]


@dataclass(frozen=True, slots=True)
class ExcessLengths:
    """`total` = sum |z|^2; `excess[t]` = sum (|z|^2 + a^2 - t)_+, one for each threshold."""

    rows: int
    total: int
    excess: dict[int, int]

    def plus(self, other: ExcessLengths) -> ExcessLengths:
        """The sums of both sets of rows, of the same thresholds; associative, exact."""
        return ExcessLengths(
            self.rows + other.rows,
            self.total + other.total,
            {t: value + other.excess[t] for t, value in self.excess.items()},
        )


def summarise(query: Query, reader: Reader) -> ExcessLengths:
    """The sums over every row of the reader.

    Parameters: those of `Frame`, and `thresholds`, integers of at least 0.
    """
    frame = Frame.of(query)
    thresholds = sorted({int(t) for t in dict(query.parameters)["thresholds"]})
    sums = ExcessLengths(0, 0, dict.fromkeys(thresholds, 0))
    selections = [selection(column) for column in query.columns]
    for batch in reader.batches(selections, rows=BATCH):
        sums = sums.plus(_batch(frame.on_grid(arrays(batch)), frame.constant, thresholds))
    return sums


def _batch(z: npt.NDArray[np.float64], constant: int, thresholds: list[int]) -> ExcessLengths:
    """Of integers z as float64, shape (d, rows): sums of at most 2,000 squares of 2^32 are exact.

    A batch of 65,536 rows sums to less than 2^60.
    """
    squares = np.zeros(z.shape[1])
    with np.errstate(all="ignore"):  # a warning must not depend on a value
        for column in z:
            squares += column * column
        lengths = squares.astype(np.int64)
    beside = lengths + constant**2
    excess = {t: int(np.maximum(beside - t, 0).sum()) for t in thresholds}
    return ExcessLengths(len(lengths), int(lengths.sum()), excess)
