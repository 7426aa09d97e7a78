"""`DERIVE name = pca(sigma)`: the principal components of a released covariance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from executors.derivations.covariances import COVARIANCES
from planner.facts import Facts
from planner.mechanism import Complaint, Derivation, Params

__all__ = ["DERIVATION", "PcaParams", "check"]


class PcaParams(Params):
    """Options of `pca(...)`."""

    components: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="how many components; without it all"
    )
    scale: Literal["range", "correlation", "original"] = Field(
        default="range",
        description="what a column is divided by first: its public half `range`, which keeps the "
        "noise of all columns alike; its released standard deviation (`correlation`); nothing "
        "(`original`)",
    )


def check(params: PcaParams, facts: Facts) -> tuple[Complaint, ...]:
    """More components than columns."""
    count = len(facts.columns)
    if params.components is None or params.components <= count:
        return ()
    return (
        Complaint(
            "DPQL-E161",
            f"{count} columns have {count} components, not {params.components}",
            "components",
            help=f"write `components={count}` or less",
        ),
    )


DERIVATION = Derivation(
    name="pca",
    params=PcaParams,
    accepts=COVARIANCES,
    run="executors.derivations.pca_run",
    summary="principal components of a released covariance, marked where they may be noise",
    plot="executors.plots.components",
    check=check,
)
