"""`COVARIANCE ssp`: what is refused, what is planned, what is released."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from executors.mechanisms.ssp import MECHANISM
from executors.mechanisms.ssp.forecast import forecast, resolve
from executors.noise import OsSampler
from executors.noise.sampler import LARGEST_SCALE as SAMPLED
from executors.pricing.drawable import LARGEST_SCALE
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.facts import Column, Facts, Norm, SourceFacts
from suites.covariance_tables import ArrayReader, facts_of, loss_of, release, releases, summary_of
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1, 10))
BALL = Norm(("x0", "x1", "x2"), Fraction(2), (Fraction(0), Fraction(1, 2), Fraction(1)))


def params(**options: Any) -> Any:
    return MECHANISM.params(**options)


def codes(facts: Facts, **options: Any) -> list[tuple[str, str]]:
    found = MECHANISM.check(params(**options), facts, {"t": "rho"})
    assert all(c.message == c.message.rstrip(".") and not c.is_warning for c in found)
    return [(c.code, c.option) for c in found]


def facts_with(*columns: Column, rows: int = 100) -> Facts:
    return Facts((SourceFacts("t", rows, columns),), columns)


def rows_in(count: int, columns: int, seed: int = 1) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).normal(0.3, 0.4, (count, columns)), -1, 1)


def released(rows: np.ndarray, cost: Cost = RHO, sampler: Any = 1, **options: Any) -> Any:
    facts = facts_of(len(rows), [(-1, 1)] * rows.shape[1])
    chosen = params(**options)
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    return release(MECHANISM, chosen, facts, cost, summary, sampler)


# --- what is refused -----------------------------------------------------------------------------


def test_pure_eps_is_not_honoured_and_the_advice_names_what_is() -> None:
    assert "eps" not in MECHANISM.units
    assert "rho=" in MECHANISM.unit_advice["eps"]
    with pytest.raises(Unsolvable):
        loss_of(MECHANISM, params(), facts_of(100), Cost("eps", Fraction(1)))


def test_a_column_without_bounds_is_refused() -> None:
    good = Column("a", "real", Fraction(0), Fraction(1))
    assert codes(facts_with(good, Column("b", "real"))) == [("DPQL-E056", "columns")]
    assert codes(facts_with(good, Column("b", "integer", Fraction(0)))) == [
        ("DPQL-E056", "columns")
    ]


def test_a_range_beyond_floating_point_is_refused() -> None:
    huge = Column("a", "real", Fraction(0), Fraction(10**200))
    assert codes(facts_with(huge)) == [("DPQL-E056", "columns")]


@pytest.mark.parametrize("kind", ["category", "id", "site"])
def test_what_is_no_number_is_refused(kind: Any) -> None:
    assert codes(facts_with(Column("a", kind))) == [("DPQL-E055", "columns")]


@pytest.mark.parametrize("kind", ["boolean", "event", "genotype"])
def test_small_counts_are_numbers(kind: Any) -> None:
    assert codes(facts_with(Column("a", kind))) == []


def test_a_table_of_hypotheses_is_refused_whatever_its_columns() -> None:
    value = Column("e", "log_evalue", sensitivity=Fraction(1, 10), asserted_by="someone")
    other = Column("a", "real", Fraction(0), Fraction(1))
    facts = Facts((SourceFacts("t", 100, (value, other)),), (other,))
    assert codes(facts) == [("DPQL-E059", "on")]


def test_a_pattern_no_column_and_too_many_are_refused() -> None:
    pattern = Column("rs*", "genotype", pattern=True, hypotheses=10)
    assert codes(facts_with(pattern)) == [("DPQL-E055", "columns")]
    assert codes(facts_with()) == [("DPQL-E055", "columns")]
    assert codes(facts_of(100, [(0, 1)] * 2001)) == [("DPQL-E055", "columns")]
    assert codes(facts_of(100, [(0, 1)] * 2000)) == []


def test_one_row_and_two_sources_are_refused() -> None:
    assert codes(facts_of(1)) == [("DPQL-E059", "on")]
    facts = facts_of(10)
    both = Facts((facts.source, replace(facts.source, dataset="u")), facts.columns)
    assert codes(both) == [("DPQL-E059", "on")]


def test_a_list_of_constants_must_fit() -> None:
    assert codes(facts_of(10), center=(Fraction(0),)) == [("DPQL-E057", "center")]
    assert codes(facts_of(10), center=(Fraction(0),) * 3) == []
    assert codes(facts_of(10), center=(Fraction(0), Fraction(0), Fraction(10**200))) == [
        ("DPQL-E057", "center")
    ]


def test_the_ball_must_be_declared_for_the_columns() -> None:
    assert codes(facts_of(10), norm="l2") == [("DPQL-E058", "norm")]
    assert codes(facts_of(10, norm=BALL), norm="l2") == []
    part = replace(BALL, columns=("x0", "x1"), center=BALL.center[:2])
    assert codes(facts_of(10, norm=part), norm="l2") == [("DPQL-E058", "norm")]
    wide = replace(BALL, bound=Fraction(10**200))
    assert codes(facts_of(10, norm=wide), norm="l2") == [("DPQL-E058", "norm")]


def test_the_ball_has_its_own_centre_and_weights() -> None:
    facts = facts_of(10, norm=BALL)
    assert codes(facts, norm="l2", center=(Fraction(0),) * 3) == [("DPQL-E057", "center")]
    assert codes(facts, norm="l2", weights="plain") == [("DPQL-E058", "weights")]
    assert codes(facts, norm="l2", center="midpoint") == []


@pytest.mark.parametrize(
    "options", [{"center": "mean"}, {"center": (0.5,)}, {"weights": "best"}, {"variant": "paper"}]
)
def test_options_that_do_not_exist_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        params(**options)


def test_a_run_with_next_to_no_noise_is_refused_when_planned() -> None:
    with pytest.raises(Unsolvable):
        loss_of(MECHANISM, params(), facts_of(100), Cost("rho", Fraction(10**8)))


def test_noise_that_no_sampler_can_draw_is_refused_when_planned() -> None:
    assert LARGEST_SCALE == SAMPLED
    with pytest.raises(Unsolvable, match="sampler"):
        resolve(params(), facts_of(100), Cost("rho", Fraction(1, 10**12)))
    many = facts_of(100, [(-1, 1)] * 260)
    assert resolve(params(), many, Cost("rho", Fraction(1, 10**4))) == params()


# --- what is planned -----------------------------------------------------------------------------


def test_the_published_noise_of_ten_columns_and_a_thousand_rows() -> None:
    facts = facts_of(1000, [(-1, 1)] * 10)
    plain = params(center="midpoint", weights="plain")
    figures = forecast(plain, facts, loss_of(MECHANISM, plain, facts, RHO))
    assert figures["noise_sd_covariance"] == pytest.approx(0.0223606798, abs=1e-9)
    assert figures["noise_sd_variance"] == pytest.approx(0.0223606798, abs=1e-9)
    assert figures["rms_error"] == pytest.approx(0.22361, abs=1e-5)
    assert figures["precision"] == pytest.approx(1 / 0.22360680)
    assert figures["warnings"] == []


def outsider(rows: int, d: int, rho: float, options: dict[str, Any]) -> tuple[float, float, float]:
    """Deviations of square, product and mean in the unit box, from the published formulas."""
    private = options.get("center", "private") == "private"
    s = np.sqrt(2 * rho)
    if private and d == 1:
        return np.sqrt(1.402) / rows / s, 0.0, np.sqrt(3 * 1.402) / rows / s
    if d == 1:
        return 1 / rows / s, 0.0, 0.0
    order = d + 1 if private else d
    if options.get("norm") == "l2":
        slack = (1 + (np.sqrt(order) + 1) / 2**16) ** 2
        square = np.sqrt(2) * slack / rows / s
        return square, square / np.sqrt(2), square / np.sqrt(2) / (29308 / 65536)
    flat = (np.sqrt(2) if options.get("weights") == "frob" else 1) * order / rows / s
    if options.get("weights", "balanced") == "balanced":
        return flat / np.sqrt((order + 1) / 2), flat, flat
    return flat, flat, flat


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"center": "midpoint"},
        {"center": "midpoint", "weights": "plain"},
        {"center": "midpoint", "weights": "frob"},
        {"norm": "l2"},
        {"norm": "l2", "center": "midpoint"},
    ],
)
@pytest.mark.parametrize("d", [1, 3])
def test_an_outsider_finds_the_same_noise(options: dict[str, Any], d: int) -> None:
    """To 1e-9: from the published formulas, and from the plan's integers."""
    norm = Norm(("x0", "x1", "x2")[:d], Fraction(2), (Fraction(0),) * d)
    facts = facts_of(700, [(-3, 5)] * d, norm=norm)
    chosen = params(**options)
    loss = loss_of(MECHANISM, chosen, facts, RHO)
    figures = forecast(chosen, facts, loss)
    leaf = loss.leaves[0]
    assert leaf.width == (d if options.get("center") is None else 0) + d * (d + 1) // 2
    scale, weight = float(leaf.scale or 0), figures["noise_divided_by"]
    square, product, mean = outsider(700, d, 0.1, options)
    assert figures["noise_sd_variance"] == pytest.approx(square, rel=1e-9)
    planned = scale / weight["squares"] / 700 / 2**32
    assert figures["noise_sd_variance"] == pytest.approx(planned, rel=1e-9)
    if d > 1:
        assert figures["noise_sd_covariance"] == pytest.approx(product, rel=1e-9)
        planned = scale / weight["products"] / 700 / 2**32
        assert figures["noise_sd_covariance"] == pytest.approx(planned, rel=1e-9)
    if "noise_sd_mean" in figures:
        # One column: the mean's integer weight, 37837, is 4e-6 below 2^16 / sqrt(3).
        assert figures["noise_sd_mean"] == pytest.approx(mean, rel=1e-9 if d > 1 else 1e-5)
        planned = scale / weight["means"] / 700 / 2**16
        assert figures["noise_sd_mean"] == pytest.approx(planned, rel=1e-9)
    assert 1 - 1e-6 <= (leaf.sensitivity or 0) / (leaf.scale or 1) / np.sqrt(0.2) <= 1


