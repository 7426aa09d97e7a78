"""`PEEL evalues`: the most promising hypotheses, their private e-values, what is rejected."""

from executors.mechanisms.peel.cost import EvaluesParams, assumptions, check, need, query, solve
from planner.mechanism import Mechanism

__all__ = ["MECHANISM"]

MECHANISM = Mechanism(
    verb="PEEL",
    method="evalues",
    version=1,
    params=EvaluesParams,
    units=("eps_delta", "rho", "mu"),
    need=need,
    query=query,
    check=check,
    assumptions=assumptions,
    solve=solve,
    releases=(
        "the selected hypotheses in the order of their selection",
        "a noisy log e-value for each of them",
        "which of them are rejected by e-BH at the level",
        "the number selected",
    ),
    forecast="executors.mechanisms.peel.forecast",
    run="executors.mechanisms.peel.run",
    metrics=("power",),
    source="evalues",
    roles=("log_evalue",),
    takes_columns=False,
    unit_advice={
        "eps": "the released values are hidden by Gaussian noise, which no pure eps covers",
    },
    summary="select hypotheses by their e-values, release noisy e-values, test with FDR control",
)
