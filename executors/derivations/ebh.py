"""`DERIVE name = ebh(hits)`: which hypotheses a peeling rejects at another FDR level."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from executors.derivations.decisions import Hits
from executors.statistics.ebh import ebh, threshold
from planner.mechanism import Derivation, Params

__all__ = ["DERIVATION", "EbhParams", "run"]


class EbhParams(Params):
    """Options of `ebh(...)`."""

    level: Annotated[Fraction, Field(gt=0, lt=1)] = Field(
        default=Fraction(1, 20),
        description="the largest expected share of false discoveries among the rejected",
    )
    rule: Literal["boosted", "plain"] = Field(
        default="boosted",
        description="e-BH with the noise taken into account, or plain e-BH on the released values",
    )


def run(params: EbhParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """The rejected hypotheses, in the order of their selection."""
    hits, level = Hits.of(release), float(params.level)
    log_k = hits.log_k if params.rule == "boosted" else 0.0
    rejected = hits.rejected(ebh(hits.log_evalues, hits.hypotheses, level, log_k))
    return {
        "value": {
            "rejected": rejected,
            "level": level,
            "rule": params.rule,
            "threshold": threshold(hits.hypotheses, level, max(1, len(rejected)), log_k),
        },
        "notes": [
            f"the expected share of false discoveries among these is at most {level:g}, however "
            "the e-values depend on each other"
        ],
    }


DERIVATION = Derivation(
    name="ebh",
    params=EbhParams,
    accepts=("PEEL evalues",),
    run=__name__,
    summary="which hypotheses a peeling rejects at another level of false discoveries",
)
