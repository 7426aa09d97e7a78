"""Every EXPECT is reached by the forecast."""

from __future__ import annotations

from collections.abc import Sequence

from planner.bound import BoundExpect
from planner.findings import Findings
from planner.planned import PlannedMeasurement
from planner.shown import shown

__all__ = ["judge"]


def judge(
    expects: Sequence[BoundExpect], planned: Sequence[PlannedMeasurement], findings: Findings
) -> None:
    """Write an error for a forecast that falls short, or that says nothing of the metric."""
    by_name = {one.name: one for one in planned}
    for expect in expects:
        one = by_name[expect.release]
        value = one.forecast.get(expect.metric)
        if not isinstance(value, int | float):
            findings.error(
                "DPQL-E066",
                f"`{expect.release}.{expect.metric}` cannot be forecast from what is given",
                expect.span,
                note="a forecast needs the planning values of its method",
                help=f"`dpql explain {one.bound.mechanism.method}` lists them",
            )
        elif value < float(expect.at_least):
            findings.error(
                "DPQL-E072",
                f"`{expect.release}.{expect.metric}` is forecast at {value:.3g}, expected at "
                f"least {shown(expect.at_least)}",
                expect.span,
                note="the forecast is made from declared facts and planning values, before any "
                "row is read",
                help="raise the cost, or expect less",
            )
