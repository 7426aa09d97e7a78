"""Grouping, clamping and neutralising of survival records."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.pricing.survival_domain import Domain, box
from executors.summaries.survival_groups import SurvivalGroups, summarise
from executors.summaries.survival_records import inside
from planner.facts import Column
from planner.mechanism import Query
from suites.survival_cases import table
from suites.table_reader import TableReader

COLUMNS = (
    Column("time", "duration", F(0), F(10)),
    Column("seen", "event"),
    Column("x", "real", F(0), F(2)),
)


def query(domain: Domain | None = None, columns: Any = COLUMNS) -> Query:
    d = len(columns) - 2
    domain = domain or box([F(0)] * d, [F(2)] * d)
    parameters = (("domain", domain), ("null", (F(1),) * d), ("alternative", (F(3),) * d))
    return Query("survival_groups", columns, parameters)


def groups(time: Any, seen: Any, x: Any) -> SurvivalGroups:
    return summarise(query(), TableReader(table(time, seen, {"x": x})))


def fields(summary: SurvivalGroups) -> tuple[Any, ...]:
    pairs = (summary.part(name) for name in ("gain", "null", "alternative"))
    sums = [(high + low)[0].tolist() for high, low in pairs]
    return (summary.time.tolist(), summary.count.tolist(), summary.events.tolist(), *sums)


def test_groups_count_and_add_by_distinct_time() -> None:
    found = groups([3, 1, 3, 2], [1, 0, 1, 1], [1.5, 0, 0.5, 1])
    time, count, events, gain, null, alternative = fields(found)
    assert (time, count, events) == ([1, 2, 3], [1, 1, 2], [0, 1, 2])
    assert gain == [0, 0, 0]  # 2 (x - 1), summed over events
    assert null == pytest.approx([math.exp(-1), 1, math.exp(0.5) + math.exp(-0.5)])
    assert alternative == pytest.approx([math.exp(-3), 1, math.exp(1.5) + math.exp(-1.5)])
    assert found.rows == 4


def test_a_record_that_cannot_be_read_is_emptied_as_a_whole() -> None:
    nan, inf = math.nan, math.inf
    neutral = fields(groups([0.0], [0], [1.0]))
    for time, seen, x in (
        (nan, 1, 0.5), (inf, 1, 0.5), (-inf, 1, 0.5), (-1.0, 1, 0.5), (None, 1, 0.5),
        (5, nan, 0.5), (5, None, 0.5), (5, 2, 0.5), (5, -1, 0.5), (5, 0.5, 0.5),
        (5, 1, nan), (5, 1, None), (5, 1, inf), (5, 1, -inf), (99, 1, None), (99, 3, 0.5),
    ):  # fmt: skip
        assert fields(groups([time], [seen], [x])) == neutral


def test_a_time_beyond_the_range_is_a_censoring_at_its_end() -> None:
    assert fields(groups([11, 1e308], [1, 0], [0.5, 0.5])) == fields(
        groups([10, 10], [0, 0], [0.5, 0.5])
    )
    assert fields(groups([10], [1], [0.5]))[2] == [1]


def test_covariates_are_clamped_to_their_box() -> None:
    assert fields(groups([5, 6], [1, 1], [-3, 1e300])) == fields(groups([5, 6], [1, 1], [0, 2]))


def test_covariates_are_drawn_into_the_ball_from_the_box() -> None:
    columns = (*COLUMNS[:2], Column("x", "real", F(-2), F(2)), Column("z", "real", F(-2), F(2)))
    ball = Domain((F(-2), F(-2)), (F(2), F(2)), (F(0), F(0)), F(1))
    data = table([1, 2, 3], [1, 1, 1], {"x": [3.0, 0.6, 0.0], "z": [-9.0, 0.8, 1.7]})
    found = summarise(query(ball, columns), TableReader(data))
    half = math.sqrt(0.5)
    assert found.part("gain")[0][0] == pytest.approx([2 * (half - half), 2 * 1.4, 2.0], abs=1e-11)


def test_zero_and_minus_zero_are_one_time() -> None:
    assert groups([0.0, -0.0], [1, 1], [1, 1]).time.tolist() == [0.0]


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_batches_and_partitions_give_the_same_groups(rows: int) -> None:
    rng = np.random.default_rng(rows)
    n = 1000
    data = table(rng.integers(0, 12, n), rng.integers(0, 2, n), {"x": rng.uniform(-1, 3, n)})

    class Chopped(TableReader):
        def batches(self, columns: Any, order_by: Any = None, _: int = 0) -> Any:
            return super().batches(columns, order_by, rows)

    whole = summarise(query(), TableReader(data))
    chopped = summarise(query(), Chopped(data))
    first, second = (summarise(query(), TableReader(part)) for part in (data[:400], data[400:]))
    for other in (chopped, first.plus(second), second.plus(first)):
        assert other.rows == n
        assert fields(other)[:3] == fields(whole)[:3]
        for mine, its in zip(fields(other)[3:], fields(whole)[3:]):
            assert mine == pytest.approx(its, rel=1e-15, abs=1e-15)


def test_an_empty_table_has_no_groups() -> None:
    nothing = groups([], [], [])
    assert nothing.rows == 0
    one = groups([1], [1], [1])
    assert fields(one.plus(nothing)) == fields(one)


def test_booleans_and_integers_are_read() -> None:
    data = pa.table(
        {
            "time": pa.array([1, 2, None], pa.int32()),
            "seen": pa.array([True, False, True]),
            "x": pa.array([1, 0, 1], pa.int8()),
        }
    )
    assert fields(summarise(query(), TableReader(data)))[:3] == ([0, 1, 2], [1, 1, 1], [0, 1, 0])


def test_bounds_are_rounded_inwards() -> None:
    lo, hi = inside(F(1, 10), F(3, 10))
    assert F(lo) >= F(1, 10)
    assert F(hi) <= F(3, 10)
    assert math.nextafter(lo, 0) < 0.1 <= lo
    assert inside(F(-1), F(2)) == (-1.0, 2.0)


def test_a_category_of_two_levels_counts_as_zero_and_one_and_anything_else_empties_the_record() -> (
    None
):
    arm = Column("arm", "category", levels=("placebo", "drug"))
    asked = Query(
        "survival_groups",
        (*COLUMNS[:2], arm),
        (("domain", box([F(0)], [F(1)])), ("parts", ("score",)), ("null", (F(0),))),
    )
    arms = ["drug", "placebo", "Drug", None, "drug "]
    data = pa.table({"time": [1.0, 2.0, 3.0, 4.0, 5.0], "seen": [1.0] * 5, "arm": arms})
    found = summarise(asked, TableReader(data))
    assert found.time.tolist() == [0, 1, 2]
    assert (found.count.tolist(), found.events.tolist()) == ([3, 1, 1], [0, 1, 1])
    assert found.part("seen")[0][0].tolist() == [0.0, 0.5, -0.5]  # about the centre
