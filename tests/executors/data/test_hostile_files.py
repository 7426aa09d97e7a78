"""Files that are odd, damaged or hostile: no value leaks, nothing else is read."""

import csv
import os
import random
import traceback
import tracemalloc
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.data.bind import open_source
from executors.data.csv_rows import _slices, records
from executors.data.duckdb import Relation, _run
from executors.data.failure import DataFailure, guarded
from executors.data.settings import Settings
from executors.data.source import Clamp, Level, Plain
from planner.charge_token import Token

TOKEN = Token("rid", "hash", ("key",))
SECRET = "Ada-Lovelace-4711"
NAMES = ["a*b", "a[1]", "a?", "q'uo\"te", "back\\slash", "\\*[x]", "年", "year=2020", "**", "{a,b}"]
NAMES += ["semi;drop table", "%41", "~", "new\nline", "$HOME", "-", "data", "a.csv.gz"]


def read(source, *columns, unit=None, max_rows=1, **more):
    reader = source.open(TOKEN, unit, max_rows)
    table = pa.Table.from_batches(list(reader.batches(columns, **more)))
    return [column.to_pylist() for column in table.columns]


def failure_of(action):
    with pytest.raises(DataFailure) as caught:
        action()
    told = "".join(traceback.format_exception(caught.value)) + caught.value.help
    assert SECRET not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value.code


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name_and_never_a_pattern(tmp_path, name):
    for other in ("ab", "axb", "a1", "aa", "b"):
        pq.write_table(pa.table({"x": [99.0]}), tmp_path / other)
        (tmp_path / f"{other}.csv").write_text("x\n99\n")
    pq.write_table(pa.table({"x": [1.0, 2.0]}), str(tmp_path / name))
    (tmp_path / f"{name}.csv").write_text("x\n3\n4\n")
    assert read(open_source(tmp_path / name), Plain("x")) == [[1.0, 2.0]]
    assert read(open_source(tmp_path / name), Plain("x"), order_by="x") == [[1.0, 2.0]]
    assert read(open_source(str(tmp_path / f"{name}.csv")), Plain("x")) == [[3.0, 4.0]]


@pytest.mark.parametrize("name", ['"', "'", "x) --", "a.b", "a b", "", "c0", "n", "é", "*", "late"])
def test_a_column_name_is_a_name_and_never_sql(tmp_path, name):
    table = pa.table({name: [2.0, 1.0], "X": [0.0, 0.0], "x": [5.0, 6.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (open_source(tmp_path / "t.parquet"), open_source(table)):
        for order in (None, name):
            order_wanted = [2.0, 1.0] if order is None else [1.0, 2.0]
            assert read(source, Plain(name), order_by=order)[0] == order_wanted
        assert read(source, Plain("x"), Plain("X"), order_by="x") == [[5.0, 6.0], [0.0, 0.0]]


def test_a_folder_name_makes_no_column(tmp_path):
    folder = tmp_path / "x=5"
    folder.mkdir()
    pq.write_table(pa.table({"y": [1.0]}), folder / "t.parquet")
    (folder / "t.csv").write_text("y\n1\n")
    for name in ("t.parquet", "t.csv"):
        assert [column for column, _ in open_source(folder / name).describe().columns] == ["y"]
        assert read(open_source(folder / name), Plain("y"), order_by="y") == [[1.0]]


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", Path("/dev/null"), Path("/")):
        assert failure_of(lambda path=path: open_source(path)) == "DPQL-E102"


def test_bindings_that_are_no_data_are_refused():
    for binding in (5, None, {"x": [1]}, [1, 2], "https://example.org/x.csv", "s3://x/y"):
        assert failure_of(lambda binding=binding: open_source(binding)) == "DPQL-E107"
    for uri in ("file://host/x", "file:///x?y", "file:///x#y"):
        assert failure_of(lambda uri=uri: open_source(uri)) == "DPQL-E107"


def test_a_link_and_a_uri_have_the_location_of_their_file(tmp_path):
    file = tmp_path / "a b#?.csv"
    file.write_text("x\n1\n")
    (tmp_path / "link").symlink_to(file)
    locations = {
        open_source(binding).location
        for binding in (file, str(file), file.as_uri(), tmp_path / "link", tmp_path / "." / file)
    }
    assert locations == {file.resolve().as_uri()}


def test_equal_tables_have_one_fingerprint():
    table = pa.table({"x": [1.0, None, 3.0], "s": ["a", "b", None]})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    sliced = pa.concat_tables([pa.table({"x": [9.0], "s": ["z"]}), table]).slice(1)
    located = {open_source(one).location for one in (table, chunked, sliced)}
    assert len(located) == 1
    assert next(iter(located)).startswith("sha256:")
    for other in (
        pa.table({"x": [1.0, 0.0, 3.0], "s": ["a", "b", None]}),
        pa.table({"y": [1.0, None, 3.0], "s": ["a", "b", None]}),
        pa.table({"x": [1.0, None, 3.0], "s": ["ab", "", None]}),
        table.slice(0, 2),
    ):
        assert open_source(other).location not in located


def test_a_stream_is_drained_once_and_read_often():
    table = pa.table({"x": [1.0, 2.0]})
    source = open_source(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert read(source, Plain("x")) == read(source, Plain("x")) == [[1.0, 2.0]]


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"s": [f"{SECRET}{i}" for i in range(5000)], "x": [float(i) for i in range(5000)]}
    pq.write_table(pa.table(columns), path, compression="none")
    return path


def test_a_cut_file_is_refused_without_a_value(parquet):
    content = parquet.read_bytes()
    for size in (4, 100, len(content) - 1):
        parquet.write_bytes(content[:size])
        assert failure_of(open_source(parquet).describe) == "DPQL-E105"


def test_a_damaged_page_is_refused_without_a_value(parquet):
    content = bytearray(parquet.read_bytes())
    content[40:40000] = b"\xff" * 39960
    parquet.write_bytes(bytes(content))
    source = open_source(parquet)
    assert source.describe().rows == 5000
    columns = (Plain("s", "text"), Plain("x"))
    assert failure_of(lambda: read(source, *columns)) == "DPQL-E105"
    assert failure_of(lambda: read(source, *columns, order_by="x")) == "DPQL-E105"
    assert failure_of(lambda: read(source, Plain("x"), unit="s")) == "DPQL-E105"


def test_a_file_that_changes_or_goes_is_refused(parquet):
    source = open_source(parquet)
    reader = source.open(TOKEN)
    batches = reader.batches([Plain("x")], rows=100)
    next(batches)
    os.utime(parquet, ns=(1, 1))
    assert failure_of(lambda: list(batches)) == "DPQL-E106"
    assert failure_of(lambda: source.open(TOKEN)) == "DPQL-E106"
    parquet.unlink()
    assert failure_of(lambda: source.open(TOKEN)) == "DPQL-E102"
    assert failure_of(lambda: list(reader.batches([Plain("x")]))) in ("DPQL-E105", "DPQL-E102")


def test_a_frame_of_mixed_types_is_refused_without_a_value():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, SECRET, object()]})
    assert failure_of(lambda: open_source(frame)) == "DPQL-E107"


