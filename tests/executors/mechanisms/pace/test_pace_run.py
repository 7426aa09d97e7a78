"""`COVARIANCE pace`: what is released."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import resolve
from executors.mechanisms.pace.run import run
from executors.noise import OsSampler
from executors.statistics import entropy_fit
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts
from suites.covariance_tables import ArrayReader, facts_of, loss_of, release, summary_of
from suites.pace_runs import released
from suites.samplers import FastSampler, ScriptedSampler
from suites.trial import written

RHO = Cost("rho", Fraction(1, 10))
STRATEGIES = ("entries", "dense", "pilot", "diagonal")


def correlated(n: int = 2000, d: int = 6, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(n, 1))
    x[:, -1] = rng.normal(size=n)
    return np.clip(0.1 + x / 8.0, -1.0, 1.0)


# --- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("center", ["private", "midpoint", (Fraction(1, 4),) * 6])
@pytest.mark.parametrize("strategy", ["entries", "dense", "pilot"])
def test_without_noise_the_matrix_is_numpys(strategy: str, center: Any) -> None:
    """A large cost with every draw zero: what is left is the grid, and gamma."""
    rows = correlated()
    cost = Cost("rho", Fraction(3000))
    options = (
        {"anneal": Fraction(1), "rounds": 60, "maxrounds": 60} if strategy == "entries" else {}
    )
    sampler = Chooser() if strategy == "entries" else ScriptedSampler()
    outcome = released(rows, cost, sampler, strategy=strategy, center=center, **options)
    moved = rows - {"private": rows.mean(axis=0), "midpoint": 0.0}.get(str(center), 0.25)
    expected = moved.T @ moved / len(rows)
    assert np.array(outcome.value["matrix"]) == pytest.approx(expected, abs=2e-3)
    assert outcome.value["kind"] == ("covariance" if center == "private" else "second moment")
    if center == "private":
        assert outcome.value["mean"] == pytest.approx(rows.mean(axis=0), abs=1e-4)
    else:
        assert outcome.value["mean"] is None


class Chooser(FastSampler):
    """Chooses at random as asked, but adds no noise."""

    def __init__(self) -> None:
        super().__init__(5)

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return [0] * size


def test_a_search_finds_the_pairs_that_are_there() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4000, 20))
    x[:, 1] = x[:, 0]
    x[:, 3] = -x[:, 2]
    rows = np.clip(x / 3.0, -1, 1)
    outcome = released(rows, strategy="entries", cost=Cost("rho", Fraction(1, 2)))
    table = outcome.value["measurements"]
    chosen = {(j, k) for j, k in zip(table["j"], table["k"]) if k is not None and j != k}
    assert {("x0", "x1"), ("x2", "x3")} <= chosen
    matrix = np.array(outcome.value["matrix"])
    assert matrix[0, 1] == pytest.approx(1 / 9, abs=0.03)
    assert matrix[2, 3] == pytest.approx(-1 / 9, abs=0.03)
    assert matrix[0, 2] == pytest.approx(0.0, abs=0.03)
    precision = np.array(outcome.value["precision"])
    assert precision @ matrix == pytest.approx(np.eye(20), abs=1e-6)
    assert outcome.value["branch"] == "entries"
    assert outcome.value["model"] == "reconstructed"
    assert outcome.value["converged"] is True


def test_everything_is_in_the_units_of_the_columns() -> None:
    """The same people in other units: the same release, rescaled."""
    unit = correlated(500, 3)
    low, half = np.array([-5.0, 100.0, 0.0]), np.array([4.0, 16.0, 0.5])
    rows = low + half * (1 + unit)
    bounds = [(Fraction(a), Fraction(a + 2 * b)) for a, b in zip(low, half)]
    for strategy in STRATEGIES:
        one = released(unit, strategy=strategy, sampler=4).value
        other = released(rows, strategy=strategy, sampler=4, facts=facts_of(500, bounds)).value
        units = np.outer(half, half)
        assert np.array(other["matrix"]) == pytest.approx(units * np.array(one["matrix"]), rel=1e-3)
        assert other["mean"] == pytest.approx(low + half * (1 + np.array(one["mean"])), rel=1e-6)
        assert other["units"] == pytest.approx(half)
        if one["precision"] is not None:
            expected = np.array(one["precision"]) / units
            assert np.array(other["precision"]) == pytest.approx(expected, rel=1e-3)
        first, again = one["measurements"], other["measurements"]
        assert first["j"] == again["j"]
        assert first["round"] == again["round"]


def test_one_column_is_what_diagonal_releases() -> None:
    rows = correlated(300, 2)[:, :1]
    ours = released(rows, sampler=6)
    facts = facts_of(300, [(-1, 1)])
    params = DIAGONAL.params()
    theirs = release(
        DIAGONAL, params, facts, RHO, summary_of(DIAGONAL, params, facts, ArrayReader(rows)), 6
    )
    assert ours.value["matrix"] == theirs.value["matrix"]
    assert ours.value["mean"] == theirs.value["mean"]
    assert ours.value["branch"] == "diagonal"
    assert len(ours.value["calls"]["cost"]) == 1


def test_a_boolean_about_its_middle_has_a_known_square() -> None:
    columns = (
        Column("a", "real", Fraction(-1), Fraction(1)),
        Column("b", "boolean"),
        Column("c", "boolean"),
    )
    facts = Facts((SourceFacts("t", 400, columns),), columns)
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.uniform(-1, 1, 400), rng.random((400, 2)) < 0.3]).astype(float)
    for strategy in STRATEGIES:
        value = released(rows, facts=facts, strategy=strategy, center="midpoint").value
        matrix = np.array(value["matrix"])
        if strategy in ("dense", "diagonal"):
            assert matrix[1, 1] == pytest.approx(0.25, abs=0.02)
        assert [j for j, k in zip(*(value["measurements"][x] for x in "jk")) if j == k] == ["a"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_that_never_vary_or_are_the_same_are_legal(strategy: str) -> None:
    rows = correlated(400, 5)
    rows[:, 1] = rows[:, 0]
    rows[:, 2] = 0.25
    rows[:, 3] = 0.0
    for cost in (Cost("rho", Fraction(1, 10**4)), Cost("mu", Fraction(30))):
        value = released(rows, cost, strategy=strategy).value
        matrix = np.array(value["matrix"])
        assert np.isfinite(matrix).all()
        assert np.array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-12


def test_shrinking_and_clipping_are_those_that_the_table_implies() -> None:
    """The search replayed from the release alone, with scipy's weighted squares at gamma -> 0."""
    rows = correlated(800, 4)
    for variant in ({}, {"variant": "paper"}):
        value = released(rows, strategy="entries", sampler=9, **variant).value
        table = value["measurements"]
        if value["branch"] != "entries":
            continue
        names = value["columns"]
        entries: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for j, k, y, sd in zip(table["j"], table["k"], table["y"], table["sd"]):
            if k is not None and j != k:
                place = (names.index(j), names.index(k))
                mean = np.zeros(4) if value["mean"] is None else np.array(value["mean"])
                wall = (1 + abs(mean[place[0]])) * (1 + abs(mean[place[1]]))
                entries.setdefault(place, []).append((float(np.clip(y, -wall, wall)), sd))
        matrix = np.array(value["matrix"])
        precision = np.array(value["precision"])
        for (j, k), seen in entries.items():
            weights = np.array([sd**-2 for _, sd in seen])
            y = float((weights * [y for y, _ in seen]).sum() / weights.sum())
            v = float(1 / weights.sum())
            if not variant:
                y *= max(0.0, 1 - v / y**2)
            if y:
                stationary = y - matrix[j, k] + 2 * 0.01 * v * precision[j, k]
                assert stationary == pytest.approx(0.0, abs=1e-6)
        free = [(j, k) for j in range(4) for k in range(j + 1, 4) if (j, k) not in entries]
        for j, k in free:
            assert precision[j, k] == pytest.approx(0.0, abs=1e-9)


