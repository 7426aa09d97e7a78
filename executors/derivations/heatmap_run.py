"""From a released covariance to what its heat map shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from executors.derivations import correlation
from executors.derivations.heatmap import HeatmapParams
from executors.derivations.released_moments import ReleasedMoments
from executors.statistics.similar_order import similar_order

__all__ = ["run"]


def run(params: HeatmapParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """The correlations with their noise, and which of them rest on a measurement of their own."""
    found = correlation.run(correlation.CorrelationParams(), release)
    value, errors = found["value"], found["uncertainty"]["standard_error"]
    measured = ReleasedMoments.of(release).measured
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
            "measured": _arranged(measured.tolist(), order),
        },
        "uncertainty": {"standard_error": _arranged(errors, order)},
    }


def _arranged(rows: list[list[Any]], order: list[int]) -> list[list[Any]]:
    return [[rows[j][k] for k in order] for j in order]
