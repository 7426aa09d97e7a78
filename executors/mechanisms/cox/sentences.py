"""What a reader of the plan must take on trust, in plain words."""

from __future__ import annotations

from executors.mechanisms.cox.params import CoxParams
from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_sentences import EVENLY_SPREAD, about_null, about_records
from executors.pricing.survival_spreads import even_score
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["assumptions"]


def assumptions(params: CoxParams, facts: Facts) -> tuple[str, ...]:
    """What the level and the forecast assume; privacy assumes none of it."""
    said = [
        "The level assumes proportional hazards at the first coefficients, censoring that tells "
        "nothing about survival, and times recorded so finely that no two events share one.",
        *about_records(facts),
        "A rejection speaks against the first coefficients. It does not show that the second are "
        "right.",
        *about_null(params.beta.left, facts, params.event_rate, params.resolution),
    ]
    if params.rule == "normal":
        said.append("The rule `normal` holds its level for many records, not for every number.")
    even = even_score(covariate_domain(facts), params.beta.left, params.beta.right)
    if params.spread in (AUTO, even):
        said.append(EVENLY_SPREAD)
    return tuple(said)
