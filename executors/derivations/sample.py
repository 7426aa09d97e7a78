"""`DERIVE name = sample(sigma, rows=1000)`: synthetic rows from a Gaussian model of a release."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from executors.derivations.covariances import COVARIANCES
from planner.facts import Facts
from planner.mechanism import Complaint, Derivation, Params

__all__ = ["DERIVATION", "MOST_NUMBERS", "SampleParams", "check"]

MOST_NUMBERS = 1_000_000
"""Rows times columns that one sample may hold: it is stored with its release."""


class SampleParams(Params):
    """Options of `sample(...)`."""

    rows: Annotated[int, Field(ge=1, le=MOST_NUMBERS)] = Field(
        default=1000, description="how many rows to draw"
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1, description="public seed of the draws; it has nothing to do with privacy"
    )


def check(params: SampleParams, facts: Facts) -> tuple[Complaint, ...]:
    """A table that is too large to be kept."""
    most = MOST_NUMBERS // max(1, len(facts.columns))
    if params.rows <= most:
        return ()
    return (
        Complaint(
            "DPQL-E161",
            f"a sample holds at most {MOST_NUMBERS:,} numbers",
            "rows",
            note="it is stored with its release",
            help=f"write `rows={most}` or less; other seeds give more rows",
        ),
    )


DERIVATION = Derivation(
    name="sample",
    params=SampleParams,
    accepts=COVARIANCES,
    run="executors.derivations.sample_run",
    summary="synthetic rows from a Gaussian model at a released covariance",
    check=check,
)
