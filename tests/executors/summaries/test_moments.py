"""The integer moments: exact, the same in any order, never beyond their sensitivity."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.data.bind import open_source
from executors.data.settings import Settings
from executors.summaries.moments import GRID, Moments, grid, selection, summarise
from planner.charge_token import Token
from planner.facts import Column
from planner.mechanism import Query

TOKEN = Token("rid", "hash", ("key",))
HOSTILE = [math.nan, math.inf, -math.inf, None, 1e308, -1e308, 5e-324, -0.0]


def query_of(*bounds, center=None):
    columns = tuple(
        Column(f"x{j}", "real", Fraction(lo), Fraction(hi)) for j, (lo, hi) in enumerate(bounds)
    )
    middle = center or tuple((column.lo + column.hi) / 2 for column in columns)
    half = tuple(max(one.hi - c, c - one.lo) for one, c in zip(columns, middle))
    return Query("moments", columns, (("center", middle), ("half", half)))


def table_of(rows):
    return pa.table(
        {
            f"x{j}": pa.array(column, pa.float64(), from_pandas=False)
            for j, column in enumerate(zip(*rows))
        }
    )


def moments_of(rows, query, **more):
    return summarise(query, open_source(table_of(rows), **more).open(TOKEN))


def exact(rows, query):
    """The same integers in exact rationals, row by row (for bounds that doubles hold exactly)."""
    parameters = dict(query.parameters)
    zs = []
    for row in rows:
        z = []
        for column, c, half, value in zip(
            query.columns, parameters["center"], parameters["half"], row
        ):
            if value is None or not math.isfinite(value):
                value = (column.lo + column.hi) / 2
            x = min(max(Fraction(value), column.lo), column.hi)
            z.append(min(max(math.floor(GRID * (x - c) / half), -GRID), GRID))
        zs.append(z)
    total = [sum(z[j] for z in zs) for j in range(len(query.columns))]
    gram = [
        [sum(z[j] * z[k] for z in zs) for k in range(len(query.columns))]
        for j in range(len(query.columns))
    ]
    return total, gram


@given(
    st.lists(
        st.tuples(st.floats(-5, 5), st.floats(), st.sampled_from([*HOSTILE, 0.5, 4.0])), min_size=1
    )
)
@settings(max_examples=60, deadline=None)
def test_the_integers_are_the_exact_ones(rows):
    query = query_of((-2, 2), (0, 4), (-1, 1))
    made = moments_of(rows, query)
    assert made.rows == len(rows)
    assert (made.total.tolist(), made.gram.tolist()) == exact(rows, query)


def test_batches_order_threads_and_engines_give_the_same_integers(tmp_path):
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(70_000, 3)) * [1, 1e-3, 1e5]
    rows[rng.random(rows.shape) < 0.01] = np.nan
    query = query_of(("-1.37", "2.09"), ("-0.001", "0.0007"), (0, 123456))
    reference = moments_of(rows.tolist(), query)
    shuffled = rows[rng.permutation(len(rows))]
    names = {f"x{j}": shuffled[:, j] for j in range(3)}
    pq.write_table(pa.table(names), tmp_path / "t.parquet", row_group_size=999)
    pa.table(names).to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for binding in (pa.table(names), tmp_path / "t.parquet", tmp_path / "t.csv"):
        for threads in (1, 4):
            source = open_source(binding, Settings(threads=threads))
            made = summarise(query, source.open(TOKEN))
            assert made.rows == reference.rows
            assert made.total.tolist() == reference.total.tolist()
            assert made.gram.tolist() == reference.gram.tolist()
    parts = [
        moments_of(rows[a:b].tolist(), query) for a, b in ((0, 1), (1, 30_000), (30_000, None))
    ]
    for order in itertools.permutations(parts):
        made = Moments.zero(3).plus(order[0]).plus(order[1]).plus(order[2])
        assert made.gram.tolist() == reference.gram.tolist()


def test_a_full_batch_of_extremes_is_summed_exactly():
    """65,536 products of 2^32 make 2^48; one more row spills into the next batch."""
    rows = [(1.0, -1.0)] * (65_536 + 1)
    made = moments_of(rows, query_of((-1, 1), (-1, 1)))
    assert made.gram.tolist() == [[65_537 << 32, -65_537 << 32], [-65_537 << 32, 65_537 << 32]]
    assert made.total.tolist() == [65_537 << 16, -65_537 << 16]


def test_sums_beyond_sixty_four_bits_stay_exact():
    many = Moments(1 << 30, np.array([1 << 46]), np.array([[1 << 62]]))
    double = many.plus(many)
    quadruple = double.plus(double)
    assert double.gram.tolist() == [[1 << 63]]
    assert quadruple.gram.tolist() == [[1 << 64]]
    assert quadruple.rows == 1 << 32


@pytest.mark.parametrize("bounds", [("45.62", "130.36"), ("0.1", "0.3"), ("-7.77", "1.01")])
def test_the_integer_clamp_comes_last(bounds):
    lo, hi = (float(Fraction(bound)) for bound in bounds)
    values = np.array([lo, hi, np.nextafter(lo, -9e9), np.nextafter(hi, 9e9)])
    center, half = (lo + hi) / 2, (hi - lo) / 2
    assert np.abs(grid(values, center, half, np.empty(4))).max() <= GRID


def test_some_bounds_would_leave_the_box_without_the_last_clamp():
    rng = np.random.default_rng(3)
    left = 0
    for _ in range(2000):
        lo = round(rng.uniform(-100, 100), 2)
        hi = round(lo + rng.uniform(0.01, 200), 2)
        left += math.floor((lo - (lo + hi) / 2) / ((hi - lo) / 2) * GRID) < -GRID
        out = grid(np.array([lo, hi]), (lo + hi) / 2, (hi - lo) / 2, np.empty(2))
        assert np.abs(out).max() <= GRID
    assert left > 100


CORNERS = [-1.0, 1.0, 0.0]


def worst(width):
    """Pairs of rows that attain each bound, with corners of the box and hostile values."""
    ones = [1.0] * width
    yield ones, [-1.0] * (width // 2) + [1.0] * (width - width // 2)
    yield ones, [0.0] * width
    yield [*ones[:-1], -1.0], ones
    rng = np.random.default_rng(width)
    for _ in range(60):
        yield rng.choice(CORNERS, width).tolist(), rng.choice(CORNERS, width).tolist()
        yield rng.uniform(-2, 2, width).tolist(), rng.choice([*HOSTILE, 1e9], width).tolist()


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_neighbours_never_move_the_integers_further_than_stated(width):
    """Stated moves, in steps: 2 2^32 off the diagonal, 2^32 on it, sqrt(d) 2^32 for the whole
    diagonal, d 2^32 for the upper triangle, sqrt(1.402 d) 2^32 for the diagonal with the sums."""
    query = query_of(*[(-1, 1)] * width)
    others = [[0.3 * j - 0.5 for j in range(width)]] * 3
    largest = {"off": 0.0, "on": 0.0, "diagonal": 0.0, "triangle": 0.0, "joint": 0.0}
    for first, second in worst(width):
        a, b = moments_of([first, *others], query), moments_of([second, *others], query)
        move = (a.gram - b.gram).astype(object)
        on = [int(move[j, j]) for j in range(width)]
        off = [int(move[j, k]) for j in range(width) for k in range(j)]
        sums = [int(value) for value in a.total - b.total]
        unit = 1 << 32
        diagonal = sum(value**2 for value in on)
        assert all(abs(value) <= 2 * unit for value in off)
        assert all(abs(value) <= unit for value in on)
        assert diagonal <= width * unit**2
        assert diagonal + sum(value**2 for value in off) <= width**2 * unit**2
        joint = Fraction(diagonal) + sum(Fraction(GRID * value) ** 2 / 3 for value in sums)
        assert joint <= Fraction(1402, 1000) * width * unit**2
        largest["off"] = max(largest["off"], *[abs(value) / unit for value in off], 0.0)
        largest["on"] = max(largest["on"], *[abs(value) / unit for value in on])
        largest["diagonal"] = max(largest["diagonal"], math.sqrt(diagonal) / unit)
        triangle = diagonal + sum(value**2 for value in off)
        largest["triangle"] = max(largest["triangle"], math.sqrt(triangle) / unit)
        largest["joint"] = max(largest["joint"], math.sqrt(joint) / unit)
    assert largest["on"] == 1.0
    assert largest["diagonal"] == pytest.approx(math.sqrt(width))
    if width > 1:
        assert largest["off"] == 2.0
        assert largest["triangle"] >= 0.94 * width
    if width == 2:
        assert largest["triangle"] == pytest.approx(2.0)


def test_the_joint_bound_of_diagonal_with_sums_is_nearly_attained():
    """v = |x - x'| = 1.2113, x = 1: (x^2 - x'^2)^2 + (x - x')^2 / 3 = 1.40178 < 1.402."""
    query = query_of((-1, 1))
    a, b = (moments_of([[x]], query) for x in (1.0, 1.0 - 1.2113))
    joint = Fraction(int(a.gram[0, 0] - b.gram[0, 0])) ** 2
    joint += Fraction(GRID * int(a.total[0] - b.total[0])) ** 2 / 3
    assert 1.4017 < joint / (1 << 64) < 1.402


def test_a_forgotten_clamp_would_be_caught():
    query = query_of((-1, 1))
    (column,) = query.columns
    a, b = moments_of([[1e6]], query), moments_of([[0.0]], query)
    assert abs(int(a.gram[0, 0]) - int(b.gram[0, 0])) <= 1 << 32
    unclamped = math.floor(GRID * 1e6) ** 2
    assert unclamped > 1 << 32
    assert selection(column).lo == -1.0


def test_booleans_are_plus_or_minus_one_and_missing_ones_false():
    query = Query(
        "moments",
        (Column("b", "boolean"),),
        (("center", (Fraction(1, 2),)), ("half", (Fraction(1, 2),))),
    )
    table = pa.table({"b": [True, False, None, True]})
    made = summarise(query, open_source(table).open(TOKEN))
    assert made.total.tolist() == [0]
    assert made.gram.tolist() == [[4 << 32]]
    text = pa.table({"b": ["true", "0", "0.5", "1"]})
    assert summarise(query, open_source(text).open(TOKEN)).gram.tolist() == [[4 << 32]]


def test_public_mistakes_raise():
    query = query_of((-1, 1))
    reader = open_source(table_of([[0.0]])).open(TOKEN)
    for parameters in (
        (("center", (Fraction(0),)), ("half", (Fraction(0),))),
        (("center", ()), ("half", (Fraction(1),))),
    ):
        with pytest.raises(ValueError):
            summarise(Query("moments", query.columns, parameters), reader)
    with pytest.raises(ValueError):
        selection(Column("x", "real"))


def test_no_rows_are_zero():
    made = moments_of([[0.5]], query_of((-1, 1)))
    assert Moments.zero(1).plus(made).gram.tolist() == made.gram.tolist()
    assert Moments.zero(1).rows == 0
