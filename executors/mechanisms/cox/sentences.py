"""What a reader of the plan must take on trust, in plain words."""

from __future__ import annotations

from executors.mechanisms.cox.design import covariate_domain
from executors.mechanisms.cox.params import CoxParams
from executors.mechanisms.cox.spreads import drift, even_score, even_spread
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["assumptions"]


def assumptions(params: CoxParams, facts: Facts) -> tuple[str, ...]:
    """What the level and the forecast assume; privacy assumes none of it."""
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    said = [
        "The level assumes proportional hazards at the first coefficients, censoring that tells "
        "nothing about survival, and times recorded so finely that no two events share one.",
        f"`{event.name}` is coded 0 and 1, or false and true. Under another coding every record "
        "is emptied.",
        "A record with a missing, infinite or unreadable value, a negative time or another event "
        "code counts as censored at time 0 with covariates in the middle; how many is not told.",
        f"A `{duration.name}` beyond its range becomes a censoring at the end of the range, and "
        "covariates outside their range are moved to its edge; how many is not told.",
        "A rejection speaks against the first coefficients. It does not show that the second are "
        "right.",
        "One person has one record; the guarantee is about replacing it.",
    ]
    if any(params.beta.left):
        said += _about_a_null(params, facts)
    elif params.resolution:
        said.append(
            "Times in coarse units keep the level only if censoring within a unit does not depend "
            "on the covariates."
        )
    even = even_score(covariate_domain(facts), params.beta.left, params.beta.right)
    if params.spread in (AUTO, even):
        said.append(
            "The forecast takes covariates as spread evenly over their ranges. Real ones are "
            "usually closer together, so it is optimistic; `spread=` makes it sharper."
        )
    return tuple(said)


def _about_a_null(params: CoxParams, facts: Facts) -> list[str]:
    said = [
        "The first coefficients are not all 0, so the level assumes exactly recorded times, and "
        "ranges so wide that hardly any covariate is moved."
    ]
    horizon = facts.source.role("duration")[0].hi
    if params.resolution and horizon is not None:
        sd = even_spread(covariate_domain(facts), params.beta.left)
        moved = drift(facts.rows, params.event_rate, params.resolution, horizon, sd)
        said.append(
            f"Recording times in units of {float(params.resolution):g} moves the statistic by "
            f"about {moved:.2g} of its standard deviations under the first coefficients."
        )
    return said
