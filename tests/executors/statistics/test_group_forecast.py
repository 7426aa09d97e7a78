"""The moments that a two-group forecast rests on, against simulated tables and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from executors.mechanisms import logrank
from executors.mechanisms.logrank.forecast import forecast
from executors.mechanisms.logrank.params import LogrankParams
from executors.statistics.group_forecast import expected
from planner.calculus.cost import Cost
from planner.facts import Column
from suites.mechanism import Trial
from suites.survival_cases import case, facts


def moments(
    rng: np.random.Generator, n: int, share: float, effect: float, censoring: float, floor: float
) -> tuple[float, float, float]:
    """U / n, V / n and the share of events of one table, by sums from the last time."""
    second = rng.random(n) < share
    ends = rng.exponential(np.where(second, math.exp(-effect), 1.0))
    lost = rng.exponential(1.0 / censoring, n)
    order = np.argsort(-np.minimum(ends, lost))
    x, seen = second[order].astype(float), (ends <= lost)[order]
    at_risk = np.arange(1, n + 1)
    p = np.cumsum(x) / at_risk
    weight = np.minimum(1.0, at_risk / max(1, math.ceil(floor * n)))
    score = float((seen * weight * (x - p)).sum()) / n
    return score, float((seen * weight**2 * p * (1 - p)).sum()) / n, float(seen.mean())


@pytest.mark.parametrize(
    ("share", "effect", "censoring", "floor"),
    [(0.05, 1.2, 0.5, 0.1), (0.5, -0.8, 2.0, 0.0), (0.3, 2.0, 0.2, 1.0), (0.9, -1.5, 0.5, 0.3)],
)
def test_moments_are_those_of_simulated_tables(
    share: float, effect: float, censoring: float, floor: float
) -> None:
    rng, n, tables = np.random.default_rng(11), 2000, 300
    drawn = np.array([moments(rng, n, share, effect, censoring, floor) for _ in range(tables)])
    mean, error = drawn.mean(axis=0), drawn.std(axis=0) / math.sqrt(tables)
    found = expected(share, effect, float(mean[2]), floor)
    assert abs(found.mean - mean[0]) < 4 * error[0] + 0.01 * abs(mean[0])
    assert abs(found.trace - mean[1]) < 4 * error[1] + 0.01 * mean[1]
    assert found.variance == pytest.approx(n * drawn[:, 0].var(), rel=0.25)


@pytest.mark.parametrize("floor", [0.0, 0.1, 1.0])
def test_small_effects_have_a_closed_form(floor: float) -> None:
    found = expected(0.3, 1e-6, 0.4, floor)
    assert found.mean == pytest.approx(1e-6 * (1 - floor / 2) * 0.4 * 0.21, rel=1e-3)
    assert found.variance == pytest.approx((1 - 2 * floor / 3) * 0.4 * 0.21, rel=1e-3)
    assert found.trace == pytest.approx(found.variance, rel=1e-3)


@pytest.mark.parametrize("effect", [-1e50, -25.0, 25.0, 1e50])
@pytest.mark.parametrize("share", [1e-50, 0.5, 1.0])
@pytest.mark.parametrize("rate", [1e-50, 0.5, 1.0])
def test_extreme_planning_values_give_finite_moments(
    effect: float, share: float, rate: float
) -> None:
    found = expected(share, effect, rate, 0.1)
    assert math.isfinite(found.mean)
    assert min(found.variance, found.trace) >= 0.0


@pytest.mark.parametrize(
    ("rows", "share", "effect", "rate", "cost", "simulated"),
    [  # 500 or more simulated studies each, error at most 0.022
        (1000, "0.05", "1.2", "0.677", Cost("eps", F(2)), 0.841),
        (400, "0.3", "0.8", "0.303", Cost("mu", F(2)), 0.874),
        (4000, "0.1", "0.4", "0.104", Cost("mu", F(2)), 0.512),
        (300, "0.5", "0.5", "0.717", Cost("eps", F(1)), 0.539),
    ],
)
def test_the_power_of_unequal_groups_is_near_the_truth(
    rows: int, share: str, effect: str, rate: str, cost: Cost, simulated: float
) -> None:
    params = LogrankParams(group="g", effect=F(effect), share=F(share), event_rate=F(rate))
    where = facts(rows, [Column("g", "boolean")])
    made = Trial(logrank.MECHANISM, case("groups", params, where, cost))
    assert forecast(params, where, made.loss)["power"] == pytest.approx(simulated, abs=0.045)
