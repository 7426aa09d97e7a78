"""Every EXPECT is reached by the forecast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.bound import BoundExpect
from planner.findings import Findings
from planner.number_format import shown
from planner.planned import PlannedMeasurement

__all__ = ["judge", "reaches"]

_DIGITS = 9


def judge(
    expects: Sequence[BoundExpect], planned: Sequence[PlannedMeasurement], findings: Findings
) -> None:
    """Write an error for a forecast that falls short, or that says nothing of the metric."""
    by_name = {one.name: one for one in planned}
    for expect in expects:
        one = by_name[expect.release]
        met = reaches(expect, one.forecast)
        if met is None:
            findings.error(
                "DPQL-E066",
                f"`{expect.release}.{expect.metric}` cannot be forecast from what is given",
                expect.span,
                note="a forecast needs the planning values of its method",
                help=f"`dpql explain {one.bound.mechanism.method}` lists them",
            )
        elif not met:
            findings.error(
                "DPQL-E072",
                f"`{expect.release}.{expect.metric}` is forecast at "
                f"{one.forecast[expect.metric]:.3g}, expected at least {shown(expect.at_least)}",
                expect.span,
                note="the forecast is made from declared facts and planning values, before any "
                "row is read",
                help="raise the cost, or expect less; a cost of `auto` finds the least that does",
            )


def reaches(expect: BoundExpect, forecast: Mapping[str, Any]) -> bool | None:
    """Whether a forecast is as good as expected; None where it says nothing of the metric.

    Both sides are rounded to nine digits, so that no machine's last digit decides.
    """
    value = forecast.get(expect.metric)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _rounded(value) >= _rounded(float(expect.at_least))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
