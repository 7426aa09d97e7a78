"""Variances, with the means beside them, from the first draw of `COVARIANCE pace`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from executors.mechanisms.pace.journal import Journal
from executors.mechanisms.pace.params import PaceParams
from executors.pricing.covariance import GRID, MEAN_WEIGHT, PRODUCT
from executors.pricing.covariance_squares import (
    SquareDeviations,
    measured_squares,
    square_deviations,
)
from executors.statistics.covariance_diagonal import estimated_mean, estimated_variances
from executors.statistics.covariance_matrix import Vector
from planner.calculus.leaves import Leaf
from planner.facts import Facts

__all__ = ["FirstStage", "measure_variances"]

_KNOWN = 1e-12
"""What a fit takes for the noise variance of a square that is known without data."""


@dataclass(frozen=True, slots=True, eq=False)
class FirstStage:
    """Released numbers of the unit box; arrays have shape (d,).

    `mean` is 0 where none was released; `steps` is the same on the grid, integers. `variance` has
    noise variance `noise`; `raw` is what it was drawn from. `places` are the columns whose squares
    were measured; the square of any other column is 1. `deviation` is the noise of a raw variance,
    `sd` that of the single numbers. `shrinkage` is the factor towards the average.
    """

    mean: Vector
    steps: npt.NDArray[np.int64]
    variance: Vector
    noise: Vector
    raw: Vector
    places: tuple[int, ...]
    deviation: float
    sd: SquareDeviations
    shrinkage: float


def measure_variances(
    params: PaceParams, facts: Facts, leaf: Leaf, moments: Any, noise: Any, journal: Journal
) -> FirstStage:
    """Draw the leaf once on squares, with the sums times 37837 behind them for center=private."""
    places = measured_squares(params.center, facts, params.variant == "paper")
    as_published = params.variant == "paper"
    sd = square_deviations(facts, Fraction(leaf.scale or 0))
    count, d = len(places), len(facts.columns)
    squares = [int(moments.gram[j, j]) for j in places]
    is_private = params.center == "private"
    sums = [MEAN_WEIGHT * int(total) for total in moments.total] if is_private else []
    noisy = [int(value) for value in noise.dgauss(leaf, [*squares, *sums])]
    journal.leaf(leaf, "variances and means" if is_private else "variances")
    second = np.array([value / (facts.rows * PRODUCT) for value in noisy[:count]])
    first = np.array([value / (facts.rows * MEAN_WEIGHT * GRID) for value in noisy[count:]])
    mean = estimated_mean(first, sd.mean, as_published) if is_private else np.zeros(d)
    if as_published:
        mean = np.rint(mean * GRID) / GRID
    journal.variances(places, second, first, sd)
    own = list(places)
    centred = second - mean[own] ** 2
    found = estimated_variances(centred, mean, sd.square, sd.mean * is_private, as_published)
    raw, variance, spread = np.ones(d), np.ones(d), np.full(d, _KNOWN)
    raw[own], variance[own], spread[own] = centred, found.value, found.variance
    deviation = float(np.sqrt(sd.square**2 + 4.0 * (sd.mean * is_private) ** 2 * np.mean(mean**2)))
    return FirstStage(
        mean,
        np.rint(mean * GRID).astype(np.int64),
        variance,
        spread,
        raw,
        places,
        deviation,
        sd,
        found.factor,
    )
