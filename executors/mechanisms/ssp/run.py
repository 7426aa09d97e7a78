"""From the exact integer moments to a private matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from executors.mechanisms.ssp.cost import assumptions, query
from executors.mechanisms.ssp.layout import (
    Deviations,
    SspParams,
    deviations,
    frame,
    is_joint,
    weights,
)
from executors.pricing.covariance import GRID, PRODUCT
from executors.release import NoiseNote, Outcome
from executors.statistics.covariance_diagonal import shrunk_means
from executors.statistics.covariance_matrix import (
    Matrix,
    Vector,
    centred,
    centred_deviation,
    from_triangle,
    projected,
    scaled,
    triangle,
)
from executors.statistics.covariance_measurements import Measurements
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["run"]


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """Noisy second moments and means (None if not measured), in the units of `frame`."""

    second: Matrix
    mean: Vector | None


def run(
    params: SspParams, facts: Facts, loss: Loss, stats: Callable[[Any], Any], noise: Any
) -> Outcome:
    """The matrix before and after its projection, with means, measurements and noise.

    One draw on one vector of integers; everything after it is arithmetic on the answer. Raises
    ValueError where the price has another shape than the statement.
    """
    if len(loss.leaves) != 1 or loss.leaves[0].scale is None:
        raise ValueError("this statement is priced with one discrete Gaussian leaf")
    leaf = loss.leaves[0]
    sd = deviations(params, facts, Fraction(loss.leaves[0].scale or 0))
    measured = _measure(params, facts, stats(query(params, facts)), leaf, noise)
    box, _ = frame(params, facts)
    units = np.array([float(half) for half in box.half])
    mean, raw, matrix = _estimates(params, facts, measured, sd)
    about = np.zeros(len(units)) if mean is None else mean
    error = centred_deviation(about, sd.diagonal, sd.pairs, 0.0 if mean is None else sd.mean)
    center = np.array([float(value) for value in box.center])
    table = _table(facts, measured, sd, units)
    value = {
        "columns": [column.name for column in facts.columns],
        "kind": "second moment" if mean is None else "covariance",
        "matrix": scaled(matrix, units).tolist(),
        "raw": scaled(raw, units).tolist(),
        "mean": None if mean is None else (center + units * mean).tolist(),
        "center": center.tolist(),
        "units": units.tolist(),
        "rows": facts.rows,
        "measurements": table.json(),
    }
    uncertainty = {
        "standard_error": scaled(error, units).tolist(),
        "mean_standard_error": None if mean is None else (sd.mean * units).tolist(),
        "of": "noise on `raw`, before the projection; sampling error is not in it",
    }
    return Outcome(
        value,
        uncertainty,
        _notes(sd, mean is not None),
        assumptions(params, facts),
        {"measurements": table.table()},
    )


def _measure(params: SspParams, facts: Facts, moments: Any, leaf: Any, noise: Any) -> _Measured:
    weight = weights(params, facts)
    count, rows = len(facts.columns), facts.rows
    _, constant = frame(params, facts)
    totals = [int(total) for total in moments.total] if params.center == "private" else []
    beside = weight.mean if is_joint(params, facts) else constant
    integers = [int(moments.gram[j, j]) for j in range(count)]
    integers += [beside * total for total in totals]
    integers += triangle(moments.gram)
    parts = [weight.diagonal] * count + [weight.pairs] * (len(integers) - count)
    noisy = [int(value) for value in noise.dgauss(leaf, integers, parts)]
    diagonal = _ratios(noisy[:count], rows * PRODUCT)
    means = _ratios(noisy[count : count + len(totals)], beside * rows * GRID)
    pairs = _ratios(noisy[count + len(totals) :], rows * PRODUCT)
    return _Measured(from_triangle(diagonal, pairs), np.array(means) if totals else None)


def _estimates(
    params: SspParams, facts: Facts, measured: _Measured, sd: Deviations
) -> tuple[Vector | None, Matrix, Matrix]:
    """The means, the raw matrix and its projection (one column: clipped to the box)."""
    mean = measured.mean
    raw = measured.second
    if mean is not None:
        mean = shrunk_means(mean, sd.mean) if is_joint(params, facts) else _clipped(params, mean)
        raw = centred(raw, mean)
    if len(raw) == 1:
        return mean, raw, np.clip(raw, 0.0, 1.0)
    return mean, raw, projected(raw)


def _clipped(params: SspParams, mean: Vector) -> Vector:
    """Means inside what a row may be: the box, or the ball in its stretched unit."""
    wall = 1.0 if params.norm == "linf" else 1.0 / np.sqrt(1.25)
    return np.asarray(np.clip(mean, -wall, wall))


def _ratios(integers: list[int], divisor: int) -> list[float]:
    """Each quotient, rounded once."""
    return [integer / divisor for integer in integers]


def _table(facts: Facts, measured: _Measured, sd: Deviations, units: Vector) -> Measurements:
    table = Measurements([column.name for column in facts.columns])
    second = scaled(measured.second, units)
    if measured.mean is not None:
        for j, mean in enumerate(measured.mean * units):
            table.mean(j, mean, sd.mean * units[j])
    for j in range(len(units)):
        table.moment(j, j, second[j, j], sd.diagonal * units[j] ** 2)
        for k in range(j + 1, len(units)):
            table.moment(j, k, second[j, k], sd.pairs * units[j] * units[k])
    return table


def _notes(sd: Deviations, has_mean: bool) -> tuple[NoiseNote, ...]:
    """The scales in the unit box; entry (j, k) is in units of the half-widths of j and k."""
    notes = [NoiseNote("discrete_gaussian", sd.diagonal, "squares, unit box")]
    if sd.pairs > 0.0:
        notes.append(NoiseNote("discrete_gaussian", sd.pairs, "products, unit box"))
    if has_mean:
        notes.append(NoiseNote("discrete_gaussian", sd.mean, "means, unit box"))
    return tuple(notes)
