"""`TEST hazard ON a VS b`: equal cumulative hazards at two sources that share no rows?"""

from executors.mechanisms.hazard.cost import HazardTestParams, assumptions, check, need, query
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="TEST",
    method="hazard",
    version=1,
    params=HazardTestParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a noisy cumulative hazard of each source at the end of each bin of time",
        "noisy numbers of records at risk in each",
        "whether the hazards differ, with a p-value, computed from these alone",
    ),
    forecast="executors.mechanisms.hazard.forecast",
    run="executors.mechanisms.hazard.run",
    metrics=("power",),
    roles=("duration", "event"),
    takes_columns=False,
    per_site=True,
    compares=True,
    summary="compare the survival of two datasets or two sites, each with its own budget",
    plot="executors.mechanisms.hazard.plot",
)
