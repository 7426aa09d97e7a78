"""Second moments of rows shortened to a released length, that length being the unit of the grid.

A row w of the public frame, with its constant column, becomes
z_j = floor(2^16 w_j min(1, L / |w|) / L), L^2 = `longest`. As for every ball, the length of z is
tested on the integers, last: a row beyond (2^16 + sqrt(d) + 1)^2 would count as zero, so that the
limit is a fact about z, whatever floating point did before.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np

from executors.data.source import Reader
from executors.pricing.covariance import ball_limit
from executors.summaries.ball_moments import ball_rows
from executors.summaries.framed import BATCH, Frame, arrays
from executors.summaries.moments import Moments, selection
from planner.mechanism import Query

__all__ = ["summarise"]


def summarise(query: Query, reader: Reader) -> Moments:
    """The moments of the shortened rows; the constant column comes first.

    Parameters: those of `Frame`, and `longest`, the square of the length, a positive Fraction.
    Raises ValueError for a length that is not positive.
    """
    frame = Frame.of(query)
    length = sqrt(Fraction(dict(query.parameters)["longest"]))
    if not length > 0:
        raise ValueError("a length is positive")
    order = len(query.columns) + (frame.constant > 0)
    origin, limit = np.zeros(order), ball_limit(order)
    moments = Moments.zero(order)
    selections = [selection(column) for column in query.columns]
    for batch in reader.batches(selections, rows=BATCH):
        z = ball_rows(frame.scaled(arrays(batch)), origin, length, length, limit)
        gram = (z @ z.T).astype(np.int64)
        moments = moments.plus(Moments(batch.num_rows, z.sum(axis=1).astype(np.int64), gram))
    return moments
