"""A covariance of rows shortened to a radius that is found privately."""

from __future__ import annotations

from executors.mechanisms.adaptive.cost import AdaptiveParams, assumptions, check, need, query
from executors.pricing.covariance_columns import NO_PURE_EPS
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="COVARIANCE",
    method="adaptive",
    version=1,
    params=AdaptiveParams,
    units=("eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a covariance matrix, positive semidefinite",
        "the means (center=private)",
        "the mean squared length of a row",
        "the radius to which rows were shortened, with the estimator that was chosen",
        "every measured number with its noise",
    ),
    forecast="executors.mechanisms.adaptive.forecast",
    run="executors.mechanisms.adaptive.run",
    unit_advice=NO_PURE_EPS,
    summary="every variance and covariance, of rows shortened to a radius found privately",
)
