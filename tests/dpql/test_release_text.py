"""A release is printed whatever the noise made of it: NA where a figure is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dpql.release_text import releases_text
from executors.derivations import correlation

NAMES = st.sampled_from(["matrix", "columns", "estimate", "p_value", "decision", "note"])
CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    CELLS, lambda inner: st.lists(inner, max_size=14) | st.dictionaries(NAMES, inner), max_leaves=40
)


def release(value):
    return {"name": "r", "verb": "TEST", "method": "cox", "value": value}


@given(st.dictionaries(NAMES, VALUES))
def test_any_value_is_printed(value):
    assert releases_text([release(value)]).startswith("r: TEST cox\n")


def test_a_correlation_with_a_column_that_cannot_be_told_from_noise_is_printed():
    spread = {
        "value": {"columns": ["a", "b"], "kind": "covariance", "matrix": [[-0.1, 0.2], [0.2, 3.0]]},
        "uncertainty": {"standard_error": [[0.2, 0.2], [0.2, 0.2]]},
    }
    derived = correlation.run(correlation.CorrelationParams(), spread)
    text = releases_text([{"name": "link", "function": "correlation", **derived}])
    matrix = text[: text.index("standard_error")].splitlines()
    assert [line.split() for line in matrix if "NA" in line] == [
        ["a", "NA", "NA"],
        ["b", "NA", "1"],
    ]


def shown(value, **more):
    return releases_text([{"name": "r", "function": "f", "value": value, **more}]).splitlines()


def test_a_large_matrix_fits_a_terminal():
    names = [f"a_column_with_a_long_name_{index}" for index in range(260)]
    matrix = [[-1234.5678 * (row + 1) for _ in names] for row in range(260)]
    lines = shown({"columns": names, "matrix": matrix})
    assert max(map(len, lines)) <= 104
    assert "    ... 260 rows of 260 in the file" in lines


def test_rows_bear_names_only_where_they_are_columns_of_the_data():
    square = [[1.0, 2.0], [2.0, 3.0]]
    lines = shown({"columns": ["age", "stay"], "matrix": square, "loadings": square})
    assert [line.split() for line in lines if "age" in line or "stay" in line] == [
        ["columns", "age,", "stay"],
        ["age", "stay"],
        ["age", "1", "2"],
        ["stay", "2", "3"],
        ["age", "stay"],
    ]


def test_how_far_to_trust_a_release_is_told():
    lines = shown(
        {"p_value": 0.2, "reject": False},
        uncertainty={"of": "the statistic without noise", "lower": -1.0, "noise_sd": 0.5},
    )
    assert lines[1:] == [
        "  p_value  0.2",
        "  reject  no",
        "  uncertainty: the statistic without noise",
        "    lower  -1",
        "    noise_sd  0.5",
    ]
    first, second = shown({"level": 0.1}, uncertainty={"of": "noise of what was " * 6})[2:]
    assert first.startswith("  uncertainty: noise")
    assert second.startswith("    ")


def test_what_a_release_means_is_printed_below_its_figures():
    made = {**release({"score": [-25.7]}), "notes": ["positive where it dies " + "sooner " * 20]}
    figures, *note = releases_text([made]).splitlines()[1:]
    assert figures == "  score  -25.7"
    assert note[0].startswith("  note: positive where it dies")
    assert len(note) > 1
    assert max(map(len, note)) <= 96
