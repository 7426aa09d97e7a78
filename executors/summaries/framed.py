"""Rows in the public frame of a second moment: a box of ranges, or a ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.summaries.ball_moments import ball_rows
from executors.summaries.moments import BATCH, GRID, grid
from planner.mechanism import Query

__all__ = ["BATCH", "Floats", "Frame", "arrays"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """x -> (x - center) / half, in a ball shortened to `radius` first (None: a box).

    `center` and `half` have shape (d,). `constant` is what stands beside every row, in grid steps,
    0 for nothing; `limit` is the largest |z|^2 in a ball.
    """

    center: Floats
    half: Floats
    radius: float | None
    limit: int
    constant: int

    @classmethod
    def of(cls, query: Query) -> Frame:
        """From the parameters `center`, `half`, `radius`, `limit` and `constant` of a query."""
        parameters = dict(query.parameters)
        radius = parameters["radius"]
        frame = cls(
            np.array([float(value) for value in parameters["center"]]),
            np.array([float(value) for value in parameters["half"]]),
            None if radius is None else float(radius),
            int(parameters["limit"]),
            int(parameters["constant"]),
        )
        if not len(frame.center) == len(frame.half) == len(query.columns):
            raise ValueError("one number for each column")
        if not (frame.half > 0).all():
            raise ValueError("half widths are positive")
        return frame

    def on_grid(self, rows: Floats) -> Floats:
        """The integers z as float64, shape (d, rows), of values of the same shape."""
        if self.radius is not None:
            return ball_rows(rows, self.center, self.radius, float(self.half[0]), self.limit)
        z = np.empty_like(rows)
        with np.errstate(all="ignore"):  # a warning must not depend on a value
            for place, column in enumerate(rows):
                grid(column, self.center[place], self.half[place], z[place])
        return z

    def scaled(self, rows: Floats) -> Floats:
        """The rows in units of the frame, the constant first where there is one, not on the grid.

        Operations run in column order, so that they do not depend on how rows are batched.
        """
        w = rows - self.center[:, None]
        with np.errstate(all="ignore"):
            if self.radius is not None:
                square = np.zeros(w.shape[1])
                for column in w:
                    square += column * column
                length = np.sqrt(square)
                w = w * np.where(length > self.radius, self.radius / length, 1.0)
            w = w / self.half[:, None]
        if self.constant:
            w = np.concatenate([np.full((1, w.shape[1]), self.constant / GRID), w])
        return w


def arrays(batch: pa.RecordBatch) -> Floats:
    """The columns of a batch, shape (d, rows)."""
    return np.array([column.to_numpy(zero_copy_only=False) for column in batch.columns])
