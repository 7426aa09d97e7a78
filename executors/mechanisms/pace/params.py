"""The options of `COVARIANCE pace`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from executors.pricing.allowance import Share
from executors.pricing.covariance_columns import Center
from executors.pricing.published import PublishedVariant
from planner.mechanism import AUTO, Auto, ColumnName, TableName

__all__ = ["PaceParams"]


class PaceParams(PublishedVariant):
    """What an author may write behind `COVARIANCE pace`."""

    PAPER: ClassVar = {"center": "midpoint", "strategy": "entries"}

    center: Center = Field(
        default="private",
        description="about what: `private` (means released with the variances; not the default of "
        "variant=paper), `midpoint` (the middle of every range, a second moment; the default of "
        "variant=paper) or a list of public numbers, one a column",
    )
    strategy: Literal["auto", "entries", "dense", "pilot", "diagonal"] = Field(
        default="auto",
        description="`entries`: a search for the covariances that stand out; `dense`: one release "
        "of all; `pilot`: a first release of all decides between a second one and the search; "
        "`diagonal`: variances only; `auto` becomes `pilot`, or `diagonal` where rows, columns and "
        "cost would show nothing but noise",
    )
    diag: Share = Field(
        default=Fraction(3, 10),
        description="the share of the cost that pays for the variances, and for the means",
    )
    select: Share = Field(
        default=Fraction(1, 2),
        description="the share of a round that pays for choosing a pair; the rest measures it",
    )
    rounds: Auto | Annotated[int, Field(ge=1)] = Field(
        default=AUTO,
        description="how many rounds the search would have if none were made dearer; auto is twice "
        "the number of columns",
    )
    anneal: Annotated[Fraction, Field(ge=1, le=1000)] = Field(
        default=Fraction(2),
        description="by how much the later rounds become dearer after one that found noise only; 1 "
        "never",
    )
    gamma: Annotated[Fraction, Field(ge=Fraction(1, 10**9), le=1)] = Field(
        default=Fraction(1, 100),
        description="the weight of the determinant in the fit to what was measured; it keeps the "
        "matrix positive definite",
    )
    maxrounds: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=5000, description="the most rounds of the search; the last one spends what is left"
    )
    pilot: Share = Field(
        default=Fraction(2, 5),
        description="the share of what follows the variances that pays for the pilot of "
        "strategy=pilot",
    )
    pairs: tuple[tuple[ColumnName, ...], ...] | None = Field(
        default=None,
        description="the pairs that the search may choose from, such as `[(a, b), (a, c)]`, known "
        "without the data; all pairs otherwise",
    )
    variant: Literal["paper"] | None = Field(
        default=None,
        description="`paper`: the published search as far as it is known: center=midpoint and "
        "strategy=entries unless written, nothing drawn towards an average or towards zero",
    )

    prior: TableName | None = Field(
        default=None,
        description="a public covariance of the same columns, bound when the plan is made; the "
        "method is simulated on it to foresee its error",
        json_schema_extra={"forecast": True},
    )
    prior_sha256: str | None = Field(
        default=None,
        description="the SHA-256 of that table's file; the plan writes it, and where it is written "
        "no other file will do",
        json_schema_extra={"forecast": True},
    )
