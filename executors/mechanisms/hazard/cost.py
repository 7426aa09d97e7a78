"""The price of comparing the cumulative hazards of two sources, each at its own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from executors.pricing.hazard import HazardParams, needs, query
from executors.pricing.hazard_complaints import about, silent_rules
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Units

__all__ = ["HazardTestParams", "assumptions", "censorings", "check", "need", "query"]

Hazard = Annotated[Fraction, Field(ge=0, le=50)]


class HazardTestParams(HazardParams):
    """Options of `TEST hazard`."""

    level: Fraction = Field(
        default=Fraction(1, 20),
        gt=0,
        lt=1,
        description="how often equal hazards may be said to differ, for many records",
    )
    rate: Annotated[Fraction, Field(gt=0, le=50)] = Field(
        default=Fraction(1),
        description="the cumulative hazard of the first source at the horizon, for the forecast "
        "only",
        json_schema_extra={"forecast": True},
    )
    effect: Annotated[Fraction, Field(ge=-10, le=10)] | None = Field(
        default=None,
        description="the logarithm of the hazard ratio of the second source to the first, at which "
        "the power is forecast",
        json_schema_extra={"forecast": True},
    )
    censoring: Hazard | tuple[Hazard, ...] = Field(
        default=Fraction(1, 2),
        description="the cumulative hazard of being censored at the horizon, or a list of one a "
        "source, for the forecast only",
        json_schema_extra={"forecast": True},
    )


def censorings(params: HazardTestParams) -> tuple[Fraction, ...]:
    """The planning value of each source."""
    one = params.censoring
    return one if isinstance(one, tuple) else (one, one)


def need(params: HazardTestParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Two leaves at each source; what compares the two releases is free.

    Each source's guarantee is its own: a person lies in one of them, or pays in both. Proof:
    proof.md. Checked: tests/executors/mechanisms/hazard.
    """
    return needs(params, facts, units)


def check(params: HazardTestParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    return (*about(params, facts, units, "TEST hazard"), *_about_planning(params))


def _about_planning(params: HazardTestParams) -> Iterator[Complaint]:
    if len(censorings(params)) != 2:
        yield Complaint(
            "DPQL-E154",
            f"`censoring` lists {len(censorings(params))} numbers for two sources",
            "censoring",
            help="write one number for both, or a list of two in the order of ON",
        )
    if params.effect == 0:
        yield Complaint(
            "DPQL-E154",
            "`effect=0` is no effect whose power could be forecast",
            "effect",
            help="write the logarithm of a hazard ratio, such as `effect=0.4`",
        )


def assumptions(params: HazardTestParams, facts: Facts) -> tuple[str, ...]:
    """What the level assumes; privacy assumes none of it."""
    first, second = facts.sources
    said = [
        f"Each person's cost is paid where the person's record lies, at `{first.name}` or at "
        f"`{second.name}`; only the two noisy releases are brought together.",
        "The level is for many records; in simulations it lay within 1.1 times the one written. "
        "It assumes censoring that tells nothing about survival, which may differ between the "
        "sources.",
        "Record times finely: where times are rounded and censoring differs between the sources, "
        "equal hazards look different.",
        "The curves are compared up to the last time at which enough records are at risk in both; "
        "if there is no such time the outcome is INCONCLUSIVE, which is not a rejection.",
    ]
    if first.dataset != second.dataset:
        said.append(
            f"The times of `{first.name}` and `{second.name}` are in one unit, from the same kind "
            "of start."
        )
    return (*said, *silent_rules(facts))
