"""All second moments of some columns, released at once."""

from __future__ import annotations

from executors.mechanisms.ssp.cost import SspParams, assumptions, check, need, query
from executors.pricing.covariance_columns import NO_PURE_EPS
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="COVARIANCE",
    method="ssp",
    version=1,
    params=SspParams,
    units=("eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a covariance matrix, positive semidefinite",
        "the same matrix before its projection",
        "the means (center=private)",
        "every measured number with its noise",
    ),
    forecast="executors.mechanisms.ssp.forecast",
    run="executors.mechanisms.ssp.run",
    metrics=("precision",),
    unit_advice=NO_PURE_EPS,
    summary="one release of every variance and covariance",
)
