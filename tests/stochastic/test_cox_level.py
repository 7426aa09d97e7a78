"""Level, power and forecast of `TEST cox` by seeded simulation.

A rejection rate over N runs strays by more than 4 standard errors with probability below 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.cox import MECHANISM, synthetic
from executors.mechanisms.cox.design import Design, design_of
from executors.mechanisms.cox.forecast import _synthetic, forecast
from executors.mechanisms.cox.outlook import Outlook
from executors.statistics.survival_decision import Noise, power, threshold
from planner.calculus.cost import Cost
from planner.facts import Column
from suites.mechanism import Trial
from suites.survival_cases import ball, case, facts, options

EVENT_RATE = F("0.664")  # of the design below, under the alternative
Simulated = tuple[np.ndarray, np.ndarray, np.ndarray]


def disc(rng: np.random.Generator, size: int) -> np.ndarray:
    """Points uniform on the unit disc."""
    angle, length = rng.uniform(0, 2 * np.pi, size), np.sqrt(rng.random(size))
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)])


def study(rng: np.random.Generator, n: int, truth: list[float]) -> Simulated:
    """Exp(1) baseline, Exp(.5) censoring, covariates uniform on the unit disc."""
    x = disc(rng, n)
    event_time = rng.exponential(np.exp(-(x @ np.array(truth))))
    censor_time = rng.exponential(2.0, n)
    return np.minimum(event_time, censor_time), event_time <= censor_time, x


def ratio(data: Simulated, design: Design) -> float:
    """L without ties, by one pass from the last time: independent of the package's grouping."""
    time, seen, x = data
    order = np.argsort(-time)
    b0, b1 = (np.array([float(v) for v in b]) for b in (design.null, design.alternative))
    s0, s1 = x[order] @ b0, x[order] @ b1
    drop = np.log(np.cumsum(np.exp(s1))) - np.log(np.cumsum(np.exp(s0)))
    weight = np.minimum(1.0, np.arange(1, len(time) + 1) / max(design.floor, 1))
    return float((seen[order] * weight * (s1 - s0 - drop)).sum())


def rejections(
    trial: Trial, truth: list[float], runs: int, seed: int, make: Callable[..., Simulated] = study
) -> tuple[float, float]:
    """Share of noisy statistics above the threshold (exact over the noise), and its error."""
    design = design_of(trial.params, trial.case.facts)
    leaf = trial.loss.leaves[0]
    noise = Noise("laplace" if leaf.kind == "lap" else "gaussian", float(leaf.scale))
    limit = threshold(float(trial.params.level), noise, trial.params.rule)
    rng = np.random.default_rng(seed)
    chances = [
        power(limit, ratio(make(rng, design.rows, truth), design), 0.0, noise) for _ in range(runs)
    ]
    return float(np.mean(chances)), float(np.std(chances) / math.sqrt(runs))


def trial(n: int, cost: Cost, b0: Any = (0, 0), b1: Any = None, **more: Any) -> Trial:
    columns, norm = ball("x", "z")
    b1 = [b0[0] + 1, b0[1]] if b1 is None else b1
    params = options(b0, b1, event_rate=EVENT_RATE, **more)
    return Trial(MECHANISM, case("disc", params, facts(n, columns, norm), cost))


PLAIN = {"shrink": F(1), "riskfloor": F(0)}
FLOOR = {"shrink": F(1), "riskfloor": F(1, 10)}
SHRUNK = {"shrink": F(15, 100), "riskfloor": F(1, 10)}


@pytest.mark.parametrize(
    ("n", "eps", "more", "level", "found"),
    [
        (200, "2", SHRUNK, 0.007, 0.533),
        (500, "0.5", SHRUNK, 0.029, 0.571),
        (500, "1", FLOOR, 0.010, 0.217),
        (500, "2", PLAIN, 0.005, 0.457),
        (1000, "1", FLOOR, 0.003, 0.680),
        (1000, "0.25", SHRUNK, 0.033, 0.642),
    ],
)
def test_level_and_power_are_those_of_the_table(
    n: int, eps: str, more: dict[str, F], level: float, found: float
) -> None:
    """Values of an independent simulation with 1000 data sets; ours takes 400."""
    test = trial(n, Cost("eps", F(eps)), **more)
    null, null_error = rejections(test, [0, 0], 400, n)
    assert null <= 0.05 + 4 * null_error
    assert null == pytest.approx(level, abs=0.006 + 4 * null_error)
    true, error = rejections(test, [1, 0], 400, n + 1)
    assert true == pytest.approx(found, abs=0.02 + 4 * error)


