"""The SQL form and the numpy form of the clamp are one function."""

import math
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.data.arrow import table_of
from executors.data.clamp import sql_form, values
from executors.data.kinds import stored_kind
from executors.data.source import Clamp, Flag, Level, Plain

TINY = 5e-324
HUGE = 1.7976931348623157e308
REALS = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.5, 1.0, -1.0, 3.0, TINY, -TINY]
REALS += [2.2250738585072014e-308, HUGE, -HUGE, 1e300, 1e-300, math.pi, 7.0, -7.0]
TEXTS = [
    *(None, "", " ", "5", " 5 ", "\t5\n", "+5", "-5", "5.", ".5", ".", "-", "+", "-0", "00012"),
    *("1e3", "1E+3", "1e-3", "1e", "e3", "1e999", "-1e999", "1e-999", "4.9e-324", "2e-324"),
    *("nan", "NaN", "-nan", "inf", "-Inf", "INFINITY", "infinit", "infinityx", "0x10", "1_000"),
    *("1,5", "1 000", "１", "٣", "5\x00", "\x005", "true", "FALSE", " True ", "truе", "falſe", "t"),
    *("yes", "null", "NULL", "--5", "5-", "1.2.3", "5 5", "\u00a05", "1e1e1", "0.1d", "1f", "é"),
    *(
        "0.1000000000000000055511151231257827021181583404541015625",
        "9" * 400,
        "0." + "0" * 400 + "1",
    ),
    *("2.2250738585072011e-308", "9007199254740993", "-9007199254740993.0000000000000000001"),
    *("1.7976931348623158e308", "1.7976931348623159e308", "'; drop table rows; --", '"', "\\"),
]
EXTREMES = [None, 0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, 2**53 - 1, 5]
COLUMNS = [
    pa.array(REALS, pa.float64(), from_pandas=False),
    pa.array(REALS, pa.float64(), from_pandas=False).cast(pa.float32(), safe=False),
    pa.array([None, 0.5, math.nan, math.inf, -0.0, 6e-8], pa.float16()),
    pa.array(TEXTS, pa.string()),
    pa.array(TEXTS, pa.large_string()),
    pa.array(TEXTS, pa.string_view()),
    pa.array(TEXTS).dictionary_encode(),
    pa.array(EXTREMES, pa.int64()),
    pa.array([None, 0, 1, 2**64 - 1, 2**63], pa.uint64()),
    pa.array([None, 0, 1, -128, 127], pa.int8()),
    pa.array([None, True, False], pa.bool_()),
    pa.array([None, Decimal("0.10"), Decimal("-3.25"), Decimal("99999999.99")]),
    pa.array([None, Decimal("1234567890123456789012345678901234.5678")], pa.decimal128(38, 4)),
    pa.array([None, None], pa.null()),
]
SELECTIONS = [
    Clamp("x", -3.0, 3.0, 0.5),
    Clamp("x", -3.0, 3.0, None),
    Clamp("x", 0.0, 3.0, -0.0),
    Clamp("x", -3.0, 0.0, 0.0),
    Clamp("x", -3.0, -0.0, 0.0),
    Clamp("x", -HUGE, HUGE, 0.0),
    Clamp("x", 0.1, 0.30000000000000004, 0.2),
    Clamp("x", -TINY, TINY, 0.0),
    Flag("x"),
    Flag("x", None),
    Level("x", ("1", "true", "é", "", "'; drop table rows; --")),
    Level("x", (" 5 ",), None),
    Plain("x"),
    Plain("x", "text"),
]


ENGINE = duckdb.connect()


def by_sql(selections, column, late=None):
    """Each selection as DuckDB computes it."""
    table = table_of(pa.table({"x": column, "late": late or [False] * len(column)}))
    kind = stored_kind(table.schema.field("x").type)
    forms = ", ".join(
        f"{sql_form(selection, 'x', kind, late and 'late')} as v{index}"
        for index, selection in enumerate(selections)
    )
    ENGINE.register("rows", table)
    made = pa.Table.from_batches(ENGINE.sql(f"select {forms} from rows").to_arrow_reader(100))
    return [column.to_pylist() for column in made.columns]


def by_numpy(selection, column, late=None):
    table = table_of(pa.table({"x": column}))
    marks = None if late is None else np.array(late)
    made = values(selection, table.column(0).combine_chunks(), marks)
    assert made.type == (pa.string() if selection == Plain("x", "text") else pa.float64())
    return made.to_pylist()


