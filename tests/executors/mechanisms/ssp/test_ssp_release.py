"""`COVARIANCE ssp`: what is released."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.ssp import MECHANISM
from executors.noise import OsSampler
from planner.calculus.cost import Cost
from planner.facts import Norm
from suites.covariance_tables import ArrayReader, facts_of, loss_of, release, releases, summary_of
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1, 10))
BALL = Norm(("x0", "x1", "x2"), Fraction(2), (Fraction(0), Fraction(1, 2), Fraction(1)))


def params(**options: Any) -> Any:
    return MECHANISM.params(**options)


def rows_in(count: int, columns: int, seed: int = 1) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).normal(0.3, 0.4, (count, columns)), -1, 1)


def released(rows: np.ndarray, cost: Cost = RHO, sampler: Any = 1, **options: Any) -> Any:
    facts = facts_of(len(rows), [(-1, 1)] * rows.shape[1])
    chosen = params(**options)
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    return release(MECHANISM, chosen, facts, cost, summary, sampler)


def test_without_noise_the_covariance_is_numpys() -> None:
    rows = rows_in(400, 3)
    outcome = released(rows, sampler=ScriptedSampler())
    assert outcome.value["kind"] == "covariance"
    assert outcome.value["columns"] == ["x0", "x1", "x2"]
    expected = np.cov(rows.T, bias=True)
    assert np.array(outcome.value["matrix"]) == pytest.approx(expected, abs=1e-4)
    assert np.array(outcome.value["raw"]) == pytest.approx(expected, abs=1e-4)
    assert outcome.value["mean"] == pytest.approx(rows.mean(axis=0), abs=1e-4)


def test_without_noise_a_midpoint_release_is_a_second_moment() -> None:
    rows = rows_in(400, 3)
    outcome = released(rows, sampler=ScriptedSampler(), center="midpoint")
    assert outcome.value["kind"] == "second moment"
    assert outcome.value["mean"] is None
    assert np.array(outcome.value["matrix"]) == pytest.approx(rows.T @ rows / 400, abs=1e-4)


def test_without_noise_units_and_centres_come_back() -> None:
    rows = np.random.default_rng(3).uniform((10, -5, 0), (40, 5, 0.1), (500, 3))
    facts = facts_of(500, [(0, 100), (-10, 10), (0, Fraction(1, 10))])
    for options in ({}, {"center": (Fraction(25), Fraction(0), Fraction(1, 20))}):
        chosen = params(**options)
        summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
        outcome = release(MECHANISM, chosen, facts, RHO, summary, ScriptedSampler())
        about = np.array(options.get("center", rows.mean(axis=0)), dtype=float)
        expected = (rows - about).T @ (rows - about) / 500
        units = np.array([50.0, 10.0, 0.05])
        found = np.array(outcome.value["raw"]) / np.outer(units, units)
        assert found == pytest.approx(expected / np.outer(units, units), abs=4e-4)
        if not options:
            assert outcome.value["mean"] == pytest.approx(rows.mean(axis=0), rel=1e-3)


@pytest.mark.parametrize("center", ["private", "midpoint"])
def test_without_noise_the_ball_gives_the_moments_of_shortened_rows(center: str) -> None:
    rows = np.random.default_rng(4).normal(0.5, 1.5, (600, 3))
    facts = facts_of(600, [(-9, 9)] * 3, norm=BALL)
    chosen = params(norm="l2", center=center)
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    outcome = release(MECHANISM, chosen, facts, RHO, summary, ScriptedSampler())
    middle = np.array([0.0, 0.5, 1.0])
    w = rows - middle
    w *= np.minimum(1, 2 / np.linalg.norm(w, axis=1))[:, None]
    expected = np.cov(w.T, bias=True) if center == "private" else w.T @ w / 600
    assert np.array(outcome.value["matrix"]) == pytest.approx(expected, abs=2e-3)
    if center == "private":
        assert outcome.value["mean"] == pytest.approx(middle + w.mean(axis=0), abs=1e-3)


@pytest.mark.parametrize("options", [{}, {"center": "midpoint"}])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_the_matrix_is_symmetric_and_positive_at_any_noise(
    options: dict[str, Any], columns: int
) -> None:
    for seed, amount in enumerate((Fraction(1, 1000), Fraction(1, 10), Fraction(5))):
        outcome = released(rows_in(40, columns), Cost("rho", amount), seed, **options)
        matrix = np.array(outcome.value["matrix"])
        assert matrix.shape == (columns, columns)
        assert np.array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-12
        if columns == 1:
            assert 0 <= matrix[0, 0] <= 1


def test_constant_and_identical_columns_are_legal() -> None:
    rows = rows_in(300, 3)
    rows[:, 1] = 0.25
    rows[:, 2] = rows[:, 0]
    outcome = released(rows, Cost("rho", Fraction(1000)), 5)
    matrix = np.array(outcome.value["matrix"])
    assert matrix[0, 2] == pytest.approx(matrix[0, 0], abs=0.01)
    assert matrix[1, 1] == pytest.approx(0.0, abs=0.01)


def test_the_integers_do_not_depend_on_batches_or_order() -> None:
    rows = rows_in(1000, 3)
    chosen, facts = params(), facts_of(1000)
    texts = set()
    for reader in (ArrayReader(rows), ArrayReader(rows, 13), ArrayReader(rows[::-1].copy(), 97)):
        summary = summary_of(MECHANISM, chosen, facts, reader)
        texts.add(json.dumps(dict(release(MECHANISM, chosen, facts, RHO, summary, 3).value)))
    assert len(texts) == 1


def test_the_standard_errors_are_those_of_the_noise() -> None:
    rows = rows_in(300, 2)
    facts = facts_of(300, [(-1, 1)] * 2)
    summary = summary_of(MECHANISM, params(), facts, ArrayReader(rows))
    outcomes = releases(MECHANISM, params(), facts, RHO, summary, range(1500))
    truth = np.cov(rows.T, bias=True)
    errors = np.array([np.array(o.value["raw"]) - truth for o in outcomes])
    stated = np.array([o.uncertainty["standard_error"] for o in outcomes])
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(
        np.sqrt((stated**2).mean(axis=0)), rel=0.06
    )
    means = np.array([o.value["mean"] for o in outcomes]) - rows.mean(axis=0)
    stated_mean = outcomes[0].uncertainty["mean_standard_error"]
    assert means.std(axis=0) == pytest.approx(stated_mean, rel=0.06)


def test_the_measurement_table_holds_every_draw() -> None:
    rows = rows_in(300, 3)
    outcome = released(rows, sampler=ScriptedSampler())
    table = outcome.value["measurements"]
    assert len(table["y"]) == 3 + 6
    assert table["k"][:3] == [None] * 3
    assert table["y"][:3] == pytest.approx(rows.mean(axis=0), abs=1e-4)
    second = rows.T @ rows / 300
    for j, k, y in list(zip(table["j"], table["k"], table["y"]))[3:]:
        assert y == pytest.approx(second[int(j[1]), int(k[1])], abs=1e-4)
    assert outcome.tables["measurements"]["y"] == tuple(table["y"])
    assert {note.law for note in outcome.noise} == {"discrete_gaussian"}
    assert len(outcome.noise) == 3


def test_the_real_sampler_gives_a_release() -> None:
    outcome = released(rows_in(200, 2), sampler=OsSampler())
    assert np.isfinite(outcome.value["matrix"]).all()


def test_a_price_of_another_shape_is_a_bug() -> None:
    module = __import__("executors.mechanisms.ssp.run", fromlist=["run"])
    facts = facts_of(100)
    loss = loss_of(MECHANISM, params(), facts, RHO)
    with pytest.raises(ValueError, match="one discrete Gaussian leaf"):
        module.run(params(), facts, replace(loss, leaves=loss.leaves * 2), None, None)


def test_the_lower_bound_lies_on_the_wall_of_the_grid() -> None:
    """Bounds whose float quotient lies outside the box, so that only the last clamp holds it."""
    bounds = [("45.62", "130.36"), ("45.62", "130.36")]
    facts = facts_of(2, bounds)
    rows = np.array([[45.62, 130.36], [130.36, 45.62]])
    summary = summary_of(MECHANISM, params(center="midpoint"), facts, ArrayReader(rows))
    assert abs(summary.gram).max() <= 2 * 2**32
    assert summary.gram.tolist() == [[2 * 2**32, -2 * 2**32], [-2 * 2**32, 2 * 2**32]]


def test_a_ball_that_was_not_declared_has_no_frame() -> None:
    with pytest.raises(ValueError, match="without a declared ball"):
        MECHANISM.query(params(norm="l2"), facts_of(10))
