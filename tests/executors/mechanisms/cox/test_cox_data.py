"""Real sources give the groups that the plain reader of the tests gives, hostile rows included."""

from __future__ import annotations

import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from executors.data.bind import open_source
from executors.mechanisms.cox.cost import query
from executors.statistics.survival import log_ratio
from executors.summaries.survival_groups import SurvivalGroups, summarise
from planner.charge_token import Token
from suites.survival_cases import facts, options, table, unit
from suites.table_reader import TableReader

WHERE = facts(1000, unit("x", "z"))
ASKED = query(options([0, 0], [1, -1], shrink=F(1)), WHERE)
TOKEN = Token("0" * 64, "0" * 64, ("trial",))


def hostile() -> pa.Table:
    rng = np.random.default_rng(1)
    values = [math.nan, math.inf, -math.inf, None, -5.0, 1e308, 1e-320, 0.5, 2.0]

    def column(usual: np.ndarray) -> Any:
        mixed = usual.astype(object)
        places = rng.choice(1000, 60, replace=False)
        for place, index in zip(places, rng.integers(0, len(values), 60)):
            mixed[place] = values[index]
        return mixed

    x = {name: column(rng.uniform(-0.5, 1.5, 1000)) for name in ("x", "z")}
    return table(column(rng.integers(0, 130, 1000)), column(rng.integers(0, 2, 1000)), x)


def read(binding: Any) -> SurvivalGroups:
    reader = open_source(binding).open(TOKEN)
    try:
        return summarise(ASKED, reader)
    finally:
        reader.close()


def assert_equal(found: SurvivalGroups, expected: SurvivalGroups) -> None:
    assert found.rows == expected.rows == 1000
    for name in ("time", "count", "events"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    for name in ("gain", "null", "alternative"):
        (a, b), (c, d) = found.part(name), expected.part(name)
        assert (a + b)[0] == pytest.approx((c + d)[0], rel=1e-15, abs=1e-15)


def test_tables_and_files_give_the_same_groups(tmp_path: Path) -> None:
    data = hostile()
    expected = summarise(ASKED, TableReader(data))
    assert_equal(read(data), expected)
    pa.parquet.write_table(data, tmp_path / "data.parquet")
    assert_equal(read(tmp_path / "data.parquet"), expected)
    pa.csv.write_csv(data, tmp_path / "data.csv")
    assert_equal(read(tmp_path / "data.csv"), expected)


@pytest.mark.filterwarnings("error")
def test_hostile_values_raise_no_warning() -> None:
    groups = read(hostile())
    assert np.isfinite(log_ratio(groups, 100))


def test_events_may_be_booleans_or_text_of_numbers(tmp_path: Path) -> None:
    data = hostile()
    plain = data.set_column(1, "seen", pa.array([float(i % 2) for i in range(1000)]))
    truth = data.set_column(1, "seen", pa.array([i % 2 == 1 for i in range(1000)]))
    text = data.set_column(1, "seen", pa.array([str(i % 2) for i in range(1000)]))
    expected = summarise(ASKED, TableReader(plain))
    assert_equal(read(truth), expected)
    assert_equal(read(text), expected)


def test_another_coding_of_events_empties_every_record() -> None:
    data = hostile()
    coded = data.set_column(1, "seen", pa.array(["dead"] * 1000))
    found = read(coded)
    assert (found.time.tolist(), found.count.tolist(), found.events.tolist()) == ([0], [1000], [0])
