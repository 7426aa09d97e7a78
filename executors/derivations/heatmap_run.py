"""From a released covariance to what its heat map shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from executors.derivations import correlation
from executors.derivations.heatmap import HeatmapParams
from executors.derivations.released_moments import ReleasedMoments
from executors.statistics.partial_correlations import inverse_with_ridge, partial_correlations
from executors.statistics.regression import ridge_of
from executors.statistics.similar_order import similar_order

__all__ = ["run"]


def run(params: HeatmapParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """The correlations with their noise, and which of them rest on a measurement of their own."""
    moments = ReleasedMoments.of(release)
    found = correlation.run(correlation.CorrelationParams(), release)
    if params.show == "partial":
        found = _partial(moments, release["value"].get("precision"), found)
    value, errors = found["value"], found["uncertainty"]["standard_error"]
    order = list(range(len(value["columns"])))
    if params.order == "similar":
        numbers = np.array(value["matrix"], dtype=float)
        order = similar_order(np.nan_to_num(numbers))
    return {
        **found,
        "value": {
            **value,
            "columns": [value["columns"][j] for j in order],
            "matrix": _arranged(value["matrix"], order),
            "measured": _arranged(moments.measured.tolist(), order),
        },
        "uncertainty": {**found["uncertainty"], "standard_error": _arranged(errors, order)},
    }


def _partial(moments: ReleasedMoments, precision: Any, plain: Mapping[str, Any]) -> dict[str, Any]:
    """The same with partial correlations; those of columns that cannot be seen are None."""
    order = len(moments.names)
    seen = [j for j, name in enumerate(moments.names) if name not in moments.unseen()]
    numbers = np.full((order, order), np.nan)
    notes = [
        "partial correlations: of two columns, given all others",
        "no standard error is given: the noise of a covariance is not that of its inverse",
        *(note for note in plain["notes"] if "distinguishable" in note or "missing" in note),
    ]
    if precision is not None:
        inverse = np.array(precision, dtype=float) * np.outer(moments.units, moments.units)
        numbers[np.ix_(seen, seen)] = partial_correlations(inverse)[np.ix_(seen, seen)]
        notes.append("a 0 of a pair that was not measured is no edge of the model's graph")
    elif seen:
        ridge = ridge_of(moments.matrix, seen, moments.largest_noise(seen))
        inverse = inverse_with_ridge(moments.matrix[np.ix_(seen, seen)], ridge)
        numbers[np.ix_(seen, seen)] = partial_correlations(inverse)
        notes.append(f"a ridge of {ridge:.3g} keeps directions that are noise out, and shrinks")
    return {
        "value": {
            **plain["value"],
            "kind": "partial correlation",
            "matrix": [[None if np.isnan(x) else float(x) for x in row] for row in numbers],
        },
        "uncertainty": {"standard_error": [[None] * order for _ in range(order)]},
        "notes": notes,
    }


def _arranged(rows: list[list[Any]], order: list[int]) -> list[list[Any]]:
    return [[rows[j][k] for k in order] for j in order]
