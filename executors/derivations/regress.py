"""`DERIVE name = regress(sigma, y=a)`: a linear regression from a released covariance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from executors.derivations.covariances import COVARIANCES, column_complaints
from planner.facts import Facts
from planner.mechanism import ColumnName, Complaint, Derivation, Params

__all__ = ["DERIVATION", "RegressParams", "check"]


class RegressParams(Params):
    """Options of `regress(...)`."""

    y: ColumnName = Field(description="the response, a column of the release")
    x: tuple[ColumnName, ...] | None = Field(
        default=None, description="the predictors; without it all other columns of the release"
    )
    errors: Literal["none", "bootstrap"] = Field(
        default="none",
        description="`bootstrap` draws samples from a Gaussian model at the released matrix, with "
        "the noise of the mechanism, and gives approximate standard errors",
    )
    draws: Annotated[int, Field(ge=20, le=10_000)] = Field(
        default=200, description="how many bootstrap draws"
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1, description="public seed of the bootstrap; it has nothing to do with privacy"
    )


def check(params: RegressParams, facts: Facts) -> tuple[Complaint, ...]:
    """Names that the release does not have, a response that predicts itself, nothing to predict."""
    found = list(column_complaints((params.y,), facts, "y"))
    if params.x is None:
        if len(facts.columns) < 2:
            found.append(
                Complaint(
                    "DPQL-E161",
                    "a regression needs a predictor, and the release has one column",
                    help="release the covariance of two columns or more",
                )
            )
        return tuple(found)
    found += column_complaints(params.x, facts, "x")
    if not params.x:
        found.append(
            Complaint(
                "DPQL-E161", "`x` names no predictor", "x", help="name columns, or leave out `x`"
            )
        )
    if params.y in params.x:
        found.append(
            Complaint(
                "DPQL-E161", f"`{params.y}` cannot predict itself", "x", help="drop it from `x`"
            )
        )
    return tuple(found)


DERIVATION = Derivation(
    name="regress",
    params=RegressParams,
    accepts=COVARIANCES,
    run="executors.derivations.regress_run",
    summary="a linear regression of one column of a released covariance on others",
    check=check,
)
