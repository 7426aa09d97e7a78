"""Rows of log e-values become integers that no row, order or file layout can betray."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.pricing.evalues import sensitivity_steps
from executors.summaries.log_evalues import (
    LogEvalues,
    neutral_steps,
    summarise,
    to_steps,
)
from planner.facts import Column
from planner.mechanism import Query
from suites.table_reader import TableReader

VALUE = Column("log_e", "log_evalue", sensitivity=Fraction(3, 10), asserted_by="the office")
NAME = Column("snp", "id")


def read(values: list[Any], names: list[Any] | None = None, grid: int = 40) -> LogEvalues:
    columns = {"log_e": pa.array(values, from_pandas=False)}
    asked: tuple[Column, ...] = (VALUE,)
    if names is not None:
        columns["snp"] = pa.array(names)
        asked = (VALUE, NAME)
    query = Query("log_evalues", asked, (("q", grid),))
    return summarise(query, TableReader(pa.table(columns)))


def nats(summary: LogEvalues) -> list[float]:
    return [int(x) / 2**summary.grid for x in summary.x]


def test_rows_without_a_number_become_a_small_evalue() -> None:
    found = nats(read([-math.inf, math.nan, 0.0, math.inf]))
    assert found == pytest.approx([-13.8629436, -13.8629436, 0.0, 999.999999], abs=1e-6)


def test_unreadable_and_missing_rows_become_it_too() -> None:
    found = read(["oops", "", None, "1.5", "inf", "-inf", "nan", "1e999"])
    neutral = neutral_steps(40)
    assert found.x[[0, 1, 2, 5, 6]].tolist() == [neutral] * 5
    assert nats(found)[3] == pytest.approx(1.5, abs=1e-5)
    assert found.x[4] == found.x[7] == to_steps(np.array([1000.0]), 40)[0]


@given(
    st.lists(
        st.one_of(st.floats(-40, 1010), st.floats(allow_nan=True, allow_infinity=True)),
        min_size=1,
        max_size=40,
    ),
    st.integers(20, 40),
)
def test_an_integer_never_exceeds_its_evalue(values: list[float], grid: int) -> None:
    with mp.workdps(60):
        f = mp.mpf(2) ** -20
        for value, x in zip(values, to_steps(np.array(values), grid)):
            exact = mp.ninf if math.isnan(value) else mp.mpf(min(value, 1000.0))
            truth = mp.log((1 - f) * mp.exp(exact) + f) * mp.mpf(2) ** grid
            assert 0.75 <= truth - int(x) <= 2.25


@given(
    st.lists(st.floats(-30, 1005), min_size=1, max_size=30),
    st.floats(1e-6, 40),
    st.integers(20, 40),
    st.randoms(use_true_random=False),
)
def test_neighbours_move_by_no_more_than_the_steps(
    values: list[float], sensitivity: float, grid: int, random: Any
) -> None:
    first = np.array(values)
    moves = np.array([random.choice((-1.0, 1.0, 0.0, 0.5)) for _ in values]) * sensitivity
    second = first + moves
    # What the custodian asserts is about the stored numbers.
    moved = max(abs(Fraction(float(b)) - Fraction(float(a))) for a, b in zip(first, second))
    allowed = sensitivity_steps(max(moved, Fraction(1, 10**9)), grid)
    difference = np.abs(to_steps(first, grid) - to_steps(second, grid))
    assert int(difference.max()) <= allowed


@given(st.data())
def test_the_order_of_a_file_does_not_matter_with_identifiers(data: Any) -> None:
    names = data.draw(st.lists(st.sampled_from(["a", "b", "B", "é", "", None]), min_size=1))
    values = data.draw(st.lists(st.floats(-9, 9), min_size=len(names), max_size=len(names)))
    order = data.draw(st.permutations(range(len(names))))
    straight = read(values, names).aligned()
    turned = read([values[i] for i in order], [names[i] for i in order]).aligned()
    assert straight.x.tolist() == turned.x.tolist()
    assert [straight.name(i) for i in range(len(names))] == [
        turned.name(i) for i in range(len(names))
    ]


@given(st.data())
def test_repeated_identifiers_keep_the_sensitivity_in_any_order(data: Any) -> None:
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=9))
    count = len(names)
    values = data.draw(st.lists(st.floats(-9, 9), min_size=count, max_size=count))
    moves = data.draw(st.lists(st.sampled_from([-1.0, 1.0, 0.0]), min_size=count, max_size=count))
    order = data.draw(st.permutations(range(count)))
    moved = [value + move for value, move in zip(values, moves)]
    first = read(values, names).aligned()
    second = read([moved[i] for i in order], [names[i] for i in order]).aligned()
    assert int(np.abs(first.x - second.x).max()) <= sensitivity_steps(Fraction(1), 40)


def test_rows_of_one_identifier_are_one_hypothesis() -> None:
    found = read([5.0, 3.0, 9.0, 1.0, 7.0], ["b", "a", "b", None, "c"]).aligned()
    assert [found.name(i) for i in range(5)] == ["", "a", "b", "b", "c"]
    assert nats(found) == pytest.approx([1, 3, 5, -13.8629436112, 7], abs=1e-5)


def test_rows_without_identifiers_are_named_by_their_place() -> None:
    found = read([5.0, 3.0]).aligned()
    assert [found.name(0), found.name(1)] == [1, 2]
    assert found.rows == 2


def test_parts_of_a_table_add_up_to_the_whole() -> None:
    values = [float(i) for i in range(9)]
    names = list("ihgfedcba")
    whole = read(values, names).aligned()
    parts = read(values[:4], names[:4]).plus(read(values[4:], names[4:])).aligned()
    swapped = read(values[4:], names[4:]).plus(read(values[:4], names[:4])).aligned()
    assert whole.x.tolist() == parts.x.tolist() == swapped.x.tolist()
    empty = read([], [])
    assert empty.plus(read(values, names)).rows == 9
    assert read([1.0]).plus(read([2.0])).x.tolist() == read([1.0, 2.0]).x.tolist()
    with pytest.raises(ValueError, match="different queries"):
        read([1.0]).plus(read([1.0], grid=30))
    with pytest.raises(ValueError, match="different queries"):
        read([1.0]).plus(read([1.0], ["a"]))


def test_the_repair_of_impossible_evalues_keeps_their_mean() -> None:
    """E is 2 or missing with equal chance: as E = 1 the mean would be 1.5, as E = 0 it is 1."""
    made = [math.exp(value) for value in nats(read([math.log(2.0), None]))]
    assert sum(made) / 2 <= 1.0
