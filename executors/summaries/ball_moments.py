"""Second moments of rows shortened to a ball, in integers.

With w_j = (x_j - c_j) / s_j, a row becomes
z_j = clamp(floor(2^16 w_j min(1, C / |w|) / U), -2^16, 2^16), C the radius of the ball, U >= C its
public unit, s_j = 1 unless public scales are given. Flooring lengthens a row by at most sqrt(d) and
floating point by less than 1, so |z|^2 stays within the stated limit; a row beyond it would count
as the centre. That test is made on the integers and comes last: the limit is a fact about z,
whatever floating point did before.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.data.source import Reader
from executors.summaries.moments import BATCH, GRID, Moments, selection
from planner.mechanism import Query

__all__ = ["ball_rows", "summarise"]

Floats = npt.NDArray[np.float64]


def summarise(query: Query, reader: Reader) -> Moments:
    """The moments of the query's columns over every row of the reader, rows shortened.

    Parameters: `center`, one Fraction a column; `radius` C and `unit` U, Fractions in the units of
    the columns over their scales; `limit`, the largest |z|^2, an integer; `scale`, one positive
    Fraction a column, may be missing. Raises ValueError for other shapes.
    """
    parameters = dict(query.parameters)
    center = np.array([float(value) for value in parameters["center"]])
    radius, unit = Fraction(parameters["radius"]), Fraction(parameters["unit"])
    scale = np.array([float(value) for value in parameters.get("scale", (1,) * len(center))])
    if len(center) != len(query.columns) or len(scale) != len(query.columns):
        raise ValueError("one number of the centre, and of the scale, for each column")
    if not (scale > 0).all():
        raise ValueError("scales are positive")
    if not 0 < radius <= unit:
        raise ValueError("a ball has a positive radius, at most its unit")
    moments = Moments.zero(len(center))
    selections = [selection(column) for column in query.columns]
    for batch in reader.batches(selections, rows=BATCH):
        rows = _rows(batch)
        limit = int(parameters["limit"])
        with np.errstate(all="ignore"):
            moved = (rows - center[:, None]) / scale[:, None]
        z = ball_rows(moved, np.zeros(len(center)), float(radius), float(unit), limit)
        gram = (z @ z.T).astype(np.int64)
        moments = moments.plus(Moments(batch.num_rows, z.sum(axis=1).astype(np.int64), gram))
    return moments


def ball_rows(rows: Floats, center: Floats, radius: float, unit: float, limit: int) -> Floats:
    """The integers z as float64, shape (d, rows), of values of the same shape.

    Operations run in column order, so that they do not depend on how rows are batched.
    """
    with np.errstate(all="ignore"):
        w = rows - center[:, None]
        square = np.zeros(w.shape[1])
        for column in w:
            square += column * column
        length = np.sqrt(square)
        shrink = np.where(length > radius, radius / length, 1.0)
        z = np.floor(w * shrink / unit * float(GRID))
        z = np.clip(z, -float(GRID), float(GRID))
        squares = np.zeros(w.shape[1])
        for column in z:
            squares += column * column
    # Sums of d <= 2000 squares up to 2^32 are exact; NaN fails the comparison too.
    return np.where(squares <= limit, z, 0.0)


def _rows(batch: pa.RecordBatch) -> Floats:
    return np.array([column.to_numpy(zero_copy_only=False) for column in batch.columns])