@pytest.mark.parametrize(
    ("n", "eps", "more", "true", "golden"),
    [
        (200, "2", SHRUNK, 0.533, 0.571),
        (500, "0.5", SHRUNK, 0.571, 0.582),
        (500, "1", SHRUNK, 0.949, 0.953),
        (500, "2", PLAIN, 0.457, 0.451),
        (1000, "0.25", SHRUNK, 0.642, 0.675),
        (1000, "1", FLOOR, 0.680, 0.726),
    ],
)
def test_the_forecast_is_near_the_truth(
    n: int, eps: str, more: dict[str, F], true: float, golden: float
) -> None:
    test = trial(n, Cost("eps", F(eps)), **more)
    shown = forecast(test.params, test.case.facts, test.loss)
    assert shown["power"] == pytest.approx(true, abs=0.06)
    assert shown["power"] == pytest.approx(golden, abs=0.04)


@pytest.mark.parametrize("b0", [(0.5, 0), (1, 0.5)])
@pytest.mark.parametrize("cost", [Cost("eps", F(4)), Cost("mu", F(2))])
def test_the_level_holds_with_a_null_that_is_not_zero(b0: Any, cost: Cost) -> None:
    test = trial(400, cost, b0, **SHRUNK)
    null, error = rejections(test, list(b0), 300, 5)
    assert null <= 0.05 + 4 * error


@pytest.mark.parametrize("rule", ["finite", "normal"])
def test_both_rules_hold_their_level_with_little_noise(rule: str) -> None:
    test = trial(400, Cost("mu", F(200)), rule=rule, **SHRUNK)
    null, error = rejections(test, [0, 0], 1500, 6)
    assert null <= 0.05 + 4 * error


def test_rounded_times_break_the_level_of_a_null_that_is_not_zero() -> None:
    """What the plan warns of: 20 000 records, times rounded up to a 12th of the mean survival."""
    more = {"shrink": F(5, 100), "riskfloor": F(1, 10)}
    test = trial(20_000, Cost("eps", F(4)), (1, 0), (0, 0), **more)

    def rounded(rng: np.random.Generator, n: int, truth: list[float]) -> Simulated:
        time, seen, x = study(rng, n, truth)
        return np.ceil(time * 12), seen, x

    design = design_of(test.params, test.case.facts)
    leaf = test.loss.leaves[0]
    noise = Noise("laplace", float(leaf.scale))
    limit = threshold(0.05, noise)
    rng = np.random.default_rng(8)
    passed = [
        power(limit, tied(rounded(rng, 20_000, [1, 0]), design), 0.0, noise) for _ in range(6)
    ]
    assert np.mean(passed) > 0.2


def tied(data: Simulated, design: Design) -> float:
    """L with Breslow's ties."""
    time, seen, x = data
    order = np.argsort(-time, kind="stable")
    b0, b1 = (np.array([float(v) for v in b]) for b in (design.null, design.alternative))
    s0, s1, late = x[order] @ b0, x[order] @ b1, time[order]
    ends = np.searchsorted(-late, -late, side="right") - 1
    drop = (np.log(np.cumsum(np.exp(s1))) - np.log(np.cumsum(np.exp(s0))))[ends]
    weight = np.minimum(1.0, (ends + 1) / max(design.floor, 1))
    return float((seen[order] * weight * (s1 - s0 - drop)).sum())


def rossi(event_rate: str, **more: Any) -> Trial:
    columns = [
        Column("fin", "boolean"),
        Column("age", "real", F(16), F(60)),
        Column("prio", "real", F(0), F(20)),
    ]
    params = options([0, 0, 0], ["-0.4", "-0.03", "0.09"], event_rate=F(event_rate), **more)
    return Trial(MECHANISM, case("rossi", params, facts(432, columns), Cost("eps", F(1))))


@pytest.mark.parametrize(("event_rate", "power_"), [("0.5", 0.71), ("0.264", 0.21)])
def test_the_forecast_of_rossi(event_rate: str, power_: float) -> None:
    test = rossi(event_rate)
    assert test.params.shrink in (F(1, 10), F(15, 100))
    assert test.params.spread == F("0.6546")
    shown = forecast(test.params, test.case.facts, test.loss)
    assert shown["power"] == pytest.approx(power_, abs=0.02)
    assert shown["riskfloor_records"] == 44
    assert shown["warnings"] == []


