"""Every cost of `auto` has an EXPECT that says how good its statement must be."""

from __future__ import annotations

from planner.bound import BoundPlan
from planner.findings import Findings

__all__ = ["judge"]


def judge(bound: BoundPlan, findings: Findings) -> None:
    """Write an error at an open cost on which no EXPECT stands."""
    expected = {one.release for one in bound.expects}
    for one in bound.measurements:
        if not one.is_open or one.name in expected:
            continue
        title = f"{one.mechanism.verb} {one.mechanism.method}"
        if one.mechanism.metrics:
            note = "the least cost is the least that is good enough, and nothing says what is"
            help = f"add `EXPECT {one.name}.{one.mechanism.metrics[0]} >= ...`, or write a cost"
        else:
            note = f"`{title}` has no metric that EXPECT may name"
            help = "write a cost, for example a share of the BUDGET such as `50%`"
        findings.error(
            "DPQL-E077",
            f"the cost of `{one.name}` is `auto`, and no EXPECT stands on `{one.name}`",
            one.place("cost"),
            note=note,
            help=help,
        )
