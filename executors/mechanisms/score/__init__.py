"""`TEST score`: one coefficient vector against every other in a proportional hazards model."""

from executors.mechanisms.score.cost import ScoreParams, assumptions, check, need, query, settle
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="TEST",
    method="score",
    version=1,
    params=ScoreParams,
    units=("eps", "eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    settle=settle,
    releases=(
        "a noisy score, one number a covariate",
        "the noisy trace of its covariance, unless `trace=bound`",
        "the p-value of the coefficients",
        "whether they are rejected at the level",
    ),
    forecast="executors.mechanisms.score.forecast",
    run="executors.mechanisms.score.run",
    metrics=("power",),
    roles=("duration", "event"),
    summary="test the coefficients of a proportional hazards model against all others",
)
