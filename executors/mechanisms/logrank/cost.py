"""The price of a noisy two-group test."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from executors.mechanisms.logrank.params import LogrankParams
from executors.pricing.score_design import ScoreDesign
from executors.pricing.survival_complaints import about_source
from executors.pricing.survival_domain import box
from executors.pricing.survival_sentences import about_records
from planner.calculus.need import Need
from planner.facts import Column, Facts
from planner.mechanism import Complaint, Query, Units

__all__ = ["LogrankParams", "assumptions", "check", "design_of", "need", "query"]


def design_of(params: LogrankParams, facts: Facts) -> ScoreDesign:
    """The score test of b0 = 0 on one covariate that is 0 or 1."""
    domain = box([Fraction(0)], [Fraction(1)])
    share = params.score_share
    null = (Fraction(0),)
    return ScoreDesign.of(facts.rows, params.riskfloor, domain, null, share, standardise=False)


def need(params: LogrankParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Two numbers: Laplace noise under eps or (eps, delta), Gaussian noise under rho or mu.

    The sensitivities are those of one record replaced, with the slack of floating-point
    arithmetic. Proof: proof.md. Checked: tests/executors/mechanisms/logrank.
    """
    source = facts.source
    return design_of(params, facts).needs(source, units[source.name], "knorm")


def query(params: LogrankParams, facts: Facts) -> Query:
    """The sums of each distinct time, the group as 0 or 1."""
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    return Query(
        summary="survival_groups",
        columns=(duration, event, _group(params, facts)),
        parameters=(
            ("domain", design_of(params, facts).domain),
            ("parts", ("score",)),
            ("null", (Fraction(0),)),
        ),
    )


def check(params: LogrankParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    return (*about_source(facts, "TEST logrank"), *_about_group(params, facts))


def assumptions(params: LogrankParams, facts: Facts) -> tuple[str, ...]:
    """What the level and the forecast assume; privacy assumes none of it."""
    group = _group(params, facts)
    second = f"`{group.levels[1]}`" if group.levels else "true"
    planned = ("The forecast takes survival as exponential in both groups, with like censoring.",)
    return (
        "The level assumes that censoring tells nothing about survival, and many records.",
        "Times in coarse units keep the level only if censoring within a unit is alike in both "
        "groups.",
        f"The second group is that with `{group.name}` {second}.",
        *about_records(facts),
        *(planned if params.effect is not None else ()),
    )


def _group(params: LogrankParams, facts: Facts) -> Column:
    found = facts.source.column(params.group)
    if found is None:
        raise ValueError("the group column is not declared")
    return found


def _about_group(params: LogrankParams, facts: Facts) -> Iterator[Complaint]:
    column = facts.source.column(params.group)
    fitting = [
        known.name
        for known in facts.source.columns
        if (known.type == "boolean" and not known.pattern) or len(known.levels) == 2
    ]
    listed = ", ".join(f"`{name}`" for name in fitting)
    help = f"these columns can: {listed}" if fitting else "declare a BOOLEAN column"
    if column is None:
        yield Complaint(
            "DPQL-E145", f"there is no column `{params.group}` to group by", "group", help=help
        )
    elif column.name not in fitting:
        yield Complaint(
            "DPQL-E145",
            f"`{column.name}` does not tell two groups apart",
            "group",
            note="a log-rank test compares two groups: a BOOLEAN column, or a CATEGORY of two",
            help=help,
        )
