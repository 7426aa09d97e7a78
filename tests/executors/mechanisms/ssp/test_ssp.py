"""`COVARIANCE ssp`: what is refused, what is planned."""

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
from executors.noise.sampler import LARGEST_SCALE as SAMPLED
from executors.pricing.covariance_frame import BALL_CONSTANT
from executors.pricing.drawable import LARGEST_SCALE
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.facts import Column, Facts, Norm, SourceFacts
from suites.covariance_tables import ArrayReader, facts_of, loss_of, releases, summary_of

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
    small = replace(BALL, bound=Fraction(1, 10**60))
    assert codes(facts_of(10, norm=small), norm="l2") == [("DPQL-E058", "norm")]
    far = replace(BALL, center=(Fraction(0), Fraction(10**60), Fraction(1)))
    assert codes(facts_of(10, norm=far), norm="l2") == [("DPQL-E058", "norm")]


@pytest.mark.parametrize(("center", "beside"), [("private", BALL_CONSTANT), ("midpoint", 0)])
def test_rows_of_a_ball_are_tested_against_the_length_that_is_priced(
    center: str, beside: int
) -> None:
    """The summary drops longer integer rows, so that the price is a fact."""
    facts, chosen = facts_of(9, norm=BALL), params(norm="l2", center=center)
    limit = dict(MECHANISM.query(chosen, facts).parameters)["limit"]
    (leaf,) = loss_of(MECHANISM, chosen, facts, RHO).leaves
    assert 2 * (limit + beside**2) ** 2 <= (leaf.sensitivity or 0) ** 2


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
