"""`DERIVE line = regress(sigma, y=a)` on releases as they are stored."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

import dpql
from executors.derivations.regress import DERIVATION, check
from executors.derivations.regress_run import run
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.ssp import MECHANISM as SSP
from executors.statistics.regression import LEAST_RIDGE, regression, ridge_of
from planner.calculus.cost import Cost
from suites.covariance_tables import facts_of, stored_release
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1))


def rows(count: int = 800, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(0.4, 0.5, (count, 2))
    y = 0.3 + 0.8 * x[:, 0] - 0.5 * x[:, 1] + rng.normal(0, 0.3, count)
    return np.clip(np.column_stack([x, y]), -3, 3)


def derived(release: dict[str, Any], **options: Any) -> dict[str, Any]:
    found = run(DERIVATION.params(**{"y": "x2", **options}), release)
    json.dumps(found, allow_nan=False)
    return found


def stored(sampler: Any = 1, cost: Cost = RHO, mechanism: Any = SSP, **options: Any) -> Any:
    return stored_release(mechanism, rows(), cost, sampler, bound=3, **options)


def test_without_noise_it_is_least_squares() -> None:
    tiny = Cost("rho", Fraction(10000))
    value = derived(stored(ScriptedSampler(), tiny))["value"]
    fit = sm.OLS(rows()[:, 2], sm.add_constant(rows()[:, :2])).fit()
    assert [value["intercept"], *value["coefficients"]] == pytest.approx(fit.params, abs=2e-3)
    assert value["residual_variance"] == pytest.approx(fit.ssr / 800, abs=2e-3)
    assert value["explained"] == pytest.approx(fit.rsquared, abs=2e-3)
    assert value["predictors"] == ["x0", "x1"]


def test_columns_of_other_ranges_have_slopes_in_their_own_units() -> None:
    matrix = np.array([[4.0, 1.0], [1.0, 1.0]])
    found = regression(matrix, 1, [0], 0.0)
    assert found.slopes == pytest.approx([0.25])
    assert found.residual == pytest.approx(0.75)
    assert found.explained == pytest.approx(0.25)


def test_the_ridge_lifts_the_spectrum_to_the_noise() -> None:
    matrix = np.diag([0.5, 0.01, 0.2])
    assert ridge_of(matrix, [0, 1], 0.1) == pytest.approx(2 * 0.1 * 2**0.5 - 0.01)
    assert ridge_of(matrix, [0], 0.1) == LEAST_RIDGE
    assert ridge_of(np.zeros((3, 3)), [0, 1], 0.0) == LEAST_RIDGE


def test_a_released_covariance_that_is_singular_gives_finite_slopes() -> None:
    poor = derived(stored(3, Cost("rho", Fraction(1, 10**5))))
    assert np.isfinite(poor["value"]["coefficients"]).all()
    assert poor["value"]["ridge"] > 0.1
    assert any("ridge" in note for note in poor["notes"])


def test_no_standard_error_is_invented() -> None:
    found = derived(stored())
    assert found["uncertainty"]["standard_error"] is None
    assert found["uncertainty"]["of"].startswith("none")
    assert found["tables"]["coefficients"]["standard_error"] == [None, None, None]


def test_a_second_moment_gives_a_regression_through_the_public_centre() -> None:
    found = derived(stored(center="midpoint"))
    assert found["value"]["intercept"] == pytest.approx(0.0, abs=1e-9)
    assert any("public centre" in note for note in found["notes"])


def test_a_diagonal_release_says_that_slopes_were_not_measured() -> None:
    found = derived(stored(mechanism=DIAGONAL), errors="bootstrap")
    assert found["value"]["coefficients"] == [0.0, 0.0]
    assert any("no covariance was measured" in note for note in found["notes"])
    assert found["uncertainty"]["standard_error"] is None
    assert "cannot be simulated" in found["uncertainty"]["of"]


def test_the_bootstrap_says_how_slopes_vary_over_samples_and_noise() -> None:
    """Against 300 fresh samples with fresh noise: the standard deviation within a sixth."""
    fits = []
    for seed in range(300):
        release = stored_release(SSP, rows(seed=seed), RHO, seed, bound=3)
        value = derived(release)["value"]
        fits.append([value["intercept"], *value["coefficients"]])
    found = derived(stored(), errors="bootstrap", draws=400)
    stated = [
        found["uncertainty"]["intercept_standard_error"],
        *found["uncertainty"]["standard_error"],
    ]
    assert np.std(fits, axis=0) == pytest.approx(stated, rel=1 / 6)
    assert found["uncertainty"]["of"].startswith("approximate")
    low, high = found["uncertainty"]["lower"], found["uncertainty"]["upper"]
    assert all(a < b < c for a, b, c in zip(low, found["value"]["coefficients"], high))


def test_a_seed_gives_the_same_errors() -> None:
    release = stored()
    first = derived(release, errors="bootstrap", seed=4)
    assert first == derived(release, errors="bootstrap", seed=4)
    assert first != derived(release, errors="bootstrap", seed=5)


@pytest.mark.parametrize(
    ("options", "code", "place"),
    [
        ({"y": "z"}, "DPQL-E160", "y"),
        ({"y": "x0", "x": ("z",)}, "DPQL-E160", "x"),
        ({"y": "x0", "x": ("x1", "x1")}, "DPQL-E160", "x"),
        ({"y": "x0", "x": ("x0",)}, "DPQL-E161", "x"),
        ({"y": "x0", "x": ()}, "DPQL-E161", "x"),
    ],
)
def test_columns_that_do_not_fit_are_refused(options: Any, code: str, place: str) -> None:
    found = check(DERIVATION.params(**options), facts_of(9))
    assert [(one.code, one.option) for one in found] == [(code, place)]


def test_one_column_cannot_be_regressed() -> None:
    found = check(DERIVATION.params(y="x0"), facts_of(9, [(-1, 1)]))
    assert [one.code for one in found] == ["DPQL-E161"]


def test_a_mistake_is_shown_at_its_place() -> None:
    query = """DATASET t ROWS 90 COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1])
COVARIANCE ssp rho=1 AS s
DERIVE d = regress(s, y=c)
"""
    (finding,) = dpql.check(query).diagnostics
    assert finding.code == "DPQL-E160"
    assert finding.span is not None
    assert query[finding.span.start : finding.span.end] == "y=c"