def test_an_engine_error_leaves_no_trace():
    def quote():
        raise ValueError(f"cannot convert {SECRET}")

    assert failure_of(lambda: guarded(quote, DataFailure("DPQL-E105", "no"))) == "DPQL-E105"


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b\n1,2\n", [("1", "2")]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", [("1", "2")]),
        (b'a,b\n"x""y\nz","1,2"\n', [('x"y\nz', "1,2")]),
        (b"a,b\n1\n1,2,3,4\n,\n", [("1", None), ("1", "2"), (None, None)]),
        (b"a,b\n#1,2\n-- 3,4\n", [("#1", "2"), ("-- 3", "4")]),
        (b"a,b\n\xc3\xa9,\xff\xfe\n", [("é", "\ufffd\ufffd")]),
        (b'a,b\n1,"x" y\n2, "z"\n', [("1", "x y"), ("2", " z")]),
        (b'a,b\n1,"x\n2,y\n', [("1", "x\n2,y\n")]),
        (b"a;b\n1;2,5\n", [("1", "2,5")]),
        (b'"a,1"\tb\n1\t2\n', [("1", "2")]),
        (b"a,b", []),
    ],
)
def test_every_csv_has_a_meaning(tmp_path, content, rows):
    (tmp_path / "t.csv").write_bytes(content)
    source = open_source(tmp_path / "t.csv")
    first, second = (name for name, _ in source.describe().columns)
    reader = source.open(TOKEN)
    made = list(reader.batches([Plain(first, "text"), Plain(second, "text")]))
    assert [row for batch in made for row in zip(*batch.to_pydict().values())] == rows


def test_an_empty_cell_is_a_row_even_where_it_is_the_only_one(tmp_path):
    (tmp_path / "t.csv").write_text('x\n1\n\n""\n4\n')
    assert read(open_source(tmp_path / "t.csv"), Clamp("x", 0.0, 9.0, 5.0)) == [[1, 5, 5, 4]]


def test_levels_outside_ascii_are_found_in_csv(tmp_path):
    (tmp_path / "t.csv").write_text("x\nä\nÄ\nа\n", "utf-8")
    assert read(open_source(tmp_path / "t.csv"), Level("x", ("b", "ä"))) == [[1.0, 0.0, 0.0]]


def test_a_csv_without_names_is_refused(tmp_path):
    for content in (b"", b"\n1,2\n", b"\xff\xfe\n1\n"):
        (tmp_path / "t.csv").write_bytes(content)
        assert failure_of(open_source(tmp_path / "t.csv").describe) == "DPQL-E105"


