"""`COVARIANCE diagonal`: what is refused, what is planned, what is released."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.diagonal import MECHANISM
from executors.mechanisms.diagonal.forecast import forecast, resolve
from executors.mechanisms.diagonal.run import run
from executors.noise import OsSampler
from executors.statistics.covariance_diagonal import shrunk_variances
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.facts import Column, Facts, SourceFacts
from suites.covariance_tables import (
    ArrayReader,
    facts_of,
    loss_of,
    release,
    releases,
    summary_of,
)
from suites.samplers import ScriptedSampler

RHO = Cost("rho", Fraction(1, 10))


def params(**options: Any) -> Any:
    return MECHANISM.params(**options)


def facts_with(*columns: Column, rows: int = 100) -> Facts:
    return Facts((SourceFacts("t", rows, columns),), columns)


MIXED = (
    Column("a", "real", Fraction(-1), Fraction(1)),
    Column("b", "boolean"),
    Column("c", "real", Fraction(0), Fraction(2)),
)


# --- what is refused -----------------------------------------------------------------------------


def test_columns_are_checked_as_for_every_covariance() -> None:
    found = MECHANISM.check(params(), facts_with(Column("b", "real")), {"t": "rho"})
    assert [c.code for c in found] == ["DPQL-E056"]
    found = MECHANISM.check(params(center=(Fraction(1),)), facts_of(9), {"t": "rho"})
    assert [c.code for c in found] == ["DPQL-E057"]
    assert MECHANISM.check(params(), facts_of(9), {"t": "rho"}) == ()


def test_nothing_to_measure_is_refused_with_a_way_out() -> None:
    facts = facts_with(Column("b", "boolean"), Column("c", "event"))
    (found,) = MECHANISM.check(params(center="midpoint"), facts, {"t": "rho"})
    assert found.code == "DPQL-E055"
    assert "center=private" in found.help
    assert MECHANISM.check(params(), facts, {"t": "rho"}) == ()
    assert MECHANISM.check(params(variant="paper"), facts, {"t": "rho"}) == ()


def test_pure_eps_is_not_honoured() -> None:
    assert "eps" not in MECHANISM.units
    assert "mu=" in MECHANISM.unit_advice["eps"]
    with pytest.raises(Unsolvable):
        loss_of(MECHANISM, params(), facts_of(9), Cost("eps", Fraction(1)))


def test_the_paper_is_about_the_middle_unless_a_centre_is_written() -> None:
    assert params(variant="paper").center == "midpoint"
    assert params(variant="paper", center="private").center == "private"
    assert params().center == "private"
    full = params(variant="paper").model_dump()
    assert MECHANISM.params(**full) == params(variant="paper")


def test_noise_that_no_sampler_can_draw_is_refused_when_planned() -> None:
    with pytest.raises(Unsolvable, match="sampler"):
        resolve(params(), facts_of(9), Cost("mu", Fraction(1, 10**7)))


# --- what is planned -----------------------------------------------------------------------------


def test_the_published_noise_of_ten_columns_and_a_thousand_rows() -> None:
    facts = facts_of(1000, [(-1, 1)] * 10)
    paper = params(variant="paper")
    figures = forecast(paper, facts, loss_of(MECHANISM, paper, facts, RHO))
    assert figures["noise_sd_variance"] == pytest.approx(0.00707106781, abs=1e-10)
    assert figures["rms_error"] == pytest.approx(np.sqrt(10) * 0.00707106781)
    assert "noise_sd_mean" not in figures


def test_the_published_noise_of_squares_with_means() -> None:
    facts = facts_of(1000, [(-1, 1)] * 10)
    loss = loss_of(MECHANISM, params(), facts, Cost("rho", Fraction(3, 100)))
    figures = forecast(params(), facts, loss)
    assert figures["noise_sd_variance"] == pytest.approx(0.015286159317, abs=1e-11)
    assert figures["noise_sd_mean"] == pytest.approx(0.026476404590, rel=1e-5)
    assert MECHANISM.metrics == ()
    json.dumps(figures, allow_nan=False)
    assert resolve(params(), facts, RHO) == params()


@pytest.mark.parametrize("d", [1, 3, 17])
@pytest.mark.parametrize("options", [{}, {"center": "midpoint"}, {"variant": "paper"}])
def test_an_outsider_finds_the_same_noise(options: dict[str, Any], d: int) -> None:
    facts = facts_of(700, [(-3, 5)] * d)
    loss = loss_of(MECHANISM, params(**options), facts, RHO)
    figures = forecast(params(**options), facts, loss)
    (leaf,) = loss.leaves
    constant = 1.0 if options else 1.402
    assert leaf.width == (d if options else 2 * d)
    expected = np.sqrt(constant * d) / 700 / np.sqrt(0.2)
    assert figures["noise_sd_variance"] == pytest.approx(expected, rel=1e-9)
    assert figures["noise_sd_variance"] == pytest.approx(
        float(leaf.scale or 0) / 700 / 2**32, rel=1e-12
    )
    if not options:
        assert figures["noise_sd_mean"] == pytest.approx(np.sqrt(3) * expected, rel=1e-5)


def test_a_boolean_about_its_middle_is_not_priced() -> None:
    facts = facts_with(*MIXED)
    (leaf,) = loss_of(MECHANISM, params(center="midpoint"), facts, RHO).leaves
    (paper,) = loss_of(MECHANISM, params(variant="paper"), facts, RHO).leaves
    assert leaf.width == 2
    assert float((paper.sensitivity or 0) / (leaf.sensitivity or 1)) == pytest.approx(np.sqrt(1.5))
    elsewhere = params(center=(Fraction(0), Fraction(0), Fraction(0)))
    (other,) = loss_of(MECHANISM, elsewhere, facts, RHO).leaves
    assert other.width == 3


def test_the_forecast_error_is_that_of_simulated_releases() -> None:
    facts = facts_of(80)
    rows = np.ones((80, 3))
    for options in ({}, {"center": "midpoint"}):
        chosen = params(**options)
        summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
        figures = forecast(chosen, facts, loss_of(MECHANISM, chosen, facts, RHO))
        outcomes = releases(MECHANISM, chosen, facts, RHO, summary, range(1500))
        truth = np.eye(3) if options else np.zeros((3, 3))
        squares = [((np.array(o.value["raw"]) - truth) ** 2).sum() for o in outcomes]
        found = np.sqrt(np.mean(squares))
        assert found <= 1.05 * figures["rms_error"]
        if options:
            assert found == pytest.approx(figures["rms_error"], rel=0.05)


def test_the_forecast_error_at_zero_means_is_that_of_simulated_releases() -> None:
    facts, rows = facts_of(80), np.tile([[1.0], [-1.0]], (40, 3))
    summary = summary_of(MECHANISM, params(), facts, ArrayReader(rows))
    figures = forecast(params(), facts, loss_of(MECHANISM, params(), facts, RHO))
    outcomes = releases(MECHANISM, params(), facts, RHO, summary, range(1500))
    squares = [((np.diag(o.value["raw"]) - 1.0) ** 2).sum() for o in outcomes]
    found = np.sqrt(np.mean(squares))
    assert found == pytest.approx(figures["rms_error_at_zero_mean"], rel=0.05)
    assert found < 0.7 * figures["rms_error"]


def test_the_assumptions_name_what_is_missing() -> None:
    text = " ".join(MECHANISM.assumptions(params(center="midpoint"), facts_of(9)))
    assert "second moments" in text
    assert "not measured" in text
    assert "drawn towards" in text
    paper = " ".join(MECHANISM.assumptions(params(variant="paper"), facts_of(9)))
    assert "drawn towards" not in paper


# --- what is released ----------------------------------------------------------------------------


def test_without_noise_the_variances_are_numpys() -> None:
    rng = np.random.default_rng(1)
    rows = np.clip(rng.normal(0.3, (0.1, 0.2, 0.4), (500, 3)), -1, 1)
    facts = facts_of(500)
    for options in ({}, {"center": "midpoint"}, {"variant": "paper"}):
        chosen = params(**options)
        summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
        cost = Cost("rho", Fraction(1000))
        outcome = release(MECHANISM, chosen, facts, cost, summary, ScriptedSampler())
        expected = (rows**2).mean(axis=0) if options else rows.var(axis=0)
        assert np.diag(outcome.value["matrix"]) == pytest.approx(expected, abs=1e-4)
        assert np.array(outcome.value["matrix"])[0, 1] == 0.0
        assert outcome.value["kind"] == ("second moment" if options else "covariance")
        if not options:
            assert outcome.value["mean"] == pytest.approx(rows.mean(axis=0), abs=1e-4)


def test_a_boolean_about_its_middle_has_a_known_square() -> None:
    rows = np.random.default_rng(2).uniform((-1, 0, 0), (1, 1, 2), (100, 3))
    rows[:, 1] = np.rint(rows[:, 1])
    facts, chosen = facts_with(*MIXED), params(center="midpoint")
    summary = summary_of(MECHANISM, chosen, facts, ArrayReader(rows))
    outcome = release(MECHANISM, chosen, facts, RHO, summary, 1)
    assert outcome.value["matrix"][1][1] == 0.25
    assert outcome.uncertainty["standard_error"][1][1] == 0.0
    assert outcome.value["measurements"]["j"] == ["a", "c"]


def test_the_release_follows_the_published_shrinkage() -> None:
    """From the measurement table alone, in the unit box, with the planned noise."""
    rng = np.random.default_rng(3)
    d, n = 6, 150
    rows = np.clip(rng.normal(0.4, 0.3, (n, d)), -1, 1)
    facts = facts_of(n, [(-1, 1)] * d)
    summary = summary_of(MECHANISM, params(), facts, ArrayReader(rows))
    figures = forecast(params(), facts, loss_of(MECHANISM, params(), facts, RHO))
    for outcome in releases(MECHANISM, params(), facts, RHO, summary, range(20)):
        table = outcome.value["measurements"]
        m, y = np.array(table["y"][:d]), np.array(table["y"][d:])
        s1, tau = figures["noise_sd_variance"], figures["noise_sd_mean"]
        mh = np.clip(max(0, 1 - (d - 2) * 3 * s1**2 / (m @ m)) * m, -1, 1)
        se = s1 * np.sqrt(1 + 12 * np.mean(mh**2))
        expected = shrunk_variances(y - mh**2, se)
        assert np.diag(outcome.value["matrix"]) == pytest.approx(expected.value, abs=1e-4)
        assert outcome.value["mean"] == pytest.approx(mh, abs=1e-4)
        assert outcome.uncertainty["shrinkage"] == pytest.approx(expected.factor, abs=1e-3)
        assert tau == pytest.approx(np.sqrt(3) * s1, rel=1e-5)


def test_the_stated_errors_are_those_of_the_noise() -> None:
    rows = np.clip(np.random.default_rng(4).normal(0.3, 0.4, (300, 2)), -1, 1)
    facts = facts_of(300, [(-1, 1)] * 2)
    summary = summary_of(MECHANISM, params(), facts, ArrayReader(rows))
    outcomes = releases(MECHANISM, params(), facts, RHO, summary, range(1500))
    errors = np.array([np.diag(o.value["raw"]) for o in outcomes]) - rows.var(axis=0)
    stated = [[o.uncertainty["standard_error"][j][j] for j in (0, 1)] for o in outcomes]
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(
        np.sqrt((np.array(stated) ** 2).mean(axis=0)), rel=0.06
    )
    assert outcomes[0].uncertainty["standard_error"][0][1] is None


def test_a_release_is_diagonal_in_the_box_and_json_at_any_noise() -> None:
    rows = np.full((40, 3), 0.25)
    for cost in (Cost("rho", Fraction(1, 10**6)), Cost("mu", Fraction(3))):
        facts = facts_of(40)
        summary = summary_of(MECHANISM, params(), facts, ArrayReader(rows))
        for outcome in releases(MECHANISM, params(), facts, cost, summary, [1, 2, OsSampler()]):
            values = np.diag(outcome.value["matrix"])
            assert ((values >= 0) & (values <= 1)).all()
            json.dumps([dict(outcome.value), dict(outcome.uncertainty)], allow_nan=False)


def test_a_price_of_another_shape_is_a_bug() -> None:
    loss = loss_of(MECHANISM, params(), facts_of(9), RHO)
    with pytest.raises(ValueError, match="one discrete Gaussian leaf"):
        run(params(), facts_of(9), replace(loss, leaves=loss.leaves * 2), lambda _: None, None)
