"""`COVARIANCE adaptive`: what is refused, what is planned, what is released."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.special import expit, logit, ndtr

from executors.mechanisms.adaptive import MECHANISM
from executors.mechanisms.adaptive.estimate import about_the_mean, limited, rebuilt, spectrum
from executors.mechanisms.adaptive.forecast import forecast, resolve
from executors.mechanisms.adaptive.layout import (
    COARSE,
    coarse_width,
    searched,
    sums_query,
    thresholds,
)
from executors.mechanisms.adaptive.radius import errors_of, upper_trace
from executors.mechanisms.adaptive.run import run
from executors.noise import OsSampler
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.facts import Column, Facts, Norm, SourceFacts
from suites.covariance_tables import facts_of, loss_of, released, stats_of
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1, 10))
DEAR = Cost("rho", Fraction(500))


def params(**options: Any) -> Any:
    return MECHANISM.params(**options)


def rows_in(count: int = 600, columns: int = 3, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(0.2, 0.25, (count, columns))
    rows[:, 1] += 0.5 * rows[:, 0]
    return np.clip(rows, -1, 1)


def outcome(rows: np.ndarray, cost: Cost = RHO, sampler: Any = 1, **options: Any) -> Any:
    facts = facts_of(len(rows), [(-1, 1)] * rows.shape[1])
    return released(MECHANISM, params(**options), facts, cost, stats_of(rows), sampler)


@pytest.mark.parametrize("center", ["private", "midpoint"])
def test_rows_of_a_ball_are_tested_against_the_length_that_is_priced(center: str) -> None:
    """The summary drops longer integer rows, so that the price of lengths is a fact."""
    ball = Norm(("x0", "x1", "x2"), Fraction(2), (Fraction(0),) * 3)
    facts, chosen = facts_of(9, norm=ball), params(norm="l2", center=center)
    limit = dict(sums_query(chosen, facts).parameters)["limit"]
    assert coarse_width(chosen, facts) == -(-limit // COARSE)
    assert limit <= 2**32 * (0.81 if center == "private" else 1.001)


# --- what is refused -----------------------------------------------------------------------------


def test_one_column_is_sent_to_ssp() -> None:
    (found,) = MECHANISM.check(params(), facts_of(9, [(-1, 1)]), {"t": "rho"})
    assert (found.code, found.option) == ("DPQL-E162", "columns")
    assert "ssp" in found.help


def test_columns_and_norms_are_checked_as_for_every_covariance() -> None:
    column = Column("b", "real")
    bare = Facts((SourceFacts("t", 9, (column, column)),), (column, column))
    assert {c.code for c in MECHANISM.check(params(), bare, {"t": "rho"})} == {"DPQL-E056"}
    found = MECHANISM.check(params(norm="l2"), facts_of(9), {"t": "rho"})
    assert [c.code for c in found] == ["DPQL-E058"]
    found = MECHANISM.check(params(center=(Fraction(1),)), facts_of(9), {"t": "rho"})
    assert [c.code for c in found] == ["DPQL-E057"]
    assert [c.code for c in MECHANISM.check(params(), facts_of(1), {"t": "rho"})] == ["DPQL-E059"]
    assert MECHANISM.check(params(), facts_of(9), {"t": "rho"}) == ()


@pytest.mark.parametrize("options", [{"beta": Fraction(0)}, {"beta": Fraction(1)}, {"norm": "l1"}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        params(**options)


def test_the_paper_is_about_the_middle_unless_a_centre_is_written() -> None:
    assert params(variant="paper").center == "midpoint"
    assert params(variant="paper", center="private").center == "private"


def test_pure_eps_is_not_honoured() -> None:
    assert "eps" not in MECHANISM.units
    with pytest.raises(Unsolvable):
        loss_of(MECHANISM, params(), facts_of(9), Cost("eps", Fraction(1)))


def test_noise_that_cannot_be_drawn_is_refused_when_planned() -> None:
    with pytest.raises(Unsolvable, match="sampler"):
        resolve(params(), facts_of(9), Cost("mu", Fraction(1, 10**9)))
    with pytest.raises(Unsolvable, match="noise scale"):
        resolve(params(), facts_of(9), Cost("rho", Fraction(10**9)))
    many = facts_of(100, [(-1, 1)] * 260)
    assert resolve(params(), many, Cost("rho", Fraction(1, 10**4))) == params()


# --- what is planned -----------------------------------------------------------------------------


def test_the_shares_are_an_eighth_an_eighth_and_three_quarters() -> None:
    length, search, cap = loss_of(MECHANISM, params(), facts_of(90), RHO).leaves
    assert float(length.param) ** 2 / 2 == pytest.approx(0.1 / 8, rel=1e-5)
    eps = float(search.param)
    assert eps * math.tanh(eps / 2) == pytest.approx(0.1 / 8, rel=1e-9)
    assert eps == pytest.approx(math.sqrt(0.1) / 2, rel=2e-3)
    assert (cap.kind, cap.param, cap.of) == ("zcdp", Fraction(3, 40), ("dgauss",))
    assert search.factor == 4
    assert float((search.sensitivity or 0) / (search.scale or 1)) == pytest.approx(eps / 4)


def test_in_mu_the_search_has_its_own_conversion() -> None:
    for cost, mu in (
        (Cost("mu", Fraction(1)), 1.0),
        (Cost("eps_delta", Fraction(3), Fraction(1, 10**6)), 0.647726530688),
    ):
        length, search, cap = loss_of(MECHANISM, params(), facts_of(90), cost).leaves
        assert float(length.param) == pytest.approx(math.sqrt(1 / 8) * mu, rel=1e-4)
        expected = logit(ndtr(math.sqrt(1 / 8) * mu / 2))
        assert float(search.param) == pytest.approx(expected, rel=1e-6)
        assert cap.kind == "gdp"
        assert float(cap.param) == pytest.approx(math.sqrt(3 / 4) * mu, rel=1e-9)
        assert expit(expected) == pytest.approx(ndtr(math.sqrt(1 / 8) * mu / 2))


def outsider(d: int, n: float, rho: float, b: float, trace: float) -> tuple[float, float, float]:
    """s1, s2 and g from the published formulas, written out once more."""
    b1, r1 = 0.75 * b, 0.75 * rho
    h = np.log(2 / b1)
    eta = np.sqrt(d + 2 * np.sqrt(d * h) + 2 * h)
    th = np.minimum((np.log(d) / d) ** 0.3, 0.5)
    nu = (1 + th) * (2 * np.sqrt(d) + 6 * np.sqrt(np.log(d)) / np.sqrt(np.log1p(th)))
    nu += np.sqrt(2 * np.log(4 / b1))
    om = np.sqrt(d**2 + 2 * np.sqrt(d * h) * (1 + np.sqrt(2 * (d - 1))) + 6 * h)
    s1 = 2**1.25 * np.sqrt(trace * nu) / (6 * np.sqrt(n) * r1**0.25)
    return s1, np.sqrt(2) * eta / (n * np.sqrt(r1)), om / (n * np.sqrt(r1))


@pytest.mark.parametrize(("d", "n"), [(2, 50.0), (13, 178.0), (260, 4000.0)])
def test_an_outsider_finds_the_same_bounds(d: int, n: float) -> None:
    found = errors_of(d, n, 0.075, 0.1, 0.3)
    assert [found.rough, found.fine, found.gaussian] == pytest.approx(outsider(d, n, 0.1, 0.1, 0.3))
    for k in (0, -1, -7):
        separate = 2.0**k * found.rough + 4.0**k * found.fine
        assert found.at(k) == min(separate, 4.0**k * found.gaussian)
        assert found.prefers_gaussian(k) is (separate >= 4.0**k * found.gaussian)


def test_the_mean_square_is_not_taken_too_small() -> None:
    """sd = 2 / (n sqrt(rho)) gives the published margin sqrt(8 ln(8/b) / rho) / n."""
    margin = math.sqrt(8 * math.log(80) / 0.1) / 500
    found = upper_trace(0.2, 2 / 500 / math.sqrt(0.1), 0.1)
    assert found == pytest.approx(0.2 + margin)
    assert upper_trace(2.0, 0.1, 0.1) == 1.0
    assert upper_trace(-5.0, 0.1, 0.1) == 1e-16


def test_eighty_radii_are_looked_at_or_fewer_for_tiny_tables() -> None:
    many = facts_of(500)
    assert searched(params(), many) == 80
    assert thresholds(params(), many)[:3] == (2**34, 2**32, 2**30)
    assert thresholds(params(center="midpoint"), many)[1] == 3 * 2**30
    assert searched(params(center="midpoint"), facts_of(2)) == 7


def test_several_rows_a_person_multiply_all_noise() -> None:
    one = loss_of(MECHANISM, params(), facts_of(90), RHO)
    three = loss_of(MECHANISM, params(), facts_of(90, max_rows=3), RHO)
    for single, triple in zip(one.leaves[:2], three.leaves[:2]):
        assert float((triple.scale or 0) / (single.scale or 1)) == pytest.approx(3, rel=1e-3)
    figures = [
        forecast(params(), facts_of(90, max_rows=k), loss)["integer_scale"]
        for k, loss in ((1, one), (3, three))
    ]
    assert figures[1] / figures[0] == pytest.approx(3, rel=1e-9)


def test_the_upper_guide_is_the_error_of_a_ball_release() -> None:
    """sigma^2 d (d + 1) / 2 with sigma = sqrt(2) R^2 / (n sqrt(2 rho1)), R^2 = d."""
    facts, chosen = facts_of(1000, [(-1, 1)] * 10), params(center="midpoint")
    figures = forecast(chosen, facts, loss_of(MECHANISM, chosen, facts, RHO))
    sigma = math.sqrt(2) * 10 / 1000 / math.sqrt(2 * 0.075)
    assert figures["rms_error"] == pytest.approx(sigma * math.sqrt(10 * 11 / 2), rel=1e-3)
    assert MECHANISM.metrics == ()
    json.dumps(figures, allow_nan=False)


def test_small_and_large_budgets_are_warned_of() -> None:
    few = facts_of(50)
    poor = forecast(params(), few, loss_of(MECHANISM, params(), few, Cost("rho", Fraction(1, 99))))
    assert [warning["code"] for warning in poor["warnings"]] == ["DPQL-W240"]


def test_the_assumptions_say_what_happens_silently() -> None:
    text = " ".join(MECHANISM.assumptions(params(variant="paper"), facts_of(9)))
    assert "shortened" in text
    assert "second moment" in text
    assert "read twice" in text


# --- what is released ----------------------------------------------------------------------------


def test_without_noise_it_is_the_covariance() -> None:
    rows = rows_in()
    private = outcome(rows, DEAR, ScriptedSampler())
    assert private.value["kind"] == "covariance"
    expected = np.cov(rows.T, bias=True)
    assert np.array(private.value["matrix"]) == pytest.approx(expected, abs=2e-3)
    assert private.value["mean"] == pytest.approx(rows.mean(axis=0), abs=1e-3)
    middle = outcome(rows, DEAR, ScriptedSampler(), center="midpoint")
    assert np.array(middle.value["matrix"]) == pytest.approx(rows.T @ rows / 600, abs=1e-3)
    assert middle.value["kind"] == "second moment"
    assert middle.value["mean"] is None


def test_rows_in_a_ball_keep_its_centre_and_units() -> None:
    rows = rows_in() * 2
    center = (Fraction(0), Fraction(1, 2), Fraction(0))
    norm = Norm(("x0", "x1", "x2"), Fraction(4), center)
    facts = facts_of(600, [(-2, 2)] * 3, norm=norm)
    chosen = params(norm="l2")
    found = released(MECHANISM, chosen, facts, DEAR, stats_of(rows), ScriptedSampler())
    assert np.array(found.value["matrix"]) == pytest.approx(np.cov(rows.T, bias=True), abs=0.02)
    assert found.value["mean"] == pytest.approx(rows.mean(axis=0), abs=0.02)


def test_the_published_numbers_of_a_scaled_back_matrix() -> None:
    second = np.array([[0.8, 0.4, 0.1], [0.4, 0.3, 0.05], [0.1, 0.05, 0.02]])
    mean, matrix = about_the_mean(second, 1.0)
    assert mean == pytest.approx([0.5, 0.125])
    assert matrix == pytest.approx(np.diag([0.125, 0.009375]))


def test_a_scaled_back_matrix_stays_positive_semidefinite() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        root = rng.normal(size=(4, rng.integers(1, 5))) * rng.uniform(0, 0.6)
        second = limited(root @ root.T, 1.0)
        constant = float(rng.choice([1.0, 29308 / 65536]))
        second[0, :] *= min(1.0, constant / max(second[0, 0], 1e-9) ** 0.5)
        second[:, 0] = second[0, :]
        second = limited(second, 1.0)
        if second[0, 0] > constant**2:
            continue
        _, matrix = about_the_mean(second, constant)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-12


def test_eigenvalues_are_clipped_and_paired_by_rank() -> None:
    vectors = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    matrix = vectors @ np.diag([-1.0, 0.5, 3.0]) @ vectors.T
    assert np.linalg.eigvalsh(limited(matrix, 2.0)) == pytest.approx([0, 0.5, 2], abs=1e-12)
    found = rebuilt(matrix, np.array([0.1, 0.2, 0.7]), 2.0)
    assert found == pytest.approx(vectors @ np.diag([0.1, 0.2, 0.7]) @ vectors.T)
    gram = np.array([[2**40, 2**39], [2**39, 2**40]], dtype=np.int64)
    assert spectrum(gram) == [2**39, 3 * 2**39]


def test_the_spectrum_measured_apart_is_used_where_it_errs_less() -> None:
    """A hundred columns of signs with little budget: no row can be shortened for nothing."""
    signs = np.sign(np.random.default_rng(1).normal(size=(500, 100)))
    apart = outcome(signs, Cost("rho", Fraction(1, 100)), 1)
    assert apart.value["model"] == "spectral"
    assert len(apart.value["spectrum"]) == 101
    assert "upper guide" in apart.uncertainty["of"]
    assert np.linalg.eigvalsh(np.array(apart.value["matrix"]))[0] > -1e-9


def test_shortening_pays_where_bounds_are_loose() -> None:
    """Forty columns that fill a twentieth of their bounds: a radius below a half, less noise."""
    rows = rows_in(600, 40) / 10
    facts = facts_of(600, [(-1, 1)] * 40)
    chosen = params(center="midpoint")
    found = [outcome(rows, Cost("rho", Fraction(1)), s, center="midpoint") for s in range(9)]
    errors = [np.linalg.norm(np.array(o.value["matrix"]) - rows.T @ rows / 600) for o in found]
    loss = loss_of(MECHANISM, chosen, facts, Cost("rho", Fraction(1)))
    whole = forecast(chosen, facts, loss)["rms_error"]
    assert np.median([o.value["radius"] for o in found]) <= 1 / 2
    assert np.median(errors) < whole / 4


def test_the_stated_errors_are_those_of_the_noise() -> None:
    """Given the radius: 600 releases of one table, about the middle and about the mean."""
    rows = rows_in()
    facts = facts_of(600, [(-1, 1)] * 3)
    stats = stats_of(rows)
    known: dict[Any, Any] = {}

    def remembered(query: Any) -> Any:
        if query not in known:
            known[query] = stats(query)
        return known[query]

    for options in ({"center": "midpoint"}, {}):
        found = [
            released(MECHANISM, params(**options), facts, Cost("rho", Fraction(2)), remembered, s)
            for s in range(600)
        ]
        radius = max(o.value["radius"] for o in found)
        found = [o for o in found if o.value["radius"] == radius]
        assert len(found) > 100
        matrices = np.array([o.value["matrix"] for o in found])
        stated = np.median([o.uncertainty["standard_error"] for o in found], axis=0)
        assert matrices.std(axis=0) == pytest.approx(stated, rel=0.2)


def test_a_release_is_semidefinite_and_json_at_any_noise() -> None:
    rows = rows_in(40)
    for cost in (Cost("rho", Fraction(1, 10**6)), Cost("mu", Fraction(3))):
        for options in ({}, {"variant": "paper"}, {"beta": Fraction(1, 1000)}):
            for sampler in (1, 2, OsSampler()):
                found = outcome(rows, cost, sampler, **options)
                values = np.linalg.eigvalsh(np.array(found.value["matrix"]))
                assert values[0] > -1e-9
                json.dumps([dict(found.value), dict(found.uncertainty)], allow_nan=False)


def test_a_table_without_any_length_is_legal() -> None:
    found = outcome(np.zeros((30, 2)), Cost("rho", Fraction(10)), ScriptedSampler())
    assert np.array(found.value["matrix"]) == pytest.approx(np.zeros((2, 2)), abs=1e-6)
    found = outcome(np.zeros((30, 2)), RHO, ScriptedSampler(), center="midpoint")
    assert found.value["radius"] <= 2.0**-8


def test_a_price_of_another_shape_is_a_bug() -> None:
    loss = loss_of(MECHANISM, params(), facts_of(9), RHO)
    with pytest.raises(ValueError, match="a length, a radius and a cap"):
        run(params(), facts_of(9), replace(loss, leaves=loss.leaves[:2]), lambda _: None, None)
