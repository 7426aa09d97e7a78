"""`RELEASE hazard`: one cumulative hazard with its band."""

from executors.mechanisms.hazard_curve.cost import (
    CurveParams,
    assumptions,
    check,
    need,
    query,
)
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="RELEASE",
    method="hazard",
    version=1,
    params=CurveParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a noisy cumulative hazard at the end of each bin of time",
        "its pointwise band",
        "noisy numbers of records at risk, and how far the curve can be trusted",
    ),
    forecast="executors.mechanisms.hazard_curve.forecast",
    run="executors.mechanisms.hazard_curve.run",
    roles=("duration", "event"),
    takes_columns=False,
    per_site=True,
    summary="a cumulative hazard with a band, a table and a plot",
    plot="executors.mechanisms.hazard_curve.plot",
)
