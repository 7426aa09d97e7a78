"""`DERIVE corr = correlation(sigma)` on releases as they are stored."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from executors.derivations.correlation import DERIVATION, run
from executors.mechanisms.ssp import MECHANISM
from planner.calculus.cost import Cost
from suites.covariance_tables import ArrayReader, facts_of, release, summary_of


def derived(rho: int, **options: Any) -> dict[str, Any]:
    rows = np.random.default_rng(1).uniform(-1, 1, (400, 3))
    rows[:, 1] = 0.5 * rows[:, 1] + 0.5 * rows[:, 0]
    rows[:, 2] = 0.25
    params, facts = MECHANISM.params(**options), facts_of(400)
    summary = summary_of(MECHANISM, params, facts, ArrayReader(rows))
    outcome = release(MECHANISM, params, facts, Cost("rho", Fraction(rho)), summary, 1)
    stored = {"value": dict(outcome.value), "uncertainty": dict(outcome.uncertainty)}
    found = run(DERIVATION.params(), json.loads(json.dumps(stored)))
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


def test_only_measured_covariances_have_correlations() -> None:
    assert DERIVATION.accepts == ("COVARIANCE ssp",)
    assert DERIVATION.name == "correlation"
