"""Variances with their means; covariances are left at zero."""

from __future__ import annotations

from executors.mechanisms.diagonal.cost import DiagonalParams, assumptions, check, need, query
from executors.pricing.covariance_columns import NO_PURE_EPS
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="COVARIANCE",
    method="diagonal",
    version=1,
    params=DiagonalParams,
    units=("eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "the variance of every column, with zeros for the covariances",
        "the means (center=private)",
        "every measured number with its noise",
    ),
    forecast="executors.mechanisms.diagonal.forecast",
    run="executors.mechanisms.diagonal.run",
    unit_advice=NO_PURE_EPS,
    summary="variances only, at the least noise",
)