def test_mu_is_twice_rho_squared_and_eps_delta_is_its_mu() -> None:
    facts = facts_of(100)
    by_rho = loss_of(MECHANISM, params(), facts, Cost("rho", Fraction(1, 8))).leaves[0]
    by_mu = loss_of(MECHANISM, params(), facts, Cost("mu", Fraction(1, 2))).leaves[0]
    assert by_rho.scale == by_mu.scale
    both = loss_of(
        MECHANISM, params(), facts, Cost("eps_delta", Fraction(3), Fraction(1, 10**6))
    ).leaves[0]
    assert float(both.param) == pytest.approx(0.647726530688, abs=1e-9)
    assert float(both.param) <= 0.647726530688731


def test_several_rows_a_person_multiply_the_noise() -> None:
    one = loss_of(MECHANISM, params(), facts_of(100), RHO).leaves[0]
    three = loss_of(MECHANISM, params(), facts_of(100, max_rows=3), RHO).leaves[0]
    assert float((three.scale or 0) / (one.scale or 1)) == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"center": "midpoint", "weights": "plain"},
        {"center": "midpoint"},
        {},
        {"norm": "l2", "center": "midpoint"},
        {"norm": "l2"},
    ],
)
@pytest.mark.parametrize("d", [1, 3])
def test_the_forecast_error_is_that_of_simulated_releases(options: dict[str, Any], d: int) -> None:
    """Data at the worst means; the ball has its worst mean on its wall."""
    norm = Norm(("x0", "x1", "x2")[:d], Fraction(1), (Fraction(0),) * d)
    facts = facts_of(60, [(-1, 1)] * d, norm=norm)
    rows = np.ones((60, d))
    if options.get("norm") == "l2":
        rows[:, 1:] = 0.0
    chosen = params(**options)
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    truth = np.zeros((d, d)) if "center" not in options else rows[0][:, None] * rows[0]
    cost = Cost("rho", Fraction(1))
    figures = forecast(chosen, facts, loss_of(MECHANISM, chosen, facts, cost))
    outcomes = releases(MECHANISM, chosen, facts, cost, summary, range(1500))
    found = np.sqrt(np.mean([((np.array(o.value["raw"]) - truth) ** 2).sum() for o in outcomes]))
    # Clipping the means at the wall can only help, so this end is an upper bound there.
    assert found <= 1.05 * figures["rms_error"]
    if "center" in options:
        assert found == pytest.approx(figures["rms_error"], rel=0.05)


