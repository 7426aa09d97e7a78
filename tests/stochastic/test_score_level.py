"""Level, power and forecast of `TEST score` and `TEST logrank` by seeded simulation.

A rejection rate over N data sets strays by more than 4 standard errors with probability below 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from executors.mechanisms import logrank, score
from executors.mechanisms.logrank.cost import design_of as design_of_groups
from executors.mechanisms.logrank.params import LogrankParams
from executors.mechanisms.score.cost import design_of as design_of_score
from executors.mechanisms.score.params import ScoreParams
from executors.pricing.score_design import ScoreDesign
from executors.statistics.score_decision import Judge
from executors.statistics.score_law import unit_noise
from executors.statistics.score_release import judge_of
from planner.calculus.cost import Cost
from planner.facts import Column, Facts
from suites.survival_cases import ball, facts
from suites.trial import Case, Trial

Simulated = tuple[np.ndarray, np.ndarray, np.ndarray]
DRAWS = 25
"""Noise drawn for each data set."""


def study(rng: np.random.Generator, x: np.ndarray, truth: Any) -> Simulated:
    """Exp(1) baseline, Exp(.5) censoring."""
    n = len(x)
    event_time = rng.exponential(np.exp(-(x @ np.asarray(truth, dtype=float))))
    censor_time = rng.exponential(2.0, n)
    return np.minimum(event_time, censor_time), event_time <= censor_time, x


def in_a_ball(rng: np.random.Generator, n: int) -> np.ndarray:
    """Points uniform in the unit ball of three dimensions."""
    direction = rng.standard_normal((n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * rng.random((n, 1)) ** (1 / 3)


def in_two_groups(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 2, (n, 1)).astype(float)


def statistics(data: Simulated, b0: np.ndarray, floor: int) -> tuple[np.ndarray, float]:
    """U and V with Breslow's ties, in one pass: independent of the package's grouping."""
    time, seen, x = data
    order = np.argsort(-time, kind="stable")
    late, x, seen = time[order], x[order], seen[order]
    ends = np.searchsorted(-late, -late, side="right") - 1
    weight = np.exp(x @ b0)[:, None]
    at_risk = np.cumsum(weight, axis=0)
    mean = (np.cumsum(weight * x, axis=0) / at_risk)[ends]
    square = (np.cumsum(weight[:, 0] * (x**2).sum(axis=1)) / at_risk[:, 0])[ends]
    w = seen * (np.minimum(1.0, (ends + 1) / floor) if floor else 1.0)
    trace = (seen * w) @ (w * (square - (mean**2).sum(axis=1)))
    return w @ (x - mean), float(trace)


def rejections(
    design: ScoreDesign, judge: Judge, runs: int, seed: int, make: Callable[..., Simulated]
) -> tuple[float, float]:
    """Share of rejections with its standard error over data sets."""
    rng, d, n = np.random.default_rng(seed), design.columns, design.rows
    b0 = np.array([float(value) for value in design.null])
    grid = np.linspace(0.0, float(design.largest_trace), 60)
    limits = np.array([judge.threshold(float(trace)) for trace in grid])
    shares = []
    scale = np.array([float(value) for value in design.scale or [1] * d])
    first = design.trace_rows if design.is_split else 0
    for _ in range(runs):
        time, seen, x = make(rng, first + n)
        x, b = x * scale, b0 / scale
        u, v = statistics((time[first:], seen[first:], x[first:]), b, design.floor)
        if first:
            _, v = statistics((time[:first], seen[:first], x[:first]), b, design.trace_floor)
        noise = judge.score.scale * unit_noise(judge.score.law, DRAWS, d, rng)
        length = np.linalg.norm(u / math.sqrt(n) + noise, axis=1)
        traces = np.full(DRAWS, float(design.largest_trace))
        if judge.trace is not None:
            law = "laplace" if judge.trace.law == "laplace" else "gaussian"
            drawn = judge.trace.scale * unit_noise(law, DRAWS, 1, rng)[:, 0]
            traces = np.array([judge.upper_trace(float(t)) for t in v / design.trace_rows + drawn])
        shares.append(float(np.mean(length >= np.interp(traces, grid, limits))))
    return float(np.mean(shares)), float(np.std(shares) / math.sqrt(runs))


def groups(n: int, cost: Cost, **more: Any) -> tuple[ScoreDesign, Judge, Trial]:
    where = Facts(facts(n, [Column("arm", "boolean")]).sources, ())
    params = LogrankParams(group="arm", **more)
    trial = Trial(logrank.MECHANISM, Case("groups", params, where, cost))
    return judged(design_of_groups(params, where), trial)


def scored(
    n: int, cost: Cost, b0: Any = (0, 0, 0), **more: Any
) -> tuple[ScoreDesign, Judge, Trial]:
    columns, norm = ball("x", "y", "z")
    params = ScoreParams(beta=tuple(F(str(value)) for value in b0), **more)
    trial = Trial(score.MECHANISM, Case("ball", params, facts(n, columns, norm), cost))
    return judged(design_of_score(trial.params, trial.case.facts), trial)


def judged(design: ScoreDesign, trial: Trial) -> tuple[ScoreDesign, Judge, Trial]:
    first, *rest = trial.loss.leaves
    judge = judge_of(design, trial.params.level, first, rest[0] if rest else None)
    return design, judge, trial


def of_groups(truth: float) -> Callable[..., Simulated]:
    return lambda rng, n: study(rng, in_two_groups(rng, n), [truth])


def of_ball(truth: Any) -> Callable[..., Simulated]:
    return lambda rng, n: study(rng, in_a_ball(rng, n), truth)


# --- levels --------------------------------------------------------------------------------------


COSTS = [Cost("eps", F(1, 2)), Cost("eps", F(1)), Cost("eps", F(2)), Cost("mu", F(1, 2)),
         Cost("mu", F(1))]  # fmt: skip


@pytest.mark.parametrize("cost", [COSTS[2], COSTS[4]])
def test_the_level_of_two_groups_holds(cost: Cost) -> None:
    design, judge, _ = groups(200, cost)
    level, error = rejections(design, judge, 300, 1, of_groups(0.0))
    assert level <= 0.05 + 3 * error


@pytest.mark.parametrize("cost", [COSTS[2], COSTS[4]])
def test_the_level_of_a_score_holds(cost: Cost) -> None:
    design, judge, _ = scored(200, cost)
    level, error = rejections(design, judge, 300, 2, of_ball([0, 0, 0]))
    assert level <= 0.05 + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000, 4000])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("trace", ["private", "bound"])
def test_the_level_of_two_groups_holds_in_every_cell(n: int, cost: Cost, trace: Any) -> None:
    for riskfloor in (F(0), F(1, 10), F(1)):
        design, judge, _ = groups(n, cost, riskfloor=riskfloor, trace=trace)
        level, error = rejections(design, judge, 600, 3, of_groups(0.0))
        assert level <= 0.05 + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000, 4000])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("b0", [(0, 0, 0), (0.5, 0, 0)])
def test_the_level_of_a_score_holds_in_every_cell(n: int, cost: Cost, b0: Any) -> None:
    design, judge, _ = scored(n, cost, b0)
    level, error = rejections(design, judge, 500, 4, of_ball(b0))
    assert level <= 0.05 + 3 * error


def boxed(n: int, cost: Cost, **more: Any) -> tuple[ScoreDesign, Judge, Trial]:
    columns = [Column("x", "real", F(0), F(1)), Column("z", "real", F(-2), F(6))]
    params = ScoreParams(beta=(F(0), F(1, 10)), **more)
    trial = Trial(score.MECHANISM, Case("box", params, facts(n, columns), cost))
    return judged(design_of_score(trial.params, trial.case.facts), trial)


@pytest.mark.parametrize(("n", "eps", "variant"), [(300, "4", None), (1000, "20", "paper")])
def test_the_level_in_a_box_holds(n: int, eps: str, variant: Any) -> None:
    """In the units of the box; with a split table the variance comes from other rows."""

    def make(rng: np.random.Generator, size: int) -> Simulated:
        x = np.column_stack([rng.random(size), rng.uniform(-2, 6, size)])
        return study(rng, x, [0, 0.1])

    design, judge, _ = boxed(n, Cost("eps", F(eps)), variant=variant)
    level, error = rejections(design, judge, 300, 6, make)
    assert level <= 0.05 + 3 * error
    assert level > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 4000])
def test_ties_leave_the_level_of_a_null_of_zero(n: int) -> None:
    """Times rounded up to a fifth of the mean survival; censoring alike in both groups."""

    def rounded(rng: np.random.Generator, size: int) -> Simulated:
        time, seen, x = study(rng, in_two_groups(rng, size), [0.0])
        return np.ceil(time * 5), seen, x

    design, judge, _ = groups(n, Cost("eps", F(2)))
    level, error = rejections(design, judge, 600, 5, rounded)
    assert level <= 0.05 + 3 * error


# --- power, against values of an independent simulation ------------------------------------------


@pytest.mark.parametrize(
    ("n", "riskfloor", "eps", "level", "found"),
    [(300, "0.1", "1", 0.032, 0.539), (1000, "1", "0.5", 0.012, 0.775)],
)
def test_level_and_power_of_two_groups_are_those_of_the_table(
    n: int, riskfloor: str, eps: str, level: float, found: float
) -> None:
    against_the_table_of_groups(n, riskfloor, eps, level, found, 300)


GROUPS_TABLE = [
    (300, "0", ((0.040, 0.143), (0.035, 0.463), (0.024, 0.852))),
    (300, "0.1", ((0.038, 0.183), (0.032, 0.539), (0.020, 0.844))),
    (1000, "0", ((0.029, 0.846), (0.032, 0.995), (0.019, 1))),
    (1000, "0.1", ((0.023, 0.953), (0.027, 1), (0.026, 1))),
    (1000, "1", ((0.012, 0.775), (0.007, 0.980), (0.020, 0.999))),
    (3000, "0.1", ((0.021, 1), (0.024, 1), (0.039, 1))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "riskfloor", "cells"), GROUPS_TABLE)
def test_every_cell_of_the_table_of_two_groups(n: int, riskfloor: str, cells: Any) -> None:
    for eps, (level, found) in zip(("0.5", "1", "4"), cells):
        against_the_table_of_groups(n, riskfloor, eps, level, found, 600)


def against_the_table_of_groups(
    n: int, riskfloor: str, eps: str, level: float, found: float, runs: int
) -> None:
    """The table took 1000 runs with one draw of noise each: its error is added to ours."""
    design, judge, _ = groups(n, Cost("eps", F(eps)), riskfloor=F(riskfloor))
    null, null_error = rejections(design, judge, runs, n, of_groups(0.0))
    assert null <= 0.05 + 3 * null_error
    assert null == pytest.approx(level, abs=4 * math.hypot(null_error, spread(level, 1000)))
    true, error = rejections(design, judge, runs, n + 1, of_groups(0.5))
    assert true == pytest.approx(found, abs=4 * math.hypot(error, spread(found, 1000)) + 1e-3)


def spread(chance: float, runs: int) -> float:
    return math.sqrt(max(chance, 1 / runs) * max(1 - chance, 1 / runs) / runs)


SCORE_TABLE = [
    ((0, 0, 0), 1000, "0", ((.030, .052, .220), (.015, .195, .945), (.015, .090, .360),
                            (.013, .163, .828))),
    ((0, 0, 0), 1000, "0.1", ((.015, .070, .352), (.003, .263, 1), (.005, .122, .550),
                              (.013, .275, .953))),
    ((0, 0, 0), 4000, "0", ((.013, .593, 1), (.003, 1, 1), (.013, .790, 1), (.018, .990, 1))),
    ((0, 0, 0), 4000, "0.1", ((.007, .927, 1), (.005, 1, 1), (.030, .968, 1), (.018, .995, 1))),
    ((.5, 0, 0), 1000, "0.1", ((.035, .040, .098), (.000, .130, .787), (.025, .052, .152),
                               (.030, .113, .562))),
    ((.5, 0, 0), 4000, "0.1", ((.030, .405, .990), (.005, .990, 1), (.018, .627, 1),
                               (.010, .960, 1))),
]  # fmt: skip


def against_the_table_of_scores(
    b0: Any, n: int, riskfloor: str, cost: Cost, cell: tuple[float, float, float], runs: int
) -> None:
    """The table took 400 data sets."""
    design, judge, _ = scored(n, cost, b0, riskfloor=F(riskfloor))
    for radius, found in zip((0.0, 0.3, 0.6), cell):
        truth = np.array([b0[0], radius, 0.0])
        share, error = rejections(design, judge, runs, n + int(10 * radius), of_ball(truth))
        assert share == pytest.approx(found, abs=4 * math.hypot(error, spread(found, 400)) + 2e-3)
        if radius == 0.0:
            assert share <= 0.05 + 3 * error


def test_a_cell_of_the_table_of_scores() -> None:
    cell = (0.015, 0.070, 0.352)
    against_the_table_of_scores((0, 0, 0), 1000, "0.1", Cost("eps", F(1)), cell, 120)


@pytest.mark.slow
@pytest.mark.parametrize(("b0", "n", "riskfloor", "cells"), SCORE_TABLE)
def test_every_cell_of_the_table_of_scores(b0: Any, n: int, riskfloor: str, cells: Any) -> None:
    costs = (Cost("eps", F(1)), Cost("eps", F(4)), Cost("mu", F(1, 2)), Cost("mu", F(1)))
    for cost, cell in zip(costs, cells):
        against_the_table_of_scores(b0, n, riskfloor, cost, cell, 300)


# --- forecasts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "eps", "true"), [(300, "1", 0.539), (1000, "0.5", 0.953)])
def test_the_forecast_of_two_groups_is_near_the_truth(n: int, eps: str, true: float) -> None:
    _, _, trial = groups(n, Cost("eps", F(eps)), effect=F(1, 2), event_rate=F("0.7"))
    from executors.mechanisms.logrank.forecast import forecast

    shown = forecast(trial.params, trial.case.facts, trial.loss)
    assert shown["power"] == pytest.approx(true, abs=0.07)
    assert shown["power_error"] == 0.0
    assert shown["noise_to_sampling"] > 0


@pytest.mark.parametrize(("n", "eps", "true"), [(1000, "1", 0.352), (4000, "1", 1.0)])
def test_the_forecast_of_a_score_is_near_the_truth(n: int, eps: str, true: float) -> None:
    from executors.mechanisms.score.forecast import forecast

    _, _, trial = scored(n, Cost("eps", F(eps)), radius=F("0.6"), event_rate=F("0.667"))
    shown = forecast(trial.params, trial.case.facts, trial.loss)
    assert shown["power"] == pytest.approx(true, abs=0.05)
    assert 0.0 <= shown["power_error"] < 0.003


@pytest.mark.parametrize("cost", [Cost("eps", F(1)), Cost("mu", F(1))])
def test_the_detectable_effect_has_a_power_of_eighty_per_cent(cost: Cost) -> None:
    from executors.mechanisms.score.forecast import forecast

    _, _, trial = scored(2000, cost)
    least = forecast(trial.params, trial.case.facts, trial.loss)["detectable_effect"]
    _, _, again = scored(2000, cost, radius=F(str(least)))
    power = forecast(again.params, again.case.facts, again.loss)["power"]
    assert power == pytest.approx(0.8, abs=0.01)
