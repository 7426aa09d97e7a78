"""A person's rows beyond `MAX k`, with rows that belong to nobody."""

import math
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from executors.data.bind import open_source
from executors.data.settings import Settings
from executors.data.source import Clamp, Plain
from planner.charge_token import Token

TOKEN = Token("rid", "hash", ("key",))


def kept(units, k, table=None, order_by=None, settings=None):
    """Which rows count."""
    table = table or pa.table({"u": units, "x": [1.0] * len(units)})
    reader = open_source(table, settings).open(TOKEN, "u", k)
    batches = list(reader.batches([Clamp("x", 0.0, 1.0, 0.0)], order_by, rows=7))
    return [value == 1.0 for batch in batches for value in batch.column(0).to_pylist()]


def wanted(units, k):
    """The rule, row by row."""
    seen, out = {}, []
    for unit in units:
        seen[unit] = seen.get(unit, 0) + 1
        nobody = unit is None or unit != unit or (isinstance(unit, str) and not unit.strip())
        out.append(not nobody and seen[unit] <= k)
    return out


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(
    "units",
    [
        [1, 1, 2, None, 1, None, 3, 2],
        ["a", "A", "a ", "a", "", " ", "\t", None, "a"],
        [0.5, math.nan, -0.0, 0.0, 0.5, None],
        [True, False, True, None],
        [2**63 - 1, -(2**63), 2**63 - 1],
    ],
)
def test_the_first_rows_of_each_unit_count(units, k):
    column = pa.array(units, from_pandas=False)
    assert kept(column, k) == wanted(units, k)


def test_rows_of_nobody_never_count():
    assert kept(pa.array([None, None, None], pa.int64()), 5) == [False] * 3


def test_csv_parquet_and_tables_keep_the_same_rows(tmp_path):
    units = random.Random(3).choices([*"abcdefg", None], k=500)
    table = pa.table({"u": units, "x": [1.0] * 500})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=60)
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for binding in (tmp_path / "t.parquet", tmp_path / "t.csv"):
        assert kept(units, 3, binding) == wanted(units, 3)
    assert kept(units, 3) == wanted(units, 3)


def test_contents_do_not_choose_the_rows_that_count():
    """Neighbours keep the same rows: at most k of them differ, and no other row moves."""
    rng = random.Random(5)
    for _ in range(10):
        units = rng.choices([1, 2, 3, 4, None], k=40)
        first = [rng.uniform(0, 1) for _ in units]
        second = [rng.uniform(0, 1) if unit in (2, None) else x for unit, x in zip(units, first)]
        made = []
        for content in (first, second):
            table = pa.table({"u": units, "x": content})
            reader = open_source(table).open(TOKEN, "u", 3)
            (batch,) = reader.batches([Clamp("x", 0.0, 1.0, -1.0), Plain("x")])
            made.append(batch.column(0).to_pylist())
        different = [a != b for a, b in zip(*made)]
        assert sum(different) <= 3
        assert all(units[row] == 2 for row, is_other in enumerate(different) if is_other)


def test_the_rule_without_the_neutral_rows_would_let_a_person_move_more():
    """If rows of nobody counted one by one, a person with k rows and one such row moves k + 1."""
    units = pa.array([1, 1, None], pa.int64())
    as_one_unit_each = [True, True, True]
    assert sum(as_one_unit_each) > 2
    assert sum(kept(units, 2)) == 2


def test_many_rows_keep_their_order_on_many_threads():
    rows = 300_000
    numbers = np.arange(rows, dtype=np.float64)
    units = np.random.default_rng(1).integers(0, rows // 3, rows)
    table = pa.table({"u": units, "x": numbers})
    late = np.ones(rows, dtype=bool)
    late[np.unique(units, return_index=True)[1]] = False
    settings = Settings(threads=4)
    for order in (None, "x"):
        reader = open_source(table, settings).open(TOKEN, "u", 1)
        made = np.concatenate(
            [b.column(0).to_numpy() for b in reader.batches([Clamp("x", 0, 1e6, 0.0)], order)]
        )
        expected = np.where(late, 0.0, numbers)
        assert np.array_equal(made, expected if order is None else np.sort(expected))


def test_max_rows_is_at_least_one():
    with pytest.raises(ValueError):
        open_source(pa.table({"u": [1]})).open(TOKEN, "u", 0)
