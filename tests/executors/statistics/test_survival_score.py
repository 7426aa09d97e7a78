"""The score with its trace against hand calculations, other packages and 200 bits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx
from lifelines import datasets
from lifelines.fitters.coxph_fitter import SemiParametricPHFitter
from lifelines.statistics import logrank_test
from statsmodels.duration.hazard_regression import PHReg

from executors.pricing.survival_domain import Domain, box
from executors.pricing.survival_score import score_error, trace_error
from executors.statistics.survival_score import score_and_trace, score_of
from executors.summaries import survival_groups, survival_split
from planner.facts import Column
from planner.mechanism import Query
from suites.survival_cases import table
from suites.survival_studies import studies
from suites.table_reader import TableReader

FAR = F(10**9)
WIDE = (F(-1000), F(3000))


def question(b0: Sequence[Any], domain: Domain, **more: Any) -> Query:
    """A query for the score of covariates x0, x1, ..."""
    bounds = zip(domain.lo, domain.hi)
    columns = [Column(f"x{j}", "real", lo, hi) for j, (lo, hi) in enumerate(bounds)]
    return Query(
        "survival_groups",
        (Column("time", "duration", F(0), FAR), Column("seen", "event"), *columns),
        (
            ("domain", domain),
            ("parts", ("score",)),
            ("null", tuple(F(str(b)) for b in b0)),
            *more.items(),
        ),
    )


def data(time: Any, seen: Any, x: np.ndarray) -> TableReader:
    return TableReader(table(time, seen, {f"x{j}": column for j, column in enumerate(x.T)}))


def found(
    time: Any, seen: Any, x: Any, b0: Sequence[Any], domain: Domain, floor: int = 0
) -> tuple[list[float], float]:
    """U and V by the summary and the statistics of this project."""
    rows = data(time, seen, np.asarray(x, dtype=float))
    groups = survival_groups.summarise(question(b0, domain), rows)
    score, trace = score_and_trace(groups, floor)
    assert score == score_of(groups, floor)
    return score, trace


def unit_ball(d: int) -> Domain:
    return Domain((F(-1),) * d, (F(1),) * d, (F(0),) * d, F(1))


def wide_box(d: int) -> Domain:
    return box([WIDE[0]] * d, [WIDE[1]] * d)


# --- by hand and to 30 digits --------------------------------------------------------------------


def test_three_records_by_hand() -> None:
    score, trace = found([1, 2, 3, 4], [1, 1, 0, 1], [[1], [0], [1], [0]], [0], box([F(0)], [F(1)]))
    assert score == pytest.approx([1 / 2 - 1 / 3 + 0], abs=1e-15)
    assert trace == pytest.approx(1 / 4 + 2 / 9 + 0, abs=1e-15)


def test_ties_by_breslow() -> None:
    x = [[0.5], [-0.5], [1], [0], [-1], [0.25]]
    score, trace = found([1, 1, 2, 2, 2, 3], [1, 1, 1, 0, 1, 1], x, ["0.2"], unit_ball(1))
    assert score == pytest.approx([-0.576287948790605], abs=1e-11)  # the ball is 2^-40 smaller
    assert trace == pytest.approx(1.79998315429738, abs=1e-11)


@pytest.mark.parametrize(
    ("floor", "score", "trace"),
    [
        (0, (-1.09329341562648, -1.84552568765625), 1.65607162218734),
        (4, (-1.27102451851408, -1.53942264180908), 1.35281620644338),
    ],
)
def test_two_covariates_in_a_ball(floor: int, score: tuple[float, float], trace: float) -> None:
    x = [[0.1, 0.2], [-0.3, 0.4], [0.5, -0.5], [0, 0.9], [-0.6, 0], [0.7, 0.1], [-0.2, -0.8]]
    time, seen = [5, 3, 3, 8, 1, 6, 2], [1, 1, 0, 0, 1, 1, 1]
    u, v = found(time, seen, x, [0, "0.5"], unit_ball(2), floor)
    assert u == pytest.approx(score, abs=1e-11)
    assert v == pytest.approx(trace, abs=1e-11)


def test_without_events_both_are_zero() -> None:
    assert found([1, 2, 3], [0, 0, 0], [[0], [1], [1]], [0], box([F(0)], [F(1)])) == ([0.0], 0.0)


@pytest.mark.parametrize("floor", [0, 44])
def test_rossi_in_scaled_units(floor: int) -> None:
    rossi = datasets.load_rossi()
    age, prio = rossi.age.clip(16, 60), rossi.prio.clip(0, 20)
    x = np.column_stack([rossi.fin, (age - 38) / 22, (prio - 10) / 10])
    domain = box([F(0), F(-1), F(-1)], [F(1), F(1), F(1)])
    score, trace = found(rossi.week, rossi.arrest, x, [0, 0, 0], domain, floor)
    assert score == pytest.approx(
        [-10.4255572315904, -10.6001700558832, 10.8754867527930], abs=1e-9
    )
    assert trace == pytest.approx(45.4929032689112, abs=1e-9)


# --- other packages ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(studies()))
def test_ties_agree_with_statsmodels(name: str) -> None:
    rows, time, seen, columns, b0, b1 = studies()[name]
    x = rows[columns].to_numpy(dtype=float)
    model = PHReg(rows[time].astype(float), x, status=rows[seen].to_numpy(), ties="breslow")
    for beta in (b0, b1):
        score, trace = found(rows[time], rows[seen], x, beta, wide_box(len(columns)))
        at = np.array(beta, dtype=float)
        assert score == pytest.approx(model.score(at), abs=1e-9, rel=1e-12)
        assert trace == pytest.approx(-np.trace(model.hessian(at)), rel=1e-9)


@pytest.mark.parametrize("name", list(studies()))
def test_distinct_times_agree_with_lifelines(name: str) -> None:
    rows, time, seen, columns, b0, b1 = studies()[name]
    rank = rows[time].rank(method="first")
    ordered = rows.assign(rank=rank).sort_values("rank").reset_index(drop=True)
    x, events = ordered[columns].astype(float), ordered[seen].astype(bool)
    weights = pd.Series(np.ones(len(x)))
    for beta in (b0, b1):
        score, trace = found(
            ordered["rank"], ordered[seen], x.to_numpy(), beta, wide_box(len(columns))
        )
        hessian, gradient, _ = SemiParametricPHFitter()._get_efron_values_single(
            x, ordered["rank"], events, weights, None, np.array(beta, dtype=float)
        )
        assert score == pytest.approx(gradient, abs=1e-9, rel=1e-12)
        assert trace == pytest.approx(-np.trace(hessian), rel=1e-9)


def two_groups() -> dict[str, tuple[Any, Any, np.ndarray]]:
    """Time, event, group (0 or 1) of four studies."""
    rossi, breast = datasets.load_rossi(), datasets.load_gbsg2()
    wings, lung = datasets.load_waltons(), datasets.load_lung()
    return {
        "rossi": (rossi.week, rossi.arrest, rossi.fin.to_numpy(dtype=float)),
        "gbsg2": (breast.time, breast.cens, (breast.horTh == "yes").to_numpy(dtype=float)),
        "waltons": (wings["T"], wings["E"], (wings.group == "miR-137").to_numpy(dtype=float)),
        "lung": (lung.time, lung.status.astype(float), lung.sex.to_numpy(dtype=float) - 1),
    }


@pytest.mark.parametrize("name", list(two_groups()))
def test_two_groups_agree_with_statsmodels_and_lifelines(name: str) -> None:
    """With ties against statsmodels; with the ties broken, U^2/V is lifelines' statistic.

    Its variance has a correction for tied events, which is 1 where no two are tied.
    """
    time, seen, group = two_groups()[name]
    score, trace = found(time, seen, group[:, None], [0], box([F(0)], [F(1)]))
    model = PHReg(np.asarray(time, float), group[:, None], status=np.asarray(seen), ties="breslow")
    assert score == pytest.approx(model.score(np.zeros(1)), abs=1e-9)
    assert trace == pytest.approx(-model.hessian(np.zeros(1))[0, 0], abs=1e-9)
    rank = pd.Series(np.asarray(time)).rank(method="first").to_numpy()
    (u,), v = found(rank, seen, group[:, None], [0], box([F(0)], [F(1)]))
    arms = [(rank[group == g], np.asarray(seen)[group == g]) for g in (0, 1)]
    test = logrank_test(arms[0][0], arms[1][0], arms[0][1], arms[1][1])
    assert u * u / v == pytest.approx(test.test_statistic, rel=1e-9)


def test_with_a_floor_of_all_records_it_is_gehans_statistic() -> None:
    """The number of pairs in which a record of group 0 outlives one of group 1, less the others."""
    rng = np.random.default_rng(4)
    n = 60
    time, seen = rng.permutation(n) + 1.0, rng.random(n) < 0.6
    group = rng.integers(0, 2, n)
    pairs = 0
    for i in range(n):
        for j in range(n):
            if seen[i] and time[j] > time[i]:
                pairs += int(group[i]) - int(group[j])
    (u,), _ = found(time, seen, group[:, None], [0], box([F(0)], [F(1)]), floor=n)
    assert u == pytest.approx(pairs / n, abs=1e-12)


# --- units, weights, parts -----------------------------------------------------------------------


def test_weights_are_the_share_of_the_riskfloor_still_at_risk() -> None:
    rng = np.random.default_rng(3)
    n, floor, b0 = 50, 20, np.array([0.5, -1.0])
    time, seen, x = rng.integers(1, 30, n), rng.random(n) < 0.7, rng.uniform(0, 1, (n, 2))
    score, trace = np.zeros(2), 0.0
    for i in np.flatnonzero(seen):
        later = time >= time[i]
        share = np.exp(x[later] @ b0)
        share /= share.sum()
        mean = share @ x[later]
        weight = min(1.0, later.sum() / floor)
        score += weight * (x[i] - mean)
        trace += weight**2 * float(share @ ((x[later] - mean) ** 2).sum(axis=1))
    u, v = found(time, seen, x, ["0.5", "-1"], box([F(0)] * 2, [F(1)] * 2), floor)
    assert u == pytest.approx(score, abs=1e-12)
    assert v == pytest.approx(trace, abs=1e-12)


def test_a_scale_multiplies_each_coordinate() -> None:
    rng = np.random.default_rng(5)
    n = 40
    time, seen, x = rng.integers(1, 30, n), rng.random(n) < 0.7, rng.uniform(-1, 3, (n, 2))
    domain = box([F(-1)] * 2, [F(3)] * 2)
    scaled = question(["0.5", "0"], domain, scale=(F(1, 2), F(3)))
    groups = survival_groups.summarise(scaled, data(time, seen, x))
    score, trace = score_and_trace(groups, 0)
    plain, whole = found(time, seen, x, ["0.5", "0"], domain)
    _, first = found(time, seen, x * [1, 0], ["0.5", "0"], domain)
    assert score == pytest.approx([plain[0] / 2, plain[1] * 3], rel=1e-12)
    assert trace == pytest.approx(first / 4 + (whole - first) * 9, rel=1e-12)


@pytest.mark.parametrize("batch", [7, 1000])
@pytest.mark.parametrize("first", [0, 1, 20, 99, 100])
def test_a_split_table_has_the_groups_of_its_parts(first: int, batch: int) -> None:
    rng = np.random.default_rng(6)
    n, domain = 100, box([F(0)] * 2, [F(1)] * 2)
    time, seen, x = rng.integers(1, 30, n), rng.random(n) < 0.7, rng.uniform(0, 1, (n, 2))

    class Chopped(TableReader):
        def batches(self, columns: Any, order_by: Any = None, rows: int = 0) -> Any:
            return super().batches(columns, order_by, batch)

    reader = Chopped(data(time, seen, x).table)
    both = survival_split.summarise(question([0, 0], domain, first=first), reader)
    assert (both.rows, both.first.rows) == (n, first)
    for part, rows in ((both.first, slice(0, first)), (both.others, slice(first, n))):
        if part.rows:
            expected = found(time[rows], seen[rows], x[rows], [0, 0], domain)
            assert score_and_trace(part, 0)[0] == pytest.approx(expected[0], abs=1e-12)
            assert score_and_trace(part, 0)[1] == pytest.approx(expected[1], abs=1e-12)


def test_without_parts_only_times_are_counted() -> None:
    bare = Query(
        "survival_groups",
        (Column("time", "duration", F(0), FAR), Column("seen", "event")),
        (("domain", box([], [])), ("parts", ())),
    )
    groups = survival_groups.summarise(bare, data([3, 1, 3, None], [1, 0, 1, 1], np.zeros((4, 0))))
    assert groups.time.tolist() == [0, 1, 3]
    assert (groups.count.tolist(), groups.events.tolist()) == ([1, 1, 2], [0, 0, 2])


# --- floating point ------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [True, False])
def test_the_floating_point_error_is_inside_the_slack(tied: bool) -> None:
    """20 000 records with a wide score, against the same sums with 200 bits."""
    rng = np.random.default_rng(9)
    n, b0 = 20_000, 6
    time = rng.integers(0, 4000, n) if tied else rng.permutation(n)
    seen, x = rng.random(n) < 0.5, rng.uniform(0, 1, n)
    (u,), v = found(time, seen, x[:, None], [b0], box([F(0)], [F(1)]))
    with ctx.workprec(200):
        order = np.argsort(-time, kind="stable")
        s, sx, sxx, score, trace, i = arb(0), arb(0), arb(0), arb(0), arb(0), 0
        while i < n:
            j = i
            while j < n and time[order[j]] == time[order[i]]:
                value = arb(float(x[order[j]]))
                weight = (b0 * value).exp()
                s, sx, sxx = s + weight, sx + weight * value, sxx + weight * value**2
                j += 1
            mean = sx / s
            for row in order[i:j]:
                if seen[row]:
                    score += arb(float(x[row])) - mean
                    trace += sxx / s - mean**2
            i = j
        for exact, mine, slack in (
            (score, u, score_error(n, 1, F(b0), F(1))),
            (trace, v, trace_error(n, 1, F(b0), F(1))),
        ):
            assert abs(exact - arb(mine)) < arb(float(slack)) / 100


def test_millions_of_tied_records_lose_nothing() -> None:
    """More entries than wait for a merge: parts are merged as they come."""
    rng = np.random.default_rng(10)
    x = rng.integers(0, 2, 300_000).astype(float)
    time = rng.integers(1, 400, len(x)).astype(float)
    whole = question([0], box([F(0)], [F(1)]))
    small = survival_groups.PENDING
    try:
        survival_groups.PENDING = 1000
        groups = survival_groups.summarise(whole, FastReader(time, x))
    finally:
        survival_groups.PENDING = small
    plain = survival_groups.summarise(whole, FastReader(time, x))
    assert groups.rows == len(x)
    assert np.array_equal(groups.count, plain.count)
    for name in ("null", "score", "square", "seen"):
        assert np.array_equal(groups.part(name)[0], plain.part(name)[0])


class FastReader:
    """Batches of two arrays, every record an event."""

    def __init__(self, time: np.ndarray, x: np.ndarray) -> None:
        self.time, self.x = time, x

    def batches(self, columns: Any, order_by: Any = None, rows: int = 65_536) -> Any:
        import pyarrow as pa

        for start in range(0, len(self.x), rows):
            part = slice(start, start + rows)
            ones = np.ones(len(self.x[part]))
            arrays = [pa.array(values) for values in (self.time[part], ones, self.x[part])]
            yield pa.RecordBatch.from_arrays(arrays, names=["time", "seen", "x0"])

    def close(self) -> None:
        """Nothing to close."""