def same(a, b):
    """Equal down to the sign of zero."""
    return [repr(x) for x in a] == [repr(x) for x in b]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_both_forms_agree_on_awkward_values(column):
    selections = SELECTIONS
    if stored_kind(column.type) not in ("text", "integer", "boolean"):
        # The schema check refuses names that are stored as numbers.
        selections = [one for one in SELECTIONS if isinstance(one, Clamp | Flag)]
    for late in (None, [index % 2 == 0 for index in range(len(column))]):
        for selection, made in zip(selections, by_sql(selections, column, late), strict=True):
            assert same(made, by_numpy(selection, column, late)), (selection, late)


@given(st.lists(st.floats(width=64), min_size=1), st.floats(-1e6, 1e6), st.floats(0, 1e6))
@settings(max_examples=50, deadline=None)
def test_both_forms_agree_on_any_doubles(numbers, lo, width):
    selection = Clamp("x", lo, lo + width, None)
    column = pa.array(numbers, pa.float64(), from_pandas=False)
    made = by_numpy(selection, column)
    assert same(by_sql([selection], column)[0], made)
    for number, value in zip(numbers, made):
        if math.isfinite(number):
            assert value == min(max(number, lo), lo + width)
        else:
            assert value is None


@given(st.decimals(allow_nan=False, allow_infinity=False), st.sampled_from(["", " ", "\t"]))
@settings(max_examples=100, deadline=None)
def test_text_is_read_to_the_nearest_double_by_both(number, blank):
    text = f"{blank}{number}{blank}"
    column = pa.array([text])
    assert same(by_sql([Plain("x")], column)[0], by_numpy(Plain("x"), column))
    assert by_numpy(Plain("x"), column) == [float(text)]


@given(st.text(max_size=8))
@settings(max_examples=200, deadline=None)
def test_any_text_means_the_same_to_both(text):
    column = pa.array([text])
    selections = [Plain("x"), Flag("x"), Level("x", (text, "a")), Clamp("x", -3.0, 3.0, 0.5)]
    for selection, made in zip(selections, by_sql(selections, column), strict=True):
        assert same(made, by_numpy(selection, column))


def test_what_text_means_is_stated():
    wanted = {" 5 ": 5.0, "1e3": 1000.0, ".5": 0.5, "true": 1.0, "FALSE": 0.0, "inf": math.inf}
    wanted |= {"nan": None, "1e999": math.inf, "0x10": None, "1_000": None, "1,5": None, "": None}
    assert by_numpy(Plain("x"), pa.array(list(wanted))) == list(wanted.values())
    clamped = by_numpy(Clamp("x", 0.0, 2.0, None), pa.array(list(wanted)))
    assert clamped == [2.0, 2.0, 0.5, 1.0, 0.0, None, None, None, None, None, None, None]


def test_a_flag_is_zero_or_one_or_missing():
    texts = pa.array(["1", "0", "1.0", "true", "false", "0.5", "2", "-1", "yes", None])
    assert by_numpy(Flag("x", None), texts) == [1, 0, 1, 1, 0, None, None, None, None, None]
    assert by_numpy(Flag("x"), pa.array([0.0, 1.0, 0.5, math.nan])) == [0.0, 1.0, 0.0, 0.0]


def test_the_reference_stands_for_every_unknown_level():
    texts = pa.array(["b", "a", "B", " b", None, ""])
    assert by_numpy(Level("x", ("a", "b")), texts) == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_no_warning_depends_on_a_value():
    column = pa.array([math.inf, -math.inf, math.nan, HUGE, HUGE], from_pandas=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for selection in SELECTIONS:
            if isinstance(selection, Clamp | Flag):
                by_numpy(selection, column)


def test_bounds_that_are_not_finite_are_refused():
    for bad in (math.inf, math.nan):
        with pytest.raises(ValueError):
            sql_form(Clamp("x", 0.0, bad, 0.0), "x", "real")
        with pytest.raises(ValueError):
            values(Clamp("x", bad, 1.0, 0.0), pa.array([1.0]))


def test_a_forgotten_range_test_would_be_caught():
    """The plain `least(greatest(...))` sends missing values to a bound: the trap itself."""
    table = pa.table({"x": pa.array([None, math.nan], pa.float64(), from_pandas=False)})
    ENGINE.register("rows", table)
    naive = ENGINE.sql("select least(greatest(x, -3.0), 3.0) as v from rows").fetchall()
    assert [value for (value,) in naive] != [0.5, 0.5]
    assert by_sql([Clamp("x", -3.0, 3.0, 0.5)], table.column(0)) == [[0.5, 0.5]]
