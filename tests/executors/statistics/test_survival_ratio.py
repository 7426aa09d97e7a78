"""The log partial likelihood ratio against hand calculations and other packages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lifelines import datasets
from lifelines.fitters.coxph_fitter import SemiParametricPHFitter
from statsmodels.duration.hazard_regression import PHReg

from executors.pricing.survival_domain import Domain, box
from executors.statistics.survival import log_ratio
from executors.summaries.survival_groups import summarise
from planner.facts import Column
from planner.mechanism import Query
from suites.survival_cases import table
from suites.survival_studies import studies
from suites.table_reader import TableReader

FAR = F(10**9)


def statistic(
    time: Any,
    seen: Any,
    x: Sequence[Sequence[float]],
    b0: Sequence[Any],
    b1: Sequence[Any],
    domain: Domain,
    floor: int = 0,
) -> float:
    """L by the summary and the statistic of this project."""
    x = np.asarray(x, dtype=float)
    names = [f"x{j}" for j in range(x.shape[1])]
    bounds = zip(names, domain.lo, domain.hi)
    columns = [Column(name, "real", lo, hi) for name, lo, hi in bounds]
    query = Query(
        "survival_groups",
        (Column("time", "duration", F(0), FAR), Column("seen", "event"), *columns),
        (
            ("domain", domain),
            ("null", tuple(F(str(b)) for b in b0)),
            ("alternative", tuple(F(str(b)) for b in b1)),
        ),
    )
    data = table(time, seen, dict(zip(names, x.T)))
    return log_ratio(summarise(query, TableReader(data)), floor)


def unit_ball(d: int) -> Domain:
    return Domain((F(-1),) * d, (F(1),) * d, (F(0),) * d, F(1))


def test_three_records_by_hand() -> None:
    found = statistic(
        [1, 2, 3, 4], [1, 1, 0, 1], [[1], [0], [1], [0]], [0], [1], box([F(0)], [F(1)])
    )
    e = math.e
    assert found == pytest.approx(1 - math.log((e + 1) / 2) - math.log((e + 2) / 3), abs=1e-15)
    assert found == pytest.approx(-0.0729469322222189, abs=1e-15)


def test_ties_by_breslow() -> None:
    x = [[0.5], [-0.5], [1], [0], [-1], [0.25]]
    found = statistic([1, 1, 2, 2, 2, 3], [1, 1, 1, 0, 1, 1], x, ["0.2"], ["-0.3"], unit_ball(1))
    assert found == pytest.approx(0.055912799133656, abs=1e-12)  # the ball is 2^-40 smaller


@pytest.mark.parametrize(("floor", "golden"), [(0, -0.769567587025807), (4, -0.861153593727354)])
def test_two_covariates_in_a_ball(floor: int, golden: float) -> None:
    x = [[0.1, 0.2], [-0.3, 0.4], [0.5, -0.5], [0, 0.9], [-0.6, 0], [0.7, 0.1], [-0.2, -0.8]]
    time, seen = [5, 3, 3, 8, 1, 6, 2], [1, 1, 0, 0, 1, 1, 1]
    found = statistic(time, seen, x, [0, "0.5"], ["0.6", "0.5"], unit_ball(2), floor)
    assert found == pytest.approx(golden, abs=1e-12)


def test_without_events_the_ratio_is_zero() -> None:
    found = statistic([1, 2, 3], [0, 0, 0], [[0], [1], [1]], [0], [1], box([F(0)], [F(1)]))
    assert found == 0.0


@pytest.mark.parametrize("floor", [0, 44])
def test_rossi_in_scaled_units(floor: int) -> None:
    data = datasets.load_rossi()
    x = np.column_stack(
        [data.fin, (data.age.clip(16, 60) - 38) / 22, (data.prio.clip(0, 20) - 10) / 10]
    )
    domain = box([F(0), F(-1), F(-1)], [F(1), F(1), F(1)])
    b1 = ["-0.4", "-0.6", "0.9"]
    found = statistic(data.week, data.arrest, x, [0, 0, 0], b1, domain, floor)
    assert found == pytest.approx(12.3411296459270, abs=1e-9)


@pytest.mark.parametrize("name", list(studies()))
def test_ties_agree_with_statsmodels(name: str) -> None:
    data, time, seen, columns, b0, b1 = studies()[name]
    x = data[columns].to_numpy(dtype=float)
    domain = box([F(-1000)] * len(columns), [F(3000)] * len(columns))
    found = statistic(data[time], data[seen], x, b0, b1, domain)
    model = PHReg(data[time].astype(float), x, status=data[seen].to_numpy(), ties="breslow")
    assert found == pytest.approx(
        model.loglike(np.array(b1)) - model.loglike(np.array(b0)), abs=1e-9
    )


@pytest.mark.parametrize("name", list(studies()))
def test_distinct_times_agree_with_lifelines(name: str) -> None:
    data, time, seen, columns, b0, b1 = studies()[name]
    rank = data[time].rank(method="first")
    ordered = data.assign(rank=rank).sort_values("rank").reset_index(drop=True)
    x = ordered[columns].astype(float)
    domain = box([F(-1000)] * len(columns), [F(3000)] * len(columns))
    found = statistic(ordered["rank"], ordered[seen], x.to_numpy(), b0, b1, domain)
    model = SemiParametricPHFitter()

    def likelihood(beta: list[float]) -> float:
        weights = pd.Series(np.ones(len(x)))
        events = ordered[seen].astype(bool)
        return model._get_efron_values_single(
            x, ordered["rank"], events, weights, None, np.array(beta)
        )[2]

    assert found == pytest.approx(likelihood(b1) - likelihood(b0), abs=1e-9)


def test_every_event_of_rossi_is_above_the_riskfloor() -> None:
    data, time, seen, columns, b0, b1 = studies()["rossi"]
    domain = box([F(-1000)] * 3, [F(3000)] * 3)
    x = data[columns].to_numpy(dtype=float)
    assert statistic(data[time], data[seen], x, b0, b1, domain, 44) == statistic(
        data[time], data[seen], x, b0, b1, domain
    )


def test_weights_are_the_share_of_the_riskfloor_still_at_risk() -> None:
    rng = np.random.default_rng(3)
    n, floor = 50, 20
    time, seen, x = rng.integers(1, 30, n), rng.random(n) < 0.7, rng.uniform(0, 1, (n, 1))
    expected = 0.0
    for i in range(n):
        later = time >= time[i]
        weight = min(1.0, later.sum() / floor)
        gain = x[i, 0] - math.log(np.exp(x[later, 0]).sum() / later.sum())
        expected += seen[i] * weight * gain
    found = statistic(time, seen, x, [0], [1], box([F(0)], [F(1)]), floor)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_floating_point_error_is_inside_the_slack() -> None:
    """20 000 records with a wide score, against the same sum with 200 bits."""
    from flint import arb, ctx

    rng = np.random.default_rng(9)
    n, b0, b1 = 20_000, 3, -4
    time = rng.integers(0, 4000, n)
    seen = rng.random(n) < 0.5
    x = rng.uniform(0, 1, n)
    found = statistic(time, seen, x[:, None], [b0], [b1], box([F(0)], [F(1)]))
    slack = 2.0**-48 * n * 5 * (1 + 7 + 3 + 4)
    with ctx.workprec(200):
        order = np.argsort(-time, kind="stable")
        s0, s1, total, i = arb(0), arb(0), arb(0), 0
        while i < n:
            j = i
            while j < n and time[order[j]] == time[order[i]]:
                value = arb(float(x[order[j]]))
                s0, s1, j = s0 + (b0 * value).exp(), s1 + (b1 * value).exp(), j + 1
            drop = s1.log() - s0.log()
            for row in order[i:j]:
                if seen[row]:
                    total += (b1 - b0) * arb(float(x[row])) - drop
            i = j
        assert abs(total - arb(found)) < arb(slack) / 100