# --- the record ----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_release_lists_every_draw_with_its_cost(strategy: str) -> None:
    outcome = released(correlated(500, 4), strategy=strategy, sampler=2)
    calls = outcome.value["calls"]
    assert sum(calls["cost"]) == pytest.approx(0.1, rel=1e-7)
    assert outcome.value["spent"]["in"] == "rho"
    assert calls["round"][0] == 1
    assert calls["round"] == sorted(calls["round"])
    chosen = calls["law"].count("exponential_mechanism")
    table = outcome.value["measurements"]
    pairs = [k for j, k in zip(table["j"], table["k"]) if k is not None and j != k]
    if strategy == "entries":
        assert chosen == len(pairs) == (len(calls["law"]) - 1) / 2
    assert set(table["round"]) <= set(calls["round"])
    assert outcome.tables["calls"]["cost"] == tuple(calls["cost"])
    laws = {note.law for note in outcome.noise}
    assert laws == set(calls["law"])
    json.dumps(outcome.value, allow_nan=False)


def test_a_mu_run_counts_in_mu_squared() -> None:
    outcome = released(correlated(500, 4), Cost("mu", Fraction(1, 2)), strategy="entries")
    assert outcome.value["spent"]["in"] == "mu_squared"
    assert outcome.value["spent"]["amount"] == pytest.approx(0.25, rel=1e-7)


