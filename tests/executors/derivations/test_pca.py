"""`DERIVE axes = pca(sigma)` on releases as they are stored."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from executors.derivations.pca import DERIVATION, check
from executors.derivations.pca_run import run
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.ssp import MECHANISM as SSP
from executors.statistics.principal_components import principal_components
from planner.calculus.cost import Cost
from suites.covariance_tables import facts_of, stored_release
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1))


def rows(count: int = 1000) -> np.ndarray:
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.6, (count, 1))
    return np.clip(common * [1.0, -0.8, 0.6, 0.0] + rng.normal(0, 0.15, (count, 4)), -2, 2)


def derived(sampler: Any, cost: Cost = RHO, mechanism: Any = SSP, **options: Any) -> dict[str, Any]:
    found = run(
        DERIVATION.params(**options), stored_release(mechanism, rows(), cost, sampler, bound=2)
    )
    json.dumps(found, allow_nan=False)
    return found


def test_without_noise_the_components_are_those_of_a_singular_value_decomposition() -> None:
    value = derived(ScriptedSampler(), Cost("rho", Fraction(10000)))["value"]
    scaled = (rows() - rows().mean(axis=0)) / 2
    _, singular, axes = np.linalg.svd(scaled, full_matrices=False)
    assert value["variance"] == pytest.approx(singular**2 / 1000, abs=1e-4)
    assert value["share"] == pytest.approx(singular**2 / (singular**2).sum(), abs=1e-3)
    assert np.abs(np.array(value["loadings"])[0]) == pytest.approx(np.abs(axes[0]), abs=1e-3)
    assert all(max(axis, key=abs) > 0 for axis in value["loadings"])


def test_the_scale_is_the_one_that_was_asked_for() -> None:
    tiny = Cost("rho", Fraction(10000))
    original = derived(ScriptedSampler(), tiny, scale="original")["value"]
    assert sum(original["variance"]) == pytest.approx(rows().var(axis=0).sum(), rel=1e-3)
    correlation = derived(ScriptedSampler(), tiny, scale="correlation")["value"]
    assert sum(correlation["variance"]) == pytest.approx(4.0, abs=1e-6)


def test_components_that_may_be_noise_are_marked() -> None:
    found = derived(1, Cost("rho", Fraction(1, 20)))
    value = found["value"]
    assert value["beyond_noise"][0]
    assert not value["beyond_noise"][-1]
    assert [v >= value["noise_edge"] for v in value["variance"]] == value["beyond_noise"]
    assert any("noise alone" in note for note in found["notes"])
    assert found["uncertainty"]["standard_error"] is None


def test_the_edge_is_where_the_spectrum_of_pure_noise_ends() -> None:
    """Ten columns about their middle: 2 sd sqrt(d) times the largest release of a zero table."""
    top = []
    for seed in range(40):
        release = stored_release(SSP, np.zeros((400, 10)), RHO, seed, center="midpoint")
        release["value"]["matrix"] = release["value"]["raw"]
        top.append(np.linalg.eigvalsh(np.array(release["value"]["raw"]))[-1])
    edge = run(DERIVATION.params(), release)["value"]["noise_edge"]
    assert np.mean(top) < edge < 1.5 * np.mean(top)


def test_a_column_without_variance_is_left_out_of_correlations() -> None:
    table = rows()
    table[:, 3] = 0.1
    release = stored_release(SSP, table, RHO, 1, bound=2)
    found = run(DERIVATION.params(scale="correlation"), release)
    assert found["value"]["columns"] == ["x0", "x1", "x2"]
    assert any("left out" in note and "x3" in note for note in found["notes"])


def test_the_number_of_components_is_kept_and_checked() -> None:
    assert len(derived(1, components=2)["value"]["loadings"]) == 2
    assert check(DERIVATION.params(components=3), facts_of(9)) == ()
    (found,) = check(DERIVATION.params(components=4), facts_of(9))
    assert (found.code, found.option) == ("DPQL-E161", "components")


def test_a_diagonal_release_says_that_its_axes_were_not_measured() -> None:
    found = derived(1, mechanism=DIAGONAL)
    assert any("no covariance was measured" in note for note in found["notes"])


def test_a_matrix_of_zeros_has_no_shares() -> None:
    found = principal_components(np.zeros((3, 3)), 2)
    assert found.share.tolist() == [0.0, 0.0]
    assert found.axes.shape == (2, 3)
