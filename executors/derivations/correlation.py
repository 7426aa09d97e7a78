"""`DERIVE name = correlation(sigma)`: the correlation matrix of a released covariance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.derivations.covariances import COVARIANCES
from executors.statistics.correlation import correlations
from planner.mechanism import Derivation, Params

__all__ = ["DERIVATION", "CorrelationParams", "run"]


class CorrelationParams(Params):
    """`correlation(...)` has no options."""


def run(params: CorrelationParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """The correlations with NA (null) for columns whose variance cannot be told from 0."""
    value, uncertainty = release["value"], release["uncertainty"]
    names = [str(name) for name in value["columns"]]
    found = correlations(value["matrix"], uncertainty["standard_error"])
    unseen = [names[j] for j in found.unseen]
    notes = [
        "`standard_error` is the privacy noise to first order; the sampling error of the rows is "
        "not in it",
        "missing values shrink correlations by about their share",
    ]
    if value["kind"] != "covariance":
        notes.append(
            "these are cosines of second moments about public constants, not correlations about "
            "means"
        )
    order = range(len(names))
    if any(uncertainty["standard_error"][j][k] is None for j in order for k in order if j != k):
        notes.append(
            "covariances that were not measured are 0 or follow from a model; they have no "
            "standard error"
        )
    if unseen:
        notes.append("variance not distinguishable from 0: " + ", ".join(unseen))
    return {
        "value": {
            "columns": names,
            "kind": "correlation" if value["kind"] == "covariance" else "cosine",
            "matrix": [list(row) for row in found.matrix],
            "not_distinguishable": unseen,
        },
        "uncertainty": {"standard_error": [list(row) for row in found.deviation]},
        "notes": notes,
    }


DERIVATION = Derivation(
    name="correlation",
    params=CorrelationParams,
    accepts=COVARIANCES,
    run=__name__,
    summary="the correlation matrix of a released covariance",
)
