"""Files and tables of every kind give the same clamped columns."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from executors.data.bind import open_source
from executors.data.failure import DataFailure
from executors.data.source import Clamp, Flag, Level, Plain
from planner.charge_token import Token

TOKEN = Token("rid", "hash", ("key",))
TABLE = pa.table(
    {
        "a": [1.0, None, float("nan"), float("inf"), -0.0, 7.0],
        "unit": [1, 1, 2, None, 3, 3],
        "text": ["1", " 2 ", "x", "true", "nan", "1e999"],
        "é\"'*": pa.array([1, 2, 3, 4, 5, 6], pa.int8()),
        "flag": [True, False, None, True, True, False],
    }
)
COLUMNS = [
    Clamp("a", -3.0, 3.0, 0.5),
    Clamp("text", -3.0, 3.0, None),
    Plain("text", "text"),
    Flag("flag"),
    Clamp("é\"'*", 0.0, 4.0, 0.0),
    Level("text", ("x", "1")),
]


@pytest.fixture(params=["parquet", "csv", "arrow", "pandas", "polars"])
def source(request, tmp_path):
    folder = tmp_path / "o'dd [*]?"
    folder.mkdir()
    if request.param == "parquet":
        pq.write_table(TABLE, folder / "da'ta*[1].parquet", row_group_size=2)
        return open_source(folder / "da'ta*[1].parquet")
    if request.param == "csv":
        TABLE.to_pandas().to_csv(folder / "da'ta?.csv", index=False)
        return open_source(str(folder / "da'ta?.csv"))
    if request.param == "arrow":
        return open_source(TABLE)
    if request.param == "pandas":
        return open_source(pd.DataFrame(TABLE.to_pandas()))
    return open_source(pl.from_arrow(TABLE))


def read(source, columns=COLUMNS, unit=None, max_rows=1, **more):
    reader = source.open(TOKEN, unit, max_rows)
    table = pa.Table.from_batches(list(reader.batches(columns, **more)))
    reader.close()
    return [column.to_pylist() for column in table.columns]


def test_every_kind_of_source_reads_the_same(source):
    assert read(source, rows=4) == [
        [1.0, 0.5, 0.5, 0.5, 0.0, 3.0],
        [1.0, 2.0, None, 1.0, None, None],
        ["1", " 2 ", "x", "true", "nan", "1e999"],
        [1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        [1.0, 2.0, 3.0, 4.0, 4.0, 4.0],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]


def test_sorted_batches_hold_the_same_rows(source):
    assert read(source, [COLUMNS[0], COLUMNS[4]], order_by="a") == [
        [0.0, 0.5, 0.5, 0.5, 1.0, 3.0],
        [4.0, 2.0, 3.0, 4.0, 1.0, 4.0],
    ]


def test_late_rows_and_rows_without_a_unit_are_neutralised_in_place(source):
    assert read(source, [COLUMNS[4], COLUMNS[2]], unit="unit") == [
        [1.0, 0.0, 3.0, 0.0, 4.0, 0.0],
        ["1", None, "x", None, "nan", None],
    ]
    assert read(source, [COLUMNS[4]], unit="unit", max_rows=2) == [[1.0, 2.0, 3.0, 0.0, 4.0, 4.0]]


def test_late_rows_are_neutralised_before_sorting(source):
    assert read(source, [COLUMNS[4]], order_by="é\"'*", unit="unit") == [
        [0.0, 0.0, 0.0, 1.0, 3.0, 4.0]
    ]


def test_a_frame_whose_columns_look_like_a_source_is_a_frame():
    frame = pd.DataFrame({"location": [1.0], "open": [2.0], "describe": [3.0]})
    assert read(open_source(frame), [Plain("open")]) == [[2.0]]


def test_a_source_is_taken_as_it_is(source):
    assert open_source(source) is source


def test_data_opens_only_with_a_real_token(source):
    class Lookalike(Token):
        pass

    for token in (None, object(), Lookalike("r", "h", ()), "token"):
        with pytest.raises(DataFailure, match="DPQL-E108"):
            source.open(token)
    with pytest.raises(DataFailure, match="DPQL-E109"):
        source.open(Token("r", "h", (), mock=True))


def test_categories_are_the_texts_that_they_stand_for():
    words = ["b", None, "a", "b"]
    halves = [pa.array(words[:2]).dictionary_encode(), pa.array(words[2:]).dictionary_encode()]
    tables = [
        pa.table({"arm": words}),
        pa.table({"arm": pa.chunked_array(halves)}),
        pd.DataFrame({"arm": pd.Categorical(words)}),
        pl.DataFrame({"arm": pl.Series(words, dtype=pl.Categorical)}),
        pl.DataFrame({"arm": pl.Series(words, dtype=pl.Enum(["a", "b"]))}),
    ]
    assert len({open_source(table).location for table in tables}) == 1
    numbers = pa.table({"arm": pa.array([1, 2, 1]).dictionary_encode()})
    assert open_source(numbers).location == open_source(pa.table({"arm": [1, 2, 1]})).location
    empty = pa.table({"arm": pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))})
    assert open_source(empty).describe().rows == 0
