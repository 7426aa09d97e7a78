"""From the exact integer moments to private variances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from executors.mechanisms.diagonal.cost import (
    DiagonalParams,
    assumptions,
    measured,
    query,
)
from executors.pricing.covariance import GRID, MEAN_WEIGHT, PRODUCT
from executors.pricing.covariance_columns import box_of
from executors.pricing.covariance_squares import square_deviations
from executors.release import NoiseNote, Outcome
from executors.statistics.covariance_diagonal import estimated_mean, estimated_variances
from executors.statistics.covariance_matrix import Vector
from executors.statistics.covariance_measurements import Measurements
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["run"]


def run(
    params: DiagonalParams, facts: Facts, loss: Loss, stats: Callable[[Any], Any], noise: Any
) -> Outcome:
    """The diagonal matrix with means, measurements and noise, from one draw.

    Raises ValueError where the price has another shape than the statement.
    """
    if len(loss.leaves) != 1 or loss.leaves[0].scale is None:
        raise ValueError("this statement is priced with one discrete Gaussian leaf")
    sd = square_deviations(facts, loss.leaves[0].scale)
    is_private = params.center == "private"
    as_published = params.variant == "paper"
    places = list(measured(params, facts))
    second, first = _measure(params, facts, places, stats(query(params, facts)), loss, noise)
    mean = (
        estimated_mean(first, sd.mean, as_published) if is_private else np.zeros(len(facts.columns))
    )
    variances = estimated_variances(
        second - mean[places] ** 2, mean, sd.square, sd.mean, as_published
    )
    box = box_of(params.center, facts)
    units = np.array([float(half) for half in box.half])
    center = np.array([float(value) for value in box.center])
    table = _table(facts, places, second, first, units, (sd.square, sd.mean))
    error = _spread(places, _error(mean[places], sd.square, sd.mean * is_private), 0.0, units)
    value = {
        "columns": [column.name for column in facts.columns],
        "kind": "covariance" if is_private else "second moment",
        "matrix": np.diag(_spread(places, variances.value, 1.0, units)).tolist(),
        "raw": np.diag(_spread(places, variances.raw, 1.0, units)).tolist(),
        "mean": (center + units * mean).tolist() if is_private else None,
        "center": center.tolist(),
        "units": units.tolist(),
        "rows": facts.rows,
        "measurements": table.json(),
    }
    after = np.full(len(places), np.sqrt(variances.variance))
    uncertainty = {
        "standard_error": [
            [float(error[j]) if j == k else None for k in range(len(units))]
            for j in range(len(units))
        ],
        "shrunk_standard_error": _spread(places, after, 0.0, units).tolist(),
        "shrinkage": variances.factor,
        "mean_standard_error": (sd.mean * units).tolist() if is_private else None,
        "of": "noise on `raw`; sampling error is not in it, and covariances were not measured",
    }
    notes = (
        NoiseNote("discrete_gaussian", sd.square, "squares, unit box"),
        NoiseNote("discrete_gaussian", sd.mean, "means, unit box"),
    )
    return Outcome(
        value,
        uncertainty,
        notes if is_private else notes[:1],
        assumptions(params, facts),
        {"measurements": table.table()},
    )


def _measure(
    params: DiagonalParams, facts: Facts, places: list[int], moments: Any, loss: Loss, noise: Any
) -> tuple[Vector, Vector]:
    """The noisy squares at `places`, then the noisy means of all columns, none about constants."""
    squares = [int(moments.gram[j, j]) for j in places]
    is_private = params.center == "private"
    sums = [MEAN_WEIGHT * int(total) for total in moments.total] if is_private else []
    noisy = [int(value) for value in noise.dgauss(loss.leaves[0], [*squares, *sums])]
    second = [value / (facts.rows * PRODUCT) for value in noisy[: len(places)]]
    first = [value / (facts.rows * MEAN_WEIGHT * GRID) for value in noisy[len(places) :]]
    return np.array(second), np.array(first)


def _error(mean: Vector, square_sd: float, mean_sd: float) -> Vector:
    """Root mean square noise of a raw variance about a noisy mean."""
    return np.asarray(np.sqrt(square_sd**2 + 4.0 * mean_sd**2 * mean**2 + 3.0 * mean_sd**4))


def _spread(places: list[int], values: Vector, rest: float, units: Vector) -> Vector:
    """The values at their columns and `rest` at the others, in the units of the columns."""
    spread = np.full(len(units), rest)
    spread[places] = values
    return spread * units**2


def _table(
    facts: Facts,
    places: list[int],
    second: Vector,
    first: Vector,
    units: Vector,
    deviations: tuple[float, float],
) -> Measurements:
    table = Measurements([column.name for column in facts.columns])
    square_sd, mean_sd = deviations
    for j, mean in enumerate(first):
        table.mean(j, mean * units[j], mean_sd * units[j])
    for j, moment in zip(places, second, strict=True):
        table.moment(j, j, moment * units[j] ** 2, square_sd * units[j] ** 2)
    return table
