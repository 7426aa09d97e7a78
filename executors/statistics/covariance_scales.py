"""How rows are rescaled before all their products are released, from released variances."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from executors.statistics.covariance_matrix import Vector

__all__ = ["Scales", "scales_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Rows (z - mean) / s of the unit box are shortened to squared length at most `square`.

    `s` has shape (d,) and lies in [1e-3, 1]; it is a standard deviation where noise leaves one.
    """

    s: Vector
    square: float


def scales_of(
    variances: Vector, raw_average: float, deviation: float, mean: Vector, clip: float
) -> Scales:
    """Scales from variances y (d,) whose noise is `deviation`, before shrinkage `raw_average`.

    With m0 = max(raw_average, 0) + deviation / sqrt(d): s_j^2 = clip(max(y_j, m0 / 16), 1e-6, 1).
    The squared radius is `clip` times the expected squared length, allowing for noise, and at most
    the longest that a row can be, sum (1 + |mean_j|)^2 / s_j^2.
    """
    floor = max(raw_average, 0.0) + deviation / sqrt(len(variances))
    square = np.clip(np.maximum(variances, floor / 16.0), 1e-6, 1.0)
    expected = float((variances / square).sum()) + deviation * sqrt(float((square**-2.0).sum()))
    longest = float(((1.0 + np.abs(mean)) ** 2 / square).sum())
    return Scales(np.sqrt(square), min(clip * expected, longest))