def test_uncertainty_is_stated_where_something_was_measured() -> None:
    outcome = released(correlated(500, 4), strategy="entries", sampler=3)
    errors = outcome.uncertainty["standard_error"]
    table = outcome.value["measurements"]
    names = outcome.value["columns"]
    seen = {(j, k) for j, k in zip(table["j"], table["k"]) if k is not None}
    for j, one in enumerate(names):
        for k, other in enumerate(names):
            is_measured = (one, other) in seen or (other, one) in seen
            assert (errors[j][k] is not None) == is_measured
    dense = released(correlated(500, 4), strategy="dense").uncertainty["standard_error"]
    assert all(entry > 0 for row in dense for entry in row)


# --- the draws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("center", ["private", "midpoint"])
def test_the_table_says_about_what_its_products_are(strategy: str, center: str) -> None:
    rows = correlated()
    options = {"rounds": 9} if strategy == "entries" else {}
    outcome = released(
        rows, Cost("rho", Fraction(3000)), strategy=strategy, center=center, **options
    )
    is_private = center == "private"
    told = any("about the released means" in note for note in outcome.notes)
    assert told == (is_private and strategy != "diagonal")
    table = outcome.value["measurements"]
    for j, k, y in zip(table["j"], table["k"], table["y"]):
        if k is None:
            continue
        x, other = rows[:, int(j[1:])], rows[:, int(k[1:])]
        square = x.mean() * other.mean() if is_private and j != k else 0.0
        assert y == pytest.approx((x * other).mean() - square, abs=3e-3)


def scripted(law: str, scale: int, place: int) -> int:
    return (place * 2654435761) % (2 * scale) - scale


@pytest.mark.parametrize("strategy", ["entries", "pilot"])
def test_the_same_noise_gives_the_same_bits_however_rows_are_batched(strategy: str) -> None:
    rows = correlated(900, 5)
    outcomes = {
        written(released(rows, sampler=ScriptedSampler(scripted), strategy=strategy, batch=batch))
        for batch in (900, 128, 7)
    }
    assert len(outcomes) == 1


def test_both_branches_of_a_pilot_are_reached_and_named() -> None:
    spread = released(correlated(3000, 8), Cost("rho", Fraction(1)), strategy="pilot").value
    assert spread["branch"] == "dense"
    assert spread["shrunk_by"] in ("spectral", "scalar", "soft")
    assert spread["precision"] is None
    assert spread["model"] == "projected"
    alone = np.random.default_rng(1).uniform(-0.5, 0.5, (3000, 8))
    searched = released(alone, Cost("rho", Fraction(1, 50)), strategy="pilot").value
    assert searched["branch"] == "entries"
    both = searched["measurements"]["round"]
    assert both.count(2) == 28


@pytest.mark.parametrize("options", [{}, {"variant": "paper"}, {"pairs": (("x0", "x2"),)}])
def test_a_real_run_with_the_real_sampler(options: dict[str, Any]) -> None:
    outcome = released(correlated(600, 4), sampler=OsSampler(), **options)
    assert outcome.value["branch"] in ("entries", "dense")
    assert sum(outcome.value["calls"]["cost"]) <= 0.1


def test_listed_pairs_are_the_only_ones_measured() -> None:
    pairs = (("x2", "x0"), ("x1", "x3"))
    outcome = released(correlated(600, 5), strategy="entries", pairs=pairs)
    table = outcome.value["measurements"]
    found = {(j, k) for j, k in zip(table["j"], table["k"]) if k is not None and j != k}
    assert found <= {("x0", "x2"), ("x1", "x3")}
    assert found


def test_a_fit_that_does_not_converge_is_published_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entropy_fit, "_FIRST_STEPS", 0)
    monkeypatch.setattr(entropy_fit, "_STEPS_A_LEVEL", 0)
    outcome = released(correlated(600, 4), strategy="entries")
    assert outcome.value["converged"] is False
    assert np.linalg.eigvalsh(np.array(outcome.value["matrix"]))[0] > 0
    assert len(outcome.value["measurements"]["y"]) > 8
    assert sum(outcome.value["calls"]["cost"]) == pytest.approx(0.1, rel=1e-7)


def test_a_price_of_another_shape_is_a_bug() -> None:
    facts = facts_of(50)
    params = resolve(MECHANISM.params(strategy="entries"), facts, RHO)
    loss = loss_of(MECHANISM, params, facts, RHO)
    for leaves in (loss.leaves[1:], loss.leaves[::-1], loss.leaves * 2):
        with pytest.raises(ValueError, match="priced with variances"):
            run(params, facts, replace(loss, leaves=leaves), lambda _: None, None)
