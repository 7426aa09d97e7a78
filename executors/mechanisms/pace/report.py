"""What leaves a run of `COVARIANCE pace`, in the units of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from executors.mechanisms.pace.cost import assumptions
from executors.mechanisms.pace.dense import Dense
from executors.mechanisms.pace.first_stage import FirstStage
from executors.mechanisms.pace.journal import Journal
from executors.mechanisms.pace.params import PaceParams
from executors.mechanisms.pace.search import Searched
from executors.pricing.covariance_columns import box_of
from executors.release import Outcome
from executors.statistics.covariance_matrix import Matrix, Vector, scaled
from planner.facts import Facts

__all__ = ["Found", "outcome"]

_ABOUT = (
    "In the table of measurements, squares are about the public centre, products of two columns "
    "about the released means."
)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A matrix of the unit box; `precision` its inverse where it was fitted, else None.

    `deviation` is the noise of a measured pair before shrinkage, NaN where a pair was not measured.
    """

    matrix: Matrix
    precision: Matrix | None
    deviation: Matrix
    branch: str
    converged: bool
    rule: str

    @classmethod
    def searched(cls, searched: Searched) -> Found:
        """The fit to the pairs of a search."""
        fit = searched.fit
        deviation = np.full_like(fit.sigma, np.nan)
        for (j, k), entry in searched.measured.items():
            deviation[j, k] = deviation[k, j] = np.sqrt(entry.variance)
        return cls(fit.sigma, fit.precision, deviation, "entries", fit.converged, "")

    @classmethod
    def released(cls, dense: Dense) -> Found:
        """The matrix of a release of all pairs."""
        return cls(dense.matrix, None, dense.deviation, "dense", True, dense.rule)


def outcome(
    params: PaceParams, facts: Facts, first: FirstStage, found: Found, journal: Journal
) -> Outcome:
    """Value, uncertainty, noise and tables of the release."""
    box = box_of(params.center, facts)
    units = journal.units
    center = np.array([float(value) for value in box.center])
    is_private = params.center == "private"
    value: dict[str, Any] = {
        "columns": list(journal.names),
        "kind": "covariance" if is_private else "second moment",
        "matrix": scaled(found.matrix, units).tolist(),
        "mean": (center + units * first.mean).tolist() if is_private else None,
        "center": center.tolist(),
        "units": units.tolist(),
        "rows": facts.rows,
        "branch": found.branch,
        "model": "reconstructed" if found.precision is not None else "projected",
        "precision": None
        if found.precision is None
        else (found.precision / np.outer(units, units)).tolist(),
        "converged": found.converged,
        "shrunk_by": found.rule or None,
        "measurements": journal.table.json(),
        "calls": journal.columns(),
        "spent": {"in": journal.unit, "amount": float(journal.used)},
    }
    uncertainty = {
        "standard_error": _errors(first, found, units, is_private),
        "mean_standard_error": (first.sd.mean * units).tolist() if is_private else None,
        "shrinkage": first.shrinkage,
        "of": "noise of what was measured, before anything was drawn towards an average or zero; "
        "null where nothing was measured; sampling error is not in it",
    }
    tables = {"measurements": journal.table.table()}
    tables["calls"] = {key: tuple(column) for key, column in journal.columns().items()}
    notes = assumptions(params, facts)
    if is_private and found.branch != "diagonal":
        notes = (*notes, _ABOUT)
    return Outcome(value, uncertainty, journal.laws(), notes, tables)


def _errors(
    first: FirstStage, found: Found, units: Vector, is_private: bool
) -> list[list[float | None]]:
    errors = scaled(found.deviation, units)
    own = np.zeros(len(units))
    mean = first.mean[list(first.places)]
    mean_sd = first.sd.mean * is_private
    variance = first.sd.square**2 + 4.0 * mean_sd**2 * mean**2 + 3.0 * mean_sd**4
    own[list(first.places)] = np.sqrt(variance)
    np.fill_diagonal(errors, own * units**2)
    return [[None if np.isnan(entry) else float(entry) for entry in row] for row in errors]
