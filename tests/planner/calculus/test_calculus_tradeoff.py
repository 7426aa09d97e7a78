"""The power of tests in closed form, against the laws themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from planner.calculus.tradeoff import Worst
from planner.calculus.zcdp_power import zcdp_advantage, zcdp_power

F = Fraction
RATES = ["0.0001", "0.001", "0.01", "0.1", "0.3", "0.5", "0.7", "0.99"]


def trade_offs(size):
    e, rate = float(size), np.array([float(r) for r in RATES])
    yield "gdp", stats.norm.cdf(stats.norm.ppf(rate) + e)
    yield "pure", 1 - np.maximum.reduce([0 * rate, 1 - np.exp(e) * rate, np.exp(-e) * (1 - rate)])
    yield "br", np.exp(e) * rate / (1 + np.expm1(e) * rate)
    yield "lap", stats.laplace.sf(stats.laplace.isf(rate), loc=e)


@pytest.mark.parametrize("size", ["0.01", "0.5", "1", "3", "8"])
def test_power_is_that_of_the_trade_off(size):
    for family, expected in trade_offs(size):
        ours = [float(Worst(family, F(size)).power(F(rate))) for rate in RATES]
        assert ours == pytest.approx(list(np.minimum(expected, 1)), rel=1e-9)


@pytest.mark.parametrize("size", ["0.01", "0.5", "1", "3", "8"])
@pytest.mark.parametrize("family", ["gdp", "pure", "br", "lap"])
def test_advantage_is_the_largest_gap(family, size):
    worst = Worst(family, F(size))
    gaps = [worst.power(F(k, 400)) - F(k, 400) for k in range(1, 400)]
    assert max(gaps) <= worst.advantage()
    assert float(max(gaps)) == pytest.approx(float(worst.advantage()), abs=0.03)


def test_a_pair_of_eps_and_delta_adds_its_delta():
    worst = Worst("adp", F(1), F(1, 100))
    assert float(worst.power(F(1, 10))) == pytest.approx(0.01 + np.e / 10)
    assert float(worst.power(F(9, 10))) == pytest.approx(1 - np.exp(-1) * 0.09)
    assert float(worst.advantage()) == pytest.approx(0.01 + 0.99 * np.tanh(0.5))
    assert worst.power(F(995, 1000)) == 1


def test_a_large_eps_hides_nothing():
    assert Worst("pure", F(10**12)).power(F(1, 100)) == 1
    assert Worst("adp", F(10**12), F(1, 10)).advantage() == 1
    assert Worst("lap", F(10**12)).power(F(9, 10)) == 1


@pytest.mark.parametrize("bad", [F(0), F(-1), F(1), F(2)])
@pytest.mark.parametrize("family", ["gdp", "pure", "br", "lap", "adp", "zcdp"])
def test_a_rate_lies_between_0_and_1(family, bad):
    with pytest.raises(ValueError):
        Worst(family, F(1)).power(bad)


def coins(order, p, q):
    """(order - 1) D_order of two coins."""
    heads = order * np.log(p) + (1 - order) * np.log(q)
    tails = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
    return np.logaddexp(heads, tails)


ORDERS = 1 + np.logspace(-3, 3.5, 400)


@pytest.mark.parametrize("rho", ["0.001", "0.1", "1", "4"])
@pytest.mark.parametrize("rate", ["0.0001", "0.01", "0.3", "0.5", "0.9"])
def test_the_power_at_a_rho_is_the_least_that_is_excluded(rho, rate):
    """400 orders allow a test that is a little weaker, and forbid one that is 1 % stronger."""
    claim, a, size = float(zcdp_power(F(rho), F(rate))), float(rate), float(rho)

    def allowed(b):
        bound = ORDERS * (ORDERS - 1) * size
        return bool((coins(ORDERS, b, a) <= bound).all() and (coins(ORDERS, a, b) <= bound).all())

    below = a + (claim - a) * (1 - 1e-5)
    assert allowed(below)
    assert claim == 1 or not allowed(min(1 - 1e-15, a + (claim - a) * (1 + 1e-2)))


@pytest.mark.parametrize("rho", ["0.000001", "0.001", "0.1", "1", "10", "100"])
def test_no_mechanism_of_that_rho_is_more_powerful(rho):
    """Gaussian noise, randomised response and a range with this rho are rho-zCDP."""
    size = F(rho)
    eps0 = optimize.brentq(lambda e: e * np.tanh(e / 2) - float(rho), 1e-9, 1000)
    others = [
        Worst("gdp", F(np.sqrt(2 * float(rho))).limit_denominator(10**9) * F(999999, 10**6)),
        Worst("pure", F(eps0).limit_denominator(10**9) * F(999999, 10**6)),
        Worst("br", F(np.sqrt(8 * float(rho))).limit_denominator(10**9) * F(999999, 10**6)),
    ]
    for rate in RATES:
        for other in others:
            assert zcdp_power(size, F(rate)) >= other.power(F(rate))
            assert zcdp_advantage(size) >= other.advantage()


@pytest.mark.parametrize("rho", ["0.001", "0.1", "1", "10"])
def test_the_advantage_at_a_rho_is_that_of_randomised_response(rho):
    eps0 = optimize.brentq(lambda e: e * np.tanh(e / 2) - float(rho), 1e-9, 1000)
    assert float(zcdp_advantage(F(rho))) == pytest.approx(np.tanh(eps0 / 2), rel=1e-9)
    for rate in RATES:
        assert zcdp_power(F(rho), F(rate)) - F(rate) <= zcdp_advantage(F(rho))


@pytest.mark.parametrize("rho", ["1e-60", "1e-30", "1e-9", "1e4", "1e20", "1e40"])
def test_extreme_rho_still_bounds(rho):
    for rate in (F(1, 10**40), F(1, 10**4), F(1, 2), 1 - F(1, 10**20)):
        power = zcdp_power(F(rho), rate)
        assert rate < power <= 1
    assert 0 < zcdp_advantage(F(rho)) <= 1


def test_a_power_that_no_order_excludes_is_not_claimed(monkeypatch):
    """Where the search is wrong, the plain bound is returned."""
    from planner.calculus import zcdp_power as module

    monkeypatch.setattr(module, "_search", lambda rho, a: (a * 1.0001, 2.0, True))
    plain = zcdp_power.__wrapped__(F(1, 10), F(1, 100))
    assert plain > F("0.03506")
    assert float(plain) == pytest.approx(np.exp(-((np.log(100) ** 0.5 - 0.1**0.5) ** 2)))
