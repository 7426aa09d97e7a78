"""`TEST logrank`: do two groups in one table survive alike?"""

from executors.mechanisms.logrank.cost import LogrankParams, assumptions, check, need, query
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="TEST",
    method="logrank",
    version=1,
    params=LogrankParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a noisy count of observed minus expected events in the second group",
        "its noisy variance, unless `trace=bound`",
        "the p-value of equal survival",
        "whether equal survival is rejected at the level",
    ),
    forecast="executors.mechanisms.logrank.forecast",
    run="executors.mechanisms.logrank.run",
    metrics=("power",),
    roles=("duration", "event"),
    takes_columns=False,
    summary="test whether two groups of one table have the same survival",
)