def test_a_hopeless_test_is_warned_of() -> None:
    columns = [Column("x", "real", F(0), F(1))]
    small = case("small", options([0], ["0.1"]), facts(100, columns), Cost("eps", F(1, 10)))
    test = Trial(MECHANISM, small)
    (warning,) = forecast(test.params, small.facts, test.loss)["warnings"]
    assert warning["code"] == "DPQL-W212"


def outlook(test: Trial) -> Outlook:
    noise = Noise("laplace", float(test.loss.leaves[0].scale))
    design = design_of(test.params, test.case.facts)
    return Outlook(design, _synthetic(test.params, test.case.facts), noise, 0.05, "finite")


def test_the_detectable_effect_has_a_power_of_eighty_per_cent() -> None:
    for n in (500, 2000):
        found = outlook(trial(n, Cost("eps", F(1)), **SHRUNK))
        least = found.detectable()
        assert least is not None
        share = F(str(least))
        assert found.power(found.synthetic.toward(share).moments(found.design)) == pytest.approx(
            0.8, abs=0.05
        )
    hopeless = outlook(trial(100, Cost("eps", F(1, 10)), **PLAIN))
    assert hopeless.detectable() is None


def test_the_error_of_the_forecast_is_its_spread_over_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = outlook(trial(500, Cost("eps", F(1, 2)), **SHRUNK))
    powers, errors = [], []
    for seed in range(16):
        synthetic._tables.cache_clear()
        synthetic._moments.cache_clear()
        monkeypatch.setattr(synthetic, "SEED", seed)
        moments = found.synthetic.moments(found.design)
        powers.append(found.power(moments))
        errors.append(found.power_error(moments))
    synthetic._tables.cache_clear()
    synthetic._moments.cache_clear()
    assert np.std(powers) == pytest.approx(np.mean(errors), rel=0.5)


def test_a_wider_spread_means_more_power() -> None:
    narrow, wide = (
        forecast(t.params, t.case.facts, t.loss)["power"]
        for t in (rossi("0.5", spread=F(3, 10)), rossi("0.5", spread=F(1)))
    )
    assert narrow < wide


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000, 4000])
@pytest.mark.parametrize(
    "cost",
    [Cost("eps", F(1, 2)), Cost("eps", F(1)), Cost("eps", F(2)), Cost("mu", F(1, 2)),
     Cost("mu", F(1))],
)  # fmt: skip
@pytest.mark.parametrize("more", [PLAIN, FLOOR, SHRUNK])
def test_the_level_holds_in_every_cell(n: int, cost: Cost, more: dict[str, F]) -> None:
    for rule in ("finite", "normal"):
        test = trial(n, cost, rule=rule, **more)
        null, error = rejections(test, [0, 0], 2000, 9)
        assert null <= 0.05 + 3 * error


TABLE = [
    (200, "0.5", ((0.038, 0.064), (0.036, 0.066), (0.034, 0.112))),
    (200, "1", ((0.028, 0.082), (0.026, 0.088), (0.020, 0.224))),
    (200, "2", ((0.016, 0.144), (0.015, 0.167), (0.007, 0.533))),
    (500, "0.5", ((0.026, 0.085), (0.022, 0.102), (0.029, 0.571))),
    (500, "1", ((0.015, 0.152), (0.010, 0.217), (0.018, 0.949))),
    (500, "2", ((0.005, 0.457), (0.003, 0.667), (0.007, 0.999))),
    (1000, "0.25", ((0.027, 0.081), (0.022, 0.101), (0.033, 0.642))),
    (1000, "0.5", ((0.016, 0.135), (0.010, 0.212), (0.024, 0.973))),
    (1000, "1", ((0.006, 0.363), (0.003, 0.680), (0.014, 1.00))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "eps", "cells"), TABLE)
def test_every_cell_of_the_table(n: int, eps: str, cells: Any) -> None:
    """Values of an independent simulation with 1000 data sets and 50 draws of noise each."""
    for more, (level, found) in zip((PLAIN, FLOOR, SHRUNK), cells):
        test = trial(n, Cost("eps", F(eps)), **more)
        for truth, wanted in (([0, 0], level), ([1, 0], found)):
            share, error = rejections(test, truth, 1000, n)
            assert share == pytest.approx(wanted, abs=4 * error * 2**0.5 + 0.004)
