"""`TEST cox`: one coefficient vector against another in a proportional hazards model."""

from executors.mechanisms.cox.cost import CoxParams, assumptions, check, need, query
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="TEST",
    method="cox",
    version=1,
    params=CoxParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a noisy log partial likelihood ratio",
        "its p-value under the first coefficients",
        "whether they are rejected at the level",
    ),
    forecast="executors.mechanisms.cox.forecast",
    run="executors.mechanisms.cox.run",
    metrics=("power",),
    roles=("duration", "event"),
    summary="test the coefficients of a proportional hazards model against an alternative",
)
