"""`DERIVE drawn = sample(sigma)` on releases as they are stored."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpql.output import table_of
from executors.derivations.sample import DERIVATION, MOST_NUMBERS, check
from executors.derivations.sample_run import run
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.ssp import MECHANISM as SSP
from planner.calculus.cost import Cost
from suites.covariance_tables import facts_of, stored_release

RHO = Cost("rho", Fraction(1))


def stored(mechanism: Any = SSP, **options: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    rows = rng.normal(0.5, 0.4, (900, 3))
    rows[:, 1] += rows[:, 0]
    return stored_release(mechanism, np.clip(rows, -3, 3), RHO, 1, bound=3, **options)


def drawn(release: dict[str, Any], **options: Any) -> tuple[dict[str, Any], np.ndarray]:
    found = run(DERIVATION.params(**options), release)
    json.dumps(found, allow_nan=False)
    return found, np.array(list(found["tables"]["sample"].values())).T


def test_the_rows_have_the_released_means_and_covariances() -> None:
    release = stored()
    _, rows = drawn(release, rows=200_000)
    assert rows.mean(axis=0) == pytest.approx(release["value"]["mean"], abs=0.01)
    assert np.cov(rows.T) == pytest.approx(np.array(release["value"]["matrix"]), abs=0.01)


def test_columns_of_very_different_size_keep_their_correlations() -> None:
    release = stored()
    scale = np.array([1e-4, 1.0, 1e7])
    value = release["value"]
    far = {
        **value,
        "matrix": (np.array(value["matrix"]) * np.outer(scale, scale)).tolist(),
        "units": (np.array(value["units"]) * scale).tolist(),
        "mean": (np.array(value["mean"]) * scale).tolist(),
    }
    error = np.array(release["uncertainty"]["standard_error"]) * np.outer(scale, scale)
    uncertainty = {**release["uncertainty"], "standard_error": error.tolist()}
    _, rows = drawn({"value": far, "uncertainty": uncertainty}, rows=1000)
    _, same = drawn(release, rows=1000)
    assert rows / scale == pytest.approx(same, abs=1e-4)


def test_columns_far_from_zero_keep_their_spread() -> None:
    release = stored()
    far = {**release["value"], "mean": [1e9, 2e9, -3e9]}
    _, rows = drawn({**release, "value": far}, rows=100_000)
    assert np.cov(rows.T) == pytest.approx(np.array(release["value"]["matrix"]), abs=0.01)


def test_rows_of_a_second_moment_lie_about_the_public_centre() -> None:
    release = stored(center="midpoint")
    found, rows = drawn(release, rows=100_000)
    assert rows.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.02)
    assert rows.T @ rows / len(rows) == pytest.approx(
        np.array(release["value"]["matrix"]), abs=0.02
    )
    assert any("uncentred" in note for note in found["notes"])


def test_a_seed_gives_the_same_rows_and_another_one_others() -> None:
    release = stored()
    first, again, other = (drawn(release, rows=5, seed=seed)[1] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


def test_it_says_that_it_is_a_model() -> None:
    found, _ = drawn(stored(), rows=3)
    assert found["value"]["model"] == "Gaussian"
    assert found["uncertainty"]["of"].startswith("none")
    assert any("Gaussian model" in note for note in found["notes"])
    independent, _ = drawn(stored(DIAGONAL), rows=3)
    assert any("no covariance was measured" in note for note in independent["notes"])


def test_the_table_is_written_as_rows_with_a_header() -> None:
    found, rows = drawn(stored(), rows=4)
    table = table_of({"kind": "derived", **found})
    assert table is not None
    assert table[0] == ["x0", "x1", "x2"]
    assert np.array(table[1:]) == pytest.approx(rows)


def test_a_table_that_is_too_large_is_refused() -> None:
    assert check(DERIVATION.params(rows=MOST_NUMBERS // 3), facts_of(9)) == ()
    (found,) = check(DERIVATION.params(rows=MOST_NUMBERS // 3 + 1), facts_of(9))
    assert (found.code, found.option) == ("DPQL-E161", "rows")
