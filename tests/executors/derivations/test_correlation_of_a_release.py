"""`DERIVE corr = correlation(sigma)` on releases as they are stored."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from executors.derivations.correlation import DERIVATION, run
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.ssp import MECHANISM
from planner.calculus.cost import Cost
from suites.covariance_tables import stored_release


def stored(mechanism: Any, count: int, rho: int, **options: Any) -> dict[str, Any]:
    rows = np.random.default_rng(1).uniform(-1, 1, (count, 3))
    rows[:, 1] = 0.5 * rows[:, 1] + 0.5 * rows[:, 0]
    rows[:, 2] = 0.25
    return stored_release(mechanism, rows, Cost("rho", Fraction(rho)), 1, **options)


def derived(rho: int, **options: Any) -> dict[str, Any]:
    found = run(DERIVATION.params(), stored(MECHANISM, 400, rho, **options))
    json.dumps(found, allow_nan=False)
    return found


def test_a_constant_column_is_printed_as_not_available() -> None:
    found = derived(10)
    value = found["value"]
    assert value["kind"] == "correlation"
    assert value["not_distinguishable"] == ["x2"]
    assert value["matrix"][2] == [None, None, None]
    assert abs(value["matrix"][0][1] - np.sqrt(0.5)) < 0.05
    assert 0 < found["uncertainty"]["standard_error"][0][1] < 0.05
    assert any("x2" in note for note in found["notes"])


def test_second_moments_give_cosines_and_say_so() -> None:
    found = derived(10, center="midpoint")
    assert found["value"]["kind"] == "cosine"
    assert found["value"]["not_distinguishable"] == []
    assert any("not correlations about" in note for note in found["notes"])


def test_covariances_that_were_not_measured_are_named() -> None:
    found = run(DERIVATION.params(), stored(DIAGONAL, 400, 10))
    assert found["value"]["matrix"][0][1] == 0.0
    assert found["uncertainty"]["standard_error"][0][1] is None
    assert any("not measured" in note for note in found["notes"])
    assert not any("not measured" in note for note in derived(10)["notes"])
