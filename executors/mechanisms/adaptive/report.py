"""What a release of shortened rows says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from executors.mechanisms.adaptive.estimate import about_the_mean
from executors.mechanisms.adaptive.layout import AdaptiveParams, constant
from executors.pricing.covariance import GRID
from executors.pricing.covariance_frame import frame_of
from executors.release import NoiseNote, Outcome
from executors.statistics.covariance_matrix import Matrix, Vector, centred_deviation, scaled
from executors.statistics.covariance_measurements import Measurements
from planner.facts import Facts

__all__ = ["Found", "outcome"]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Second moments in the frame, the constant column first where there is one.

    `noisy` is what was measured, `deviation` its noise, `second` what became of it. `spectrum` are
    eigenvalues measured apart, None if they were not. `halvings` tells the radius 2^-halvings R.
    """

    second: Matrix
    noisy: Matrix
    deviation: Matrix
    spectrum: Vector | None
    halvings: int
    trace: float
    trace_deviation: float
    search_scale: float
    spectrum_deviation: float


def outcome(params: AdaptiveParams, facts: Facts, found: Found, lines: tuple[str, ...]) -> Outcome:
    """The release, in the units of the columns."""
    box, _ = frame_of(params.center, params.norm, facts)
    units = np.array([float(half) for half in box.half])
    center = np.array([float(value) for value in box.center])
    beside = constant(params, facts) / GRID
    mean: Vector | None = None
    matrix = found.second
    error = found.deviation
    if beside:
        mean, matrix = about_the_mean(found.second, beside)
        error = _error(found, mean, matrix, beside)
    table = _table(facts, found, units, beside)
    value = {
        "columns": [column.name for column in facts.columns],
        "kind": "second moment" if mean is None else "covariance",
        "model": "measured" if found.spectrum is None else "spectral",
        "matrix": scaled(matrix, units).tolist(),
        "mean": None if mean is None else (center + units * np.clip(mean, -1.0, 1.0)).tolist(),
        "center": center.tolist(),
        "units": units.tolist(),
        "rows": facts.rows,
        "radius": 2.0**-found.halvings,
        "mean_squared_length": found.trace,
        "constant_square": float(found.noisy[0, 0]) if beside else None,
        "spectrum": None if found.spectrum is None else found.spectrum.tolist(),
        "measurements": table.json(),
    }
    uncertainty = {
        "standard_error": scaled(error, units).tolist(),
        "mean_standard_error": None
        if mean is None
        else (found.deviation[0, 1:] / beside * units).tolist(),
        "of": _of(found),
    }
    return Outcome(value, uncertainty, _notes(found), lines, {"measurements": table.table()})


def _error(found: Found, mean: Vector, matrix: Matrix, beside: float) -> Matrix:
    """The noise of S - m m' to first order, that of the scale a^2 / S_00 included."""
    diagonal, pairs = float(found.deviation[1, 1]), float(found.deviation[0, 1])
    square = max(float(found.second[0, 0]), beside**2 / 2.0)
    factor = beside**2 / square
    error = centred_deviation(mean, factor * diagonal, factor * pairs, factor * pairs / beside)
    slope = matrix - np.outer(mean, mean)
    return np.asarray(np.sqrt(error**2 + (diagonal / square * slope) ** 2))


def _of(found: Found) -> str:
    if found.spectrum is None:
        return (
            "noise to first order, before eigenvalues are clipped; what shortening cuts off and "
            "the sampling error are not in it"
        )
    return (
        "an upper guide: the noise of the matrix that gave the eigenvectors; its spectrum was "
        "measured apart, and what shortening cuts off is not in it"
    )


def _table(facts: Facts, found: Found, units: Vector, beside: float) -> Measurements:
    table = Measurements([column.name for column in facts.columns])
    first = 1 if beside else 0
    for j, unit in enumerate(units if beside else ()):
        place = unit / beside
        table.mean(j, found.noisy[0, j + 1] * place, found.deviation[0, j + 1] * place)
    moments = scaled(found.noisy[first:, first:], units)
    errors = scaled(found.deviation[first:, first:], units)
    for j in range(len(units)):
        for k in range(j, len(units)):
            table.moment(j, k, moments[j, k], errors[j, k])
    return table


def _notes(found: Found) -> tuple[NoiseNote, ...]:
    """Scales in the frame of the statement, where the longest row is R."""
    notes = [
        NoiseNote("discrete_gaussian", found.trace_deviation, "mean squared length"),
        NoiseNote("discrete_laplace", found.search_scale, "search for the radius"),
        NoiseNote("discrete_gaussian", float(found.deviation[0, 0]), "squares"),
        NoiseNote("discrete_gaussian", float(found.deviation[0, 1]), "products"),
    ]
    if found.spectrum is not None:
        notes.append(NoiseNote("discrete_gaussian", found.spectrum_deviation, "spectrum"))
    return tuple(notes)
