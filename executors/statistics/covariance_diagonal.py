"""Variances from noisy squares, with the means that were released beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from executors.statistics.covariance_matrix import Vector

__all__ = ["Variances", "estimated_mean", "estimated_variances", "shrunk_means", "shrunk_variances"]

_STEPS = 2.0**16


@dataclass(frozen=True, slots=True, eq=False)
class Variances:
    """Variances in the unit box, shape (d,).

    `raw` are the noisy values about `mean`; `value` are those drawn towards their average and
    clipped to [0, 1]; `variance` is what a weighted fit should take for their noise.
    """

    raw: Vector
    value: Vector
    variance: float
    factor: float


def estimated_mean(noisy: Vector, deviation: float, as_published: bool) -> Vector:
    """Means in the unit box from noisy ones: shrunk, or clipped only where `as_published`.

    One number a column; `deviation` is the standard deviation of the noise, in the unit box.
    """
    if as_published:
        return np.asarray(np.clip(noisy, -1.0, 1.0))
    return shrunk_means(noisy, deviation)


def estimated_variances(
    raw: Vector, mean: Vector, square_sd: float, mean_sd: float, as_published: bool
) -> Variances:
    """Variances in the unit box from noisy ones: shrunk, or clipped only where `as_published`.

    The noise of a raw variance is that of its square and, to first order, 2 m times its mean's.
    `mean` is zero where none was released.
    """
    deviation = float(np.sqrt(square_sd**2 + 4.0 * mean_sd**2 * np.mean(mean**2)))
    if as_published:
        return Variances(raw, np.clip(raw, 0.0, 1.0), deviation**2, 1.0)
    return shrunk_variances(raw, deviation)


def shrunk_means(noisy: Vector, deviation: float) -> Vector:
    """Noisy means of the unit box, shrunk towards 0, clipped to [-1, 1], on the grid 2^-16.

    James and Stein's factor (1 - (d - 2) deviation^2 / |m|^2)_+; none for d <= 2.
    """
    count = len(noisy)
    factor = 1.0
    if count > 2:
        factor = _positive_part((count - 2) * deviation**2, float(noisy @ noisy))
    clipped = np.clip(factor * noisy, -1.0, 1.0)
    return np.asarray(np.rint(clipped * _STEPS) / _STEPS)


def shrunk_variances(raw: Vector, deviation: float) -> Variances:
    """Noisy variances drawn towards their average, then clipped to [0, 1].

    James and Stein's factor t = (1 - (d - 3) se^2 / sum (raw - average)^2)_+ about an estimated
    average, 1 for d <= 3; the shrunk noise variance is se^2 max(t, 1/d).
    """
    count = len(raw)
    average = float(raw.mean())
    spread = raw - average
    factor = 1.0
    if count > 3:
        factor = _positive_part((count - 3) * deviation**2, float(spread @ spread))
    value = np.clip(average + factor * spread, 0.0, 1.0)
    return Variances(raw, value, deviation**2 * max(factor, 1.0 / count), factor)


def _positive_part(noise: float, signal: float) -> float:
    """(1 - noise / signal)_+, 0 where there is no signal."""
    return max(0.0, 1.0 - noise / signal) if signal > 0.0 else 0.0
