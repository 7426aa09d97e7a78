"""`COVARIANCE pace`: variances first, then the pairs that are worth their noise."""

from __future__ import annotations

from executors.mechanisms.pace.cost import (
    PaceParams,
    assumptions,
    check,
    depends_on_amount,
    need,
    query,
)
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
    depends_on_amount=depends_on_amount,
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
    unit_advice={
        "eps": "Gaussian noise has no pure-eps guarantee: write `rho=...`, `mu=...` or "
        "`eps=..., delta=...`"
    },
    summary="covariances where the data have them: all at once, or the ones that stand out",
)
