"""Profiles of one draw, and their inverses, against mpmath and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx

from planner.calculus import ball_arithmetic, profiles
from planner.calculus.convert import NATIVE, charge
from planner.calculus.exact import step_down, step_up
from planner.calculus.leaves import Leaf

F = Fraction
DELTAS = [F("1e-30"), F("1e-6"), F("0.3"), F("0.999")]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


AT_EPS = [
    profiles.pure_delta,
    profiles.range_delta,
    profiles.laplace_delta,
    profiles.gdp_delta,
    profiles.zcdp_delta,
]
AT_DELTA = [
    profiles.pure_eps,
    profiles.range_eps,
    profiles.laplace_eps,
    profiles.gdp_eps,
    profiles.zcdp_eps,
    profiles.gdp_mu,
    profiles.zcdp_rho,
]
SIZES = [F("1e-12"), F("1e-4"), F("0.7"), F("30"), F("1000000")]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("size", SIZES)
def test_eps_at_delta_is_sound_and_tight_for_every_family(size, delta):
    pairs = [
        (profiles.pure_eps, profiles.pure_delta),
        (profiles.range_eps, profiles.range_delta),
        (profiles.laplace_eps, profiles.laplace_delta),
        (profiles.gdp_eps, profiles.gdp_delta),
    ]
    for eps_of, delta_of in pairs:
        eps = eps_of(size, delta)
        assert delta_of(size, eps) <= delta * (1 + F(1, 10**15))
        if eps == 0:
            assert delta_of(size, F(0)) <= delta
        else:
            assert delta_of(size, eps * (1 - F(1, 10**9))) > delta


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("size", SIZES)
def test_any_order_bounds_rho_and_the_chosen_one_is_nearly_best(size, delta):
    eps = profiles.zcdp_eps(size, delta)
    rho, log_delta = mpmath.mpf(str(float(size))), mpmath.log(mpmath.mpf(float(delta)))

    def at(t):
        alpha = 1 + t
        return alpha * rho - mpmath.log1p(1 / t) - (log_delta + mpmath.log(alpha)) / t

    best = float(profiles.zcdp_order(size, delta)) - 1
    near = [at(mpmath.mpf(best) * mpmath.exp(k / mpmath.mpf(10))) for k in range(-20, 21)]
    if eps > 0:
        assert float(eps) <= float(min(near)) * (1 + 1e-9)
    else:
        assert min(near) <= 1e-9


@pytest.mark.parametrize("size", SIZES)
def test_delta_of_rho_is_at_most_one_and_falls(size):
    deltas = [profiles.zcdp_delta(size, size * k) for k in (0, 1, 2, 4)]
    assert all(0 <= delta <= 1 for delta in deltas)
    assert deltas == sorted(deltas, reverse=True)


def test_beyond_the_largest_loss_delta_is_0():
    assert profiles.pure_delta(F(1), F(1)) == 0
    assert profiles.range_delta(F(1), F(2)) == 0
    assert profiles.laplace_delta(F(1), F(1)) == 0


def test_a_large_delta_needs_no_eps():
    assert profiles.pure_eps(F(1, 10), F(1, 2)) == 0
    assert profiles.range_eps(F(1, 10), F(1, 2)) == 0
    assert profiles.laplace_eps(F(1, 10), F(1, 2)) == 0
    assert profiles.gdp_eps(F(1, 100), F(1, 2)) == 0
    assert profiles.zcdp_eps(F(1, 10), F(9, 10)) == 0


def test_delta_of_gdp_in_the_far_tail_is_right():
    for mu, eps in (("0.5", 8), ("0.001", "0.02"), ("30", 600), ("0.1", 3)):
        m, e = mpmath.mpf(mu), mpmath.mpf(eps)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        ours = profiles.gdp_delta(F(mu) ** 2, F(eps))
        assert 0 <= mpmath.mpf(ours.numerator) / ours.denominator / exact - 1 < 1e-16


@pytest.mark.parametrize("bad", [F(0), F(1), F(2), F(-1), F(1, 10**61)])
def test_delta_lies_between_0_and_1(bad):
    for function in AT_DELTA:
        with pytest.raises(ValueError):
            function(F(1), bad)


@pytest.mark.parametrize("bad", [F(0), F(-1), F(10**41)])
def test_sizes_are_positive_and_in_range(bad):
    for function in AT_EPS:
        with pytest.raises(ValueError):
            function(bad, F(1))
    for function in (profiles.gdp_mu, profiles.zcdp_rho, profiles.zcdp_eps):
        with pytest.raises(ValueError):
            function(bad, F(1, 2))


def test_eps_is_not_negative_and_never_a_float():
    for function in AT_EPS:
        with pytest.raises(ValueError):
            function(F(1), F(-1))
        for bad in (float("nan"), float("inf"), 0.5):
            with pytest.raises(TypeError):
                function(F(1), bad)
            with pytest.raises(TypeError):
                function(bad, F(1))


@pytest.mark.parametrize("size", ["1e-60", "1e-40", "1e-12", "1e12", "1e39"])
def test_tails_are_enclosed(size):
    for leaf in (Leaf.declared("pure", F(size)), Leaf.lap(F(size), 1), Leaf.br(F(size), 2)):
        small = [charge(leaf, unit).value for unit in NATIVE.values()]
        assert all(value > 0 for value in small)
        if F(size) < 1:
            assert float(small[1] / leaf.param**2) == pytest.approx(
                0.125 if leaf.kind == "br" else 0.5
            )
            constant = math.pi / 8 if leaf.kind == "br" else math.pi / 2
            assert float(small[2] / leaf.param**2) == pytest.approx(constant)


def test_a_ball_is_read_exactly_at_any_precision():
    with ctx.workprec(400):
        third = arb(1) / 3
    assert ball_arithmetic.lower(third) < F(1, 3) < ball_arithmetic.upper(third)
    assert ball_arithmetic.upper(third) - ball_arithmetic.lower(third) < F(1, 10**100)
    assert abs(ball_arithmetic.near(third) - F(1, 3)) < F(1, 10**100)


def test_the_smallest_numbers_are_bounded_without_filling_memory():
    far = profiles.gdp_delta(F(1), F(10**9))
    assert far == F(1, 10**400)
    assert ball_arithmetic.lower((-(arb(10) ** 9)).exp()) == -F(1, 10**400)
    assert ball_arithmetic.near(arb(3)) == 3
    with pytest.raises(ArithmeticError):
        ball_arithmetic.upper((arb(10) ** 9).exp())


def test_what_cannot_be_enclosed_is_an_error():
    with pytest.raises(ArithmeticError):
        ball_arithmetic.sharp(lambda: arb(1, 0.5))
    with pytest.raises(ArithmeticError):
        ball_arithmetic.upper(arb("nan"))
    assert ball_arithmetic.holds(lambda: arb(2).sqrt(), F(3, 2))
    assert not ball_arithmetic.holds(lambda: arb(2).sqrt(), F(7, 5))


def test_normal_functions_agree_with_mpmath():
    for x in ("-30", "-1", "0", "0.25", "9"):
        point = arb(x)
        assert float(ball_arithmetic.cdf(point)) == pytest.approx(
            float(mpmath.ncdf(mpmath.mpf(x))), rel=1e-14
        )
        assert float(ball_arithmetic.tail(point)) == pytest.approx(
            float(mpmath.ncdf(-mpmath.mpf(x))), rel=1e-14
        )
    assert float(ball_arithmetic.quantile_of_tail(ball_arithmetic.tail(arb(9)))) == pytest.approx(
        9, rel=1e-13
    )


def test_a_root_is_found_from_far_below():
    estimate = ball_arithmetic.root(lambda x: x * x - 2, F(1, 10**9))
    assert abs(estimate**2 - 2) < F(1, 10**20)
    assert abs(ball_arithmetic.root(lambda x: x - 1, F(1, 2)) - 1) < F(1, 10**24)


def test_a_function_without_a_root_is_an_error(monkeypatch):
    monkeypatch.setattr(ball_arithmetic, "_STEPS", 2)
    with pytest.raises(ArithmeticError):
        ball_arithmetic.root(lambda x: x * x - 2, F(1, 10**9))
    with pytest.raises(ArithmeticError):
        ball_arithmetic.root(lambda x: arb(-1), F(1))


def test_rounding_steps_search_in_the_right_direction():
    assert profiles._least(F(1), lambda value: value >= step_up(F(1))) == step_up(F(1))
    assert profiles._greatest(F(1), lambda value: value <= step_down(F(1))) == step_down(F(1))
    with pytest.raises(ArithmeticError):
        profiles._least(F(1), lambda value: False)
    with pytest.raises(ArithmeticError):
        profiles._greatest(F(1), lambda value: False)


def test_a_search_cut_short_is_dearer_and_never_cheaper(monkeypatch):
    best = profiles.gdp_eps(F("1.2345"), F("1e-7"))
    monkeypatch.setattr(profiles, "_TRIES", 1)
    assert profiles.gdp_eps.__wrapped__(F("1.2345"), F("1e-7")) > best


def test_whether_a_value_is_within_a_bound_is_never_guessed():
    assert not ball_arithmetic.holds(lambda: arb(1, 0.5), F(1))
    assert ball_arithmetic.holds(lambda: arb(1) - arb(2) ** -300, 1 - F(1, 2**301))


def test_a_value_neither_above_nor_below_one_asks_for_more_bits():
    assert profiles._log_above_one(arb(1, 0.5)).is_nan()
    assert profiles._log_above_one(arb(0.5)) == 0
