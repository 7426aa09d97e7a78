"""Every public table that an option names is there when the plan is made."""

from __future__ import annotations

from planner.bind.shapes import tables_named
from planner.bound import BoundPlan
from planner.findings import Findings

__all__ = ["judge"]


def judge(bound: BoundPlan, findings: Findings) -> None:
    """Write an error at an option whose table is not bound, or is protected data."""
    protected = {dataset.name for dataset in bound.datasets}
    for one in bound.measurements:
        known = {table.name for table in one.facts.tables}
        for option, name in tables_named(one.params).items():
            if name in protected:
                findings.error(
                    "DPQL-E159",
                    f"`{name}` is a dataset of people, not a public table",
                    one.place(option),
                    note="a forecast that looked at protected data would release it for nothing",
                    help="name a table that anybody may read",
                )
            elif name not in known:
                findings.error(
                    "DPQL-E159",
                    f"the public table `{name}` is not bound",
                    one.place(option),
                    note="it is read when the plan is made, and its SHA-256 becomes part of the "
                    "plan",
                    help=f"`dpql plan FILE --data {name}=matrix.csv -o plan.json`, and hand on the "
                    "plan",
                )
