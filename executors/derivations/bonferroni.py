"""`DERIVE name = bonferroni(hits)`: rejections of a peeling with no false one, up to a level."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from executors.derivations.decisions import Hits
from executors.statistics.ebh import bonferroni, threshold
from planner.mechanism import Derivation, Params

__all__ = ["DERIVATION", "BonferroniParams", "run"]


class BonferroniParams(Params):
    """Options of `bonferroni(...)`."""

    level: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 20),
        description="the largest chance of any false rejection",
    )


def run(params: BonferroniParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """The rejected hypotheses, in the order of their selection; valid for an adaptive size too."""
    hits, level = Hits.of(release), float(params.level)
    decisions = bonferroni(hits.log_evalues, hits.hypotheses, level, hits.log_k)
    return {
        "value": {
            "rejected": hits.rejected(decisions),
            "level": level,
            "threshold": threshold(hits.hypotheses, level, 1, hits.log_k),
        },
        "notes": [
            f"the chance that any of these is a false rejection is at most {level:g}, however the "
            "e-values depend on each other"
        ],
    }


DERIVATION = Derivation(
    name="bonferroni",
    params=BonferroniParams,
    accepts=("PEEL evalues",),
    run=__name__,
    summary="rejections of a peeling with a bound on the chance of any false one",
)
