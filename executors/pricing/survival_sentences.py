"""What is said of every survival test in plain words: assumptions, and that it cannot succeed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from executors.pricing.survival_model import moved_by_coarse_times
from planner.facts import Facts

__all__ = ["EVENLY_SPREAD", "about_null", "about_records", "cannot_succeed"]

EVENLY_SPREAD = (
    "The forecast takes covariates as spread evenly over their ranges. Real ones are usually "
    "closer together, so it is optimistic; `spread=` makes it sharper."
)
"""What a forecast takes for granted where no spread is written."""


def about_records(facts: Facts) -> list[str]:
    """How records are read, and what is done silently to those that cannot be."""
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    return [
        f"`{event.name}` is coded 0 and 1, or false and true. Under another coding every record "
        "is emptied.",
        "A record with a missing, infinite or unreadable value, a negative time or another event "
        "code counts as censored at time 0 with covariates in the middle; how many is not told.",
        f"A `{duration.name}` beyond its range becomes a censoring at the end of the range, and "
        "covariates outside their range are moved to its edge; how many is not told.",
        "One person has one record; the guarantee is about replacing it.",
    ]


def about_null(
    null: Sequence[Fraction],
    facts: Facts,
    event_rate: Fraction,
    resolution: Fraction,
    name: str = "first coefficients",
) -> list[str]:
    """What coarse times do to a test of b0, which readers know by `name`."""
    if not any(null):
        if not resolution:
            return []
        return [
            "Times in coarse units keep the level only if censoring within a unit does not depend "
            "on the covariates."
        ]
    said = [
        f"The {name} are not all 0, so the level assumes exactly recorded times, and "
        "ranges so wide that hardly any covariate is moved."
    ]
    moved = moved_by_coarse_times(null, facts, event_rate, resolution)
    if moved is not None:
        said.append(
            f"Recording times in units of {float(resolution):g} moves the statistic by "
            f"about {moved:.2g} of its standard deviations under the {name}."
        )
    return said


def cannot_succeed(power: float, level: float, null: str, way: str) -> dict[str, str]:
    """The warning that a test hardly rejects a false null more often than a true one."""
    return {
        "code": "DPQL-W212",
        "message": f"this test cannot succeed at this budget: it would reject a false {null} in "
        f"{100 * power:.3g} % of studies, a true one in up to {100 * level:.3g} %",
        "help": f"give it more of the budget, more records, or {way}",
    }
