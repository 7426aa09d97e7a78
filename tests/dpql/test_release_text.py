"""A release is printed whatever the noise made of it: NA where a figure is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dpql.text import releases_text
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
    assert [line.split() for line in text.splitlines() if "NA" in line] == [
        ["NA", "NA"],
        ["NA", "1"],
    ]