def test_the_forecast_is_exact_where_the_means_are_not_clipped() -> None:
    facts = facts_of(200)
    rows = np.zeros((200, 3))
    chosen = params()
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    figures = forecast(chosen, facts, loss_of(MECHANISM, chosen, facts, RHO))
    outcomes = releases(MECHANISM, chosen, facts, RHO, summary, range(3000))
    found = np.sqrt(np.mean([(np.array(o.value["raw"]) ** 2).sum() for o in outcomes]))
    assert found == pytest.approx(figures["rms_error_at_zero_mean"], rel=0.03)


def test_a_small_and_a_large_budget_are_warned_of() -> None:
    facts = facts_of(50)
    poor = forecast(params(), facts, loss_of(MECHANISM, params(), facts, RHO))
    assert [warning["code"] for warning in poor["warnings"]] == ["DPQL-W240"]
    rich = forecast(params(), facts, loss_of(MECHANISM, params(), facts, Cost("rho", Fraction(51))))
    assert [warning["code"] for warning in rich["warnings"]] == ["DPQL-W241"]


def test_figures_are_json_and_nothing_is_left_to_resolve() -> None:
    facts = facts_of(100)
    assert resolve(params(), facts, RHO) == params()
    json.dumps(forecast(params(), facts, loss_of(MECHANISM, params(), facts, RHO)), allow_nan=False)


def test_the_assumptions_say_what_happens_silently() -> None:
    text = " ".join(MECHANISM.assumptions(params(center="midpoint"), facts_of(9, max_rows=2)))
    assert "second moment" in text
    assert "nearest bound" in text
    assert "missing share" in text
    assert "beyond 2" in text
    assert "second moment" not in " ".join(MECHANISM.assumptions(params(), facts_of(9)))
    ball = MECHANISM.assumptions(params(norm="l2"), facts_of(9, norm=BALL))
    assert any("shortened" in line for line in ball)


# --- what is released ----------------------------------------------------------------------------


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
