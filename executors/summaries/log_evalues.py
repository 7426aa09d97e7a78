"""The summary of a table of log e-values: one safe integer a hypothesis.

Every row becomes an integer in steps of 2^-q nats whose exponential is at most a valid e-value,
whatever the row holds. No row raises, and none is counted, dropped or reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from executors.data.source import Plain, Reader
from executors.pricing.evalues import CEILING, SMOOTHING_BITS
from planner.mechanism import Query

__all__ = ["LogEvalues", "neutral_steps", "summarise", "to_steps"]

_SMOOTHING = 2.0**-SMOOTHING_BITS


@dataclass(frozen=True, slots=True, eq=False)
class LogEvalues:
    """Integers x in file order, shape (rows,), with the text of the identifiers if declared.

    exp(x 2^-grid) is at most an e-value of the row's hypothesis. A monoid under `plus`, in file
    order; once `aligned`, the order of files and of rows within them is gone.
    """

    grid: int
    x: np.ndarray[Any, np.dtype[np.int64]]
    identifiers: pa.Array | None

    @property
    def rows(self) -> int:
        """The number of rows read."""
        return len(self.x)

    def plus(self, other: LogEvalues) -> LogEvalues:
        """Both tables, this one's rows first. Raises ValueError where the two do not fit."""
        if self.grid != other.grid or (self.identifiers is None) != (other.identifiers is None):
            raise ValueError("summaries of different queries do not add up")
        return _joined(self.grid, [self, other])

    def aligned(self) -> LogEvalues:
        """The rows in the order of their identifiers as text; without identifiers, as they are.

        Rows with the same identifier (or with none) are one hypothesis: its first row takes the
        smallest of their values, the others the value of E = 0. So neither the order of the file
        nor that of equal identifiers can move a value, and the minimum of e-values is an e-value.
        """
        if self.identifiers is None:
            return self
        order = pc.sort_indices(self.identifiers).to_numpy()
        names = self.identifiers.take(pa.array(order))
        x = self.x[order]
        if len(x) > 0:
            is_first = np.ones(len(x), dtype=bool)
            is_first[1:] = pc.not_equal(names[1:], names[:-1]).to_numpy(zero_copy_only=False)
            starts = np.flatnonzero(is_first)
            least = np.minimum.reduceat(x, starts)
            x = np.full(len(x), neutral_steps(self.grid), dtype=np.int64)
            x[starts] = least
        return LogEvalues(self.grid, x, names)

    def name(self, index: int) -> str | int:
        """What a release calls the hypothesis at `index`: its identifier, or its row from 1."""
        if self.identifiers is None:
            return index + 1
        return str(self.identifiers[index].as_py())


def summarise(query: Query, reader: Reader) -> LogEvalues:
    """The log e-values of `query.columns`: the LOG_EVALUE column, then the ID column if any."""
    grid = int(dict(query.parameters)["q"])
    value, *name = (column.name for column in query.columns)
    selections = (Plain(value), *(Plain(one, "text") for one in name))
    parts = []
    for batch in reader.batches(selections):
        numbers = batch.column(0).cast(pa.float64()).to_numpy(zero_copy_only=False)
        names = _text(batch.column(1)) if name else None
        parts.append(LogEvalues(grid, to_steps(numbers, grid), names))
    nothing = to_steps(np.empty(0), grid)
    parts.append(LogEvalues(grid, nothing, pa.array([], pa.large_string()) if name else None))
    return _joined(grid, parts)


def to_steps(
    log_evalues: np.ndarray[Any, np.dtype[np.float64]], grid: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """floor(2^grid L) - 1 with L = log((1 - f) E + f); for every float, shape kept.

    E is exp of the value: 0 for NaN and -inf, exp(1000) above 1000; f is 2^-20. All steps are
    contractions, so a row moves by no more than it did before. Floats err by less than 2^-42 nats,
    a quarter of the finest step, so the 1 keeps exp(x 2^-grid) at or below the e-value.
    """
    with np.errstate(all="ignore"):
        capped = np.minimum(np.where(np.isnan(log_evalues), -np.inf, log_evalues), float(CEILING))
        smoothed = np.logaddexp(capped + log1p(-_SMOOTHING), log(_SMOOTHING))
    return np.floor(smoothed * 2.0**grid).astype(np.int64) - 1


def neutral_steps(grid: int) -> int:
    """The integer that E = 0 becomes."""
    return int(to_steps(np.array([-np.inf]), grid)[0])


def _text(column: pa.Array) -> pa.Array:
    return pc.fill_null(column.cast(pa.large_string()), "")


def _joined(grid: int, parts: Sequence[LogEvalues]) -> LogEvalues:
    names = [part.identifiers for part in parts if part.identifiers is not None]
    return LogEvalues(
        grid,
        np.concatenate([part.x for part in parts]),
        pa.concat_arrays(names) if names else None,
    )
