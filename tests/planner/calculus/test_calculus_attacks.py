"""Worst cases found by other means: trade-offs by Neyman and Pearson, divergences by summation."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import optimize, stats

from planner.calculus import convert, profiles
from planner.calculus.leaves import Leaf

F = Fraction
SIZES = ["0.01", "0.1", "0.5", "1", "2", "4", "8"]
ORDERS = np.concatenate([1 + np.logspace(-6, 0, 40), np.logspace(0.4, 3, 60)])


def sums(weights):
    """The sums up to each place and beyond it, each added from its small end."""
    ends = np.concatenate([[0], np.cumsum(weights)])
    rest = np.concatenate([np.cumsum(weights[::-1])[::-1], [0]])
    return ends, rest


def vertices(p, q):
    """The vertices of the trade-off of two laws: alarms, 1 - alarms, misses, caught."""
    order = np.argsort(-(np.log(p) - np.log(q)))
    alarms, quiet = sums(q[order])
    caught, misses = sums(p[order])
    return alarms, quiet, misses, caught


def gdp_needed(alarms, quiet, misses, caught):
    """The least mu whose trade-off lies below all vertices; each quantile from its smaller tail."""
    inside = (np.minimum(alarms, quiet) > 0) & (np.minimum(misses, caught) > 0)

    def isf(mass, rest):
        return np.where(mass < rest, stats.norm.isf(mass), -stats.norm.isf(rest))

    needed = isf(alarms[inside], quiet[inside]) - isf(caught[inside], misses[inside])
    return float(needed.max())


def renyi(p, q, order):
    logs, above = np.log(p) - np.log(q), order - 1
    if above < 1:  # near 1 the logarithm of a sum near 1 would lose its digits
        return float(np.log1p(p @ np.expm1(above * logs)) / above)
    return float(np.logaddexp.reduce(np.log(q) + order * logs) / above)


def random_pairs(low, high, seed, rounds=150):
    """Pairs of laws on 2 to 11 points whose log-ratio lies in an interval of length high - low.

    Weights are random, ratios mostly at the ends, the interval's place random where it may be.
    """
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        atoms = rng.integers(2, 12)
        q = rng.dirichlet(np.full(atoms, 10 ** rng.uniform(-1.5, 0.5)))
        q = np.maximum(q, 1e-12)
        q /= q.sum()
        ends = rng.choice([low, high], atoms)
        inner = rng.uniform(low, high, atoms)
        ratio = np.where(rng.random(atoms) < 0.8, ends, inner)
        p = q * np.exp(ratio)
        yield p / p.sum(), q


def two_points(eta, biases=200):
    """The two-point pairs with log-ratios t and t - eta, for every place t of the interval."""
    for t in np.linspace(0, eta, biases + 2)[1:-1]:
        q1 = (1 - np.exp(t - eta)) / (np.exp(t) - np.exp(t - eta))
        q = np.array([q1, 1 - q1])
        yield q * np.exp([t, t - eta]), q


@pytest.mark.parametrize("size", SIZES)
def test_no_pure_pair_needs_more_gdp_and_one_needs_all(size):
    eps, claim = float(size), float(convert.pure_to_mu_squared(F(size))) ** 0.5
    response = np.array([1 / (1 + np.exp(-eps)), 1 / (1 + np.exp(eps))])
    worst = gdp_needed(*vertices(response, response[::-1]))
    assert worst == pytest.approx(claim, rel=1e-9)
    for p, q in random_pairs(-eps / 2, eps / 2, seed=20261):
        if np.abs(np.log(p / q)).max() <= eps:
            assert gdp_needed(*vertices(p, q)) <= claim * (1 + 1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_no_pure_pair_needs_more_rho_and_one_needs_all(size):
    eps, claim = float(size), float(convert.pure_to_rho(F(size)))
    response = np.array([1 / (1 + np.exp(-eps)), 1 / (1 + np.exp(eps))])
    slopes = [renyi(response, response[::-1], a) / a for a in ORDERS]
    assert max(slopes) <= claim * (1 + 1e-7)
    assert max(slopes) == pytest.approx(claim, rel=1e-5)
    for p, q in random_pairs(-eps / 2, eps / 2, seed=20262, rounds=60):
        if np.abs(np.log(p / q)).max() <= eps:
            assert max(renyi(p, q, a) / a for a in ORDERS[::5]) <= claim * (1 + 1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_no_pair_of_bounded_range_needs_more_gdp(size):
    eta, claim = float(size), float(convert.range_to_mu_squared(F(size))) ** 0.5
    needed = [gdp_needed(*vertices(p, q)) for p, q in two_points(eta)]
    assert max(needed) <= claim * (1 + 1e-8)
    assert max(needed) == pytest.approx(claim, rel=1e-3)
    for p, q in random_pairs(0, eta, seed=20263):
        assert np.ptp(np.log(p / q)) <= eta + 1e-9
        assert gdp_needed(*vertices(p, q)) <= claim * (1 + 1e-8)


@pytest.mark.parametrize("size", SIZES)
def test_no_pair_of_bounded_range_needs_more_rho(size):
    eta, claim = float(size), float(convert.range_to_rho(F(size)))
    found = 0.0
    for p, q in [*two_points(eta, 120), *random_pairs(0, eta, seed=20264, rounds=60)]:
        kl = float(np.sum(p * np.log(p / q)))
        found = max(found, kl, *(renyi(p, q, a) / a for a in ORDERS[::4]))
    exact = eta / np.expm1(eta) - 1 - np.log(eta / np.expm1(eta))
    assert exact <= claim
    assert found <= claim * (1 + 1e-6)
    assert found <= exact * (1 + 1e-6) or eta > 1


def test_the_largest_divergence_of_a_range_is_as_printed():
    """eta = 1/2: .0311420922611559, 0.35 % below eta^2/8."""
    eta = mpmath.mpf("0.5")
    value = eta / mpmath.expm1(eta) - 1 - mpmath.log(eta / mpmath.expm1(eta))
    assert mpmath.almosteq(value, mpmath.mpf("0.0311420922611559"), 1e-12)
    assert value < convert.range_to_rho(F(1, 2))


@pytest.mark.parametrize("size", SIZES)
def test_laplace_noise_needs_the_claimed_gdp_and_no_more(size):
    eps, claim = float(size), float(convert.laplace_to_mu_squared(F(size))) ** 0.5
    at = np.concatenate([np.linspace(-40, 40, 40001), [-eps / 2, 0, eps / 2, eps]])
    laws = [stats.laplace.sf(at), stats.laplace.cdf(at)]
    laws += [stats.laplace.cdf(at, loc=eps), stats.laplace.sf(at, loc=eps)]
    assert gdp_needed(*laws) == pytest.approx(claim, rel=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_laplace_noise_needs_the_claimed_rho_and_no_more(size):
    eps, claim = float(size), float(convert.laplace_to_rho(F(size)))

    def slope(a):
        first = np.log(a / (2 * a - 1)) + (a - 1) * eps
        second = np.log((a - 1) / (2 * a - 1)) - a * eps
        return np.logaddexp(first, second) / ((a - 1) * a)

    slopes = [slope(a) for a in ORDERS if a > 1 + 1e-4]
    assert max(slopes) <= claim * (1 + 1e-7)
    assert max(slopes) == pytest.approx(claim, rel=1e-3)


@pytest.mark.parametrize("first", ["0.1", "0.3", "0.5", "0.9"])
def test_two_laplace_coordinates_are_no_worse_than_one(first):
    """Shifts v1 + v2 = 1 by a grid of masses in the plane: every hockey stick is below `lap` 1."""
    v1, v2 = float(first), 1 - float(first)
    edges = np.unique(np.concatenate([np.linspace(-25, 25, 1601), [0, v1, v2]]))

    def masses(shift):
        return np.diff(stats.laplace.cdf(edges, loc=shift))

    p = np.outer(masses(v1), masses(v2))
    q = np.outer(masses(0), masses(0))
    for eps in np.linspace(0, 1, 11):
        found = float(np.maximum(p - np.exp(eps) * q, 0).sum())
        claim = float(profiles.laplace_delta(F(1), F(str(round(eps, 2)))))
        assert found <= claim + 1e-9


@pytest.fixture
def digits():
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize("scale", ["0.5", "1", "2", "8", "64", "512"])
@pytest.mark.parametrize("shift", [1, 2, 7])
def test_discrete_laplace_lies_on_laplace_with_the_inflated_eps(digits, scale, shift):
    """P(X >= t) = q^t/(1+q): every vertex needs at most D/s + 2 log cosh(1/(2s))."""
    s = mpmath.mpf(scale)
    q = mpmath.exp(-1 / s)
    inflated = shift / s + 2 * mpmath.log(mpmath.cosh(1 / (2 * s)))
    assert inflated <= shift / s * (1 + 1 / (4 * s))
    if (scale, shift) == ("1", 1):
        assert mpmath.almosteq(inflated, mpmath.mpf("1.24022901391656"), 1e-13)

    def beyond(t):
        return q**t / (1 + q) if t >= 0 else 1 - q ** (1 - t) / (1 + q)

    def place(mass):
        return -mpmath.log(2 * mass) if mass <= 0.5 else mpmath.log(2 * (1 - mass))

    reach = range(-int(12 * s) - 8, int(12 * s) + shift + 8, max(1, int(s / 8)))
    needed = [place(beyond(t)) - place(beyond(t - shift)) for t in [*reach, 0, 1, shift]]
    assert max(needed) <= inflated * (1 + mpmath.mpf("1e-30"))
    assert max(needed) > inflated * (1 - mpmath.mpf("1e-20"))


@pytest.mark.parametrize("scale", [1, 2, 4, 8, 16, 1024])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_gaussian_stays_below_its_claimed_gdp(scale, shift):
    """Vertices of integer Gaussian noise, 100 digits: mu is (D/s)(1 + c), c < 1/(20 s^2)."""
    with mpmath.workdps(100):
        s = mpmath.mpf(scale)
        reach = 10 * scale
        places = range(-2 * reach, 2 * reach + 1)
        weights = {k: mpmath.exp(-k * k / (2 * s * s)) for k in places}
        whole = mpmath.fsum(weights.values())
        beyond, mass = {}, mpmath.mpf(0)
        for k in reversed(places):
            mass += weights[k]
            beyond[k] = mass / whole

        def isf(mass):
            return mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mass)

        tried = {*range(-reach, reach, max(1, scale // 4)), 0, 1, 2, shift}
        needed = max(isf(beyond[t]) - isf(beyond[t - shift]) for t in tried)
        assert needed <= shift / s * (1 + 1 / (20 * s * s))
        assert needed >= shift / s * (1 + 1 / (30 * s * s)) or shift > scale // 2
        assert needed <= (shift + 1) / s


def test_the_discrete_gaussian_leaf_states_that_claim():
    leaf = Leaf.dgauss(3, 2048)
    assert leaf.param == F(3, 2048) * (1 + F(1, 20 * 2048**2))
    assert convert.charge(leaf, "rho").value == F(9, 2 * 2048**2)


@pytest.mark.parametrize("rho", ["0.001", "0.1", "1", "10"])
def test_the_delta_of_rho_covers_gaussian_noise_and_randomised_response(rho):
    size = F(rho)
    eps0 = optimize.brentq(lambda e: e * np.tanh(e / 2) - float(rho), 1e-9, 100)
    for eps in ("0", "0.01", "0.1", "0.5", "1", "2", "5"):
        claim = profiles.zcdp_delta(size, F(eps))
        assert claim >= profiles.gdp_delta(2 * size, F(eps))
        e = float(eps)
        if e < eps0:
            assert float(claim) >= (1 - np.exp(e - eps0)) / (1 + np.exp(-eps0)) * (1 - 1e-9)


@pytest.mark.parametrize("size", ["0.05", "0.3", "1", "3"])
@pytest.mark.parametrize("eps", ["0", "0.01", "0.2", "0.7", "1.5", "2.9"])
def test_converting_never_lowers_delta(size, eps):
    """A conversion says at least what its source says, at every eps."""
    x, at = F(size), F(eps)
    sources = {
        "pure": (profiles.pure_delta(x, at), convert.pure_to_mu_squared(x), convert.pure_to_rho(x)),
        "br": (
            profiles.range_delta(x, at),
            convert.range_to_mu_squared(x),
            convert.range_to_rho(x),
        ),
        "lap": (
            profiles.laplace_delta(x, at),
            convert.laplace_to_mu_squared(x),
            convert.laplace_to_rho(x),
        ),
    }
    for delta, mu_squared, rho in sources.values():
        assert profiles.gdp_delta(mu_squared, at) >= delta
        assert profiles.zcdp_delta(rho, at) >= delta
    assert profiles.range_delta(2 * x, at) >= sources["pure"][0]
    assert profiles.pure_delta(x, at) >= max(sources["br"][0], sources["lap"][0])
    rho = convert.gdp_to_rho(x)
    assert profiles.zcdp_delta(rho, at) >= profiles.gdp_delta(x, at)
