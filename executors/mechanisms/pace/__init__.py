"""`COVARIANCE pace`: variances first, then the pairs that are worth their noise."""

from __future__ import annotations

from executors.mechanisms.pace.cost import (
    PaceParams,
    assumptions,
    check,
    need,
    query,
    settle,
)
from executors.pricing.covariance_columns import NO_PURE_EPS
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="COVARIANCE",
    method="pace",
    version=1,
    params=PaceParams,
    units=("eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    settle=settle,
    assumptions=assumptions,
    releases=(
        "a covariance matrix, positive semidefinite",
        "the means (center=private)",
        "its inverse, where single pairs were chosen",
        "every measured number with its noise",
        "every draw with its cost",
    ),
    forecast="executors.mechanisms.pace.forecast",
    run="executors.mechanisms.pace.run",
    metrics=("precision",),
    unit_advice=NO_PURE_EPS,
    summary="covariances where the data have them: all at once, or the ones that stand out",
)
