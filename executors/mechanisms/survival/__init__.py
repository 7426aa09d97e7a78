"""`RELEASE survival`: one survival curve with its band."""

from executors.mechanisms.survival.cost import CurveParams, assumptions, check, need, query
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="RELEASE",
    method="survival",
    version=1,
    params=CurveParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    releases=(
        "a noisy survival curve at the end of each bin of time",
        "its pointwise band",
        "noisy numbers of records at risk, and how far the curve can be trusted",
    ),
    forecast="executors.mechanisms.survival.forecast",
    run="executors.mechanisms.survival.run",
    roles=("duration", "event"),
    takes_columns=False,
    per_site=True,
    summary="a survival curve with a band, a table and a plot",
    plot="executors.mechanisms.survival.plot",
)