def test_no_content_of_a_cell_changes_the_rows(tmp_path):
    """Properly quoted cells leave the number and the order of rows alone, whatever they hold."""
    cells = [bytes([value]) * 3 for value in range(256)] + [b"", b'""', b'",\n"', b"x" * 3_000_000]
    quoted = [b'"' + cell.replace(b'"', b'""') + b'"' for cell in cells]
    lines = [b"a,b", *(b"%d,%s" % line for line in enumerate(quoted))]
    (tmp_path / "t.csv").write_bytes(b"\n".join(lines) + b"\n")
    numbers, texts = read(open_source(tmp_path / "t.csv"), Plain("a"), Plain("b", "text"))
    assert numbers == list(range(len(cells)))
    assert texts == [cell.decode("utf-8", "replace") if cell else "" for cell in cells]


@given(st.binary(max_size=40), st.sampled_from([1, 2, 7, 1000]), st.sampled_from([1, 3, 100]))
@settings(max_examples=300, deadline=None)
def test_neither_blocks_nor_batches_change_what_bytes_mean(tmp_path_factory, content, block, rows):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(b"a,b\n" + content.replace(b"\x01", b'"').replace(b"\x02", b"\n"))
    wanted, made = ([[], []] for _ in range(2))
    for batch in records(path, 44, 2, [0, 1], 10**6):
        wanted = [seen + fields.to_pylist() for seen, fields in zip(wanted, batch)]
    for batch in records(path, 44, 2, [0, 1], rows, block):
        made = [seen + fields.to_pylist() for seen, fields in zip(made, batch)]
    assert made == wanted


def test_a_column_of_a_wide_file_costs_its_own_bytes_and_not_those_between():
    data = np.frombuffer(b"0.5,".ljust(10**6, b"x") * 4, dtype=np.uint8)
    left = np.arange(4) * 10**6
    tracemalloc.start()
    made = _slices(data, left, left + 3, np.array([True, True, False, True]))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.to_pylist() == [b"0.5", b"0.5", None, b"0.5"]
    assert held < 10**4


def test_csv_agrees_with_the_standard_library(tmp_path):
    rng = random.Random(7)
    for _ in range(200):
        width = rng.randint(2, 4)
        rows = [
            ["".join(rng.choices('ab",\n é1 ', k=rng.randint(0, 4))) for _ in range(width)]
            for _ in range(rng.randint(0, 6))
        ]
        with (tmp_path / "t.csv").open("w", newline="") as file:
            writer = csv.writer(file, quoting=rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
            writer.writerows([["h"] * width, *rows])
        made = [[] for _ in range(width)]
        for batch in records(tmp_path / "t.csv", 44, width, range(width), 2, block=5):
            for column, fields in zip(made, batch):
                column += [field or "" for field in fields.to_pylist()]
        assert made == [list(column) for column in zip(*rows)] or not rows


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{folder}/other.csv')",
        "select * from read_text('{folder}/other.csv')",
        "select * from read_csv('{folder}/*.csv')",
        "select * from '{folder}/other.csv'",
        "select * from read_text('/etc/passwd')",
        "select * from glob('{folder}/*')",
        "set enable_external_access=true",
        "set allowed_paths=['{folder}/other.csv']",
        "set memory_limit='10GB'",
        "copy (select 1) to '{folder}/out.csv'",
        "attach '{folder}/out.db'",
        "install httpfs",
        "load httpfs",
    ],
)
def test_the_engine_can_touch_nothing_else(tmp_path, query):
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "mine.parquet")
    (tmp_path / "other.csv").write_text(f"x\n{SECRET}\n")
    before = sorted(tmp_path.iterdir())
    relation = Relation((pa.float64(),), file=(tmp_path / "mine.parquet").resolve())
    with pytest.raises(duckdb.Error):
        list(_run(relation, [0], query.format(folder=tmp_path), Settings(), 10))
    assert sorted(tmp_path.iterdir()) == before
    assert list(_run(relation, [0], relation.query([0]), Settings(), 10))


def test_temporary_files_are_removed(tmp_path):
    (tmp_path / "t.csv").write_text("x\n3\n1\n2\n")
    folder = tmp_path / "spill"
    folder.mkdir()
    source = open_source(tmp_path / "t.csv", Settings("100MB", str(folder), 1))
    assert read(source, Plain("x"), order_by="x") == [[1.0, 2.0, 3.0]]
    assert list(folder.iterdir()) == []


def test_progress_tells_rows_read(tmp_path):
    told = []
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 5000)
    source = open_source(tmp_path / "t.csv", Settings(progress=told.append))
    read(source, Plain("x"), rows=1000)
    assert told[-1] == 5000
    assert told == sorted(told)
