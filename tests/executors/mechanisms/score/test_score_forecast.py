"""The forecast of `TEST score` is the same whatever the unit of the columns."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from executors.mechanisms.score import MECHANISM
from executors.mechanisms.score.forecast import forecast
from executors.mechanisms.score.params import ScoreParams
from planner.calculus.cost import Cost
from planner.facts import Column, Norm
from suites.mechanism import Trial
from suites.survival_cases import case, facts


def foreseen(names: str, size: F, cost: Cost, **more: Any) -> dict[str, Any]:
    """The forecast for 20,000 records in a ball of this radius."""
    columns = [Column(name, "real", -size, size) for name in names]
    where = facts(20_000, columns, Norm(tuple(names), size, (F(0),) * len(names)))
    params = ScoreParams(beta=(F(0),) * len(names), **more)
    made = Trial(MECHANISM, case("ball", params, where, cost))
    return dict(forecast(made.params, where, made.loss))


@pytest.mark.parametrize("names", ["x", "xz"])
@pytest.mark.parametrize("cost", [Cost("eps", F(1)), Cost("mu", F(1, 2))])
@pytest.mark.parametrize("size", [F(1, 10**8), F(10**6)])
def test_units_change_no_forecast(names: str, cost: Cost, size: F) -> None:
    plain, other = foreseen(names, F(1), cost), foreseen(names, size, cost)
    assert other["warnings"] == plain["warnings"] == []
    least = plain["detectable_effect"]
    assert other["detectable_effect"] == pytest.approx(least / float(size), rel=2e-3)
    shown = [
        foreseen(names, one, cost, radius=F(str(least)) / one)["power"] for one in (F(1), size)
    ]
    assert shown == pytest.approx([0.8, 0.8], abs=0.003)
