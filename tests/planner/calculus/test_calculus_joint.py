"""The joint mu of mixed plans: just above what some eps demands, and below the sum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.calculus import convert, gaussian_fit
from planner.calculus.compose import total
from planner.calculus.discretise import Part
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.gaussian_fit import is_within, least_mu_squared, rho_of
from planner.calculus.joint import joint, least_possible, sum_of
from planner.calculus.joint_total import JointTotal, could_be, joint_total
from planner.calculus.leaves import Leaf
from planner.calculus.pld import compose
from suites.optimist import composed, delta_at, gaussian, least_mu

F = Fraction


def part(kind, param, count=1):
    return Part(kind, F(param), count)


PLANS = {
    "ten Laplace tests": [part("lap", "0.1", 10)],
    "ten Laplace tests beside Gaussian noise": [part("gdp", "0.25"), part("lap", "0.1", 10)],
    "one Laplace test beside much Gaussian noise": [part("gdp", 1), part("lap", "0.1")],
    "cox, peel and pace": [part("br", "0.1", 20), part("gdp", "0.328"), part("pure", 1)],
    "three coins": [part("pure", 1, 3)],
    "selections": [part("br", "0.1", 20)],
    "many selections beside Gaussian noise": [part("br", "0.2", 50), part("gdp", "0.5")],
    "large Laplace tests": [part("lap", 1, 20)],
    "all kinds": [
        part("br", "0.3", 4), part("gdp", "0.04"), part("lap", "0.25", 3), part("pure", "0.2", 2)
    ],
}  # fmt: skip


def law(parts):
    names = {"gdp": "gauss"}
    return [
        (names.get(p.kind, p.kind), sqrt(p.param) if p.kind == "gdp" else float(p.param), p.count)
        for p in parts
    ]


@pytest.mark.parametrize("name", PLANS)
def test_the_joint_mu_lies_just_above_what_some_eps_demands(name):
    parts = tuple(PLANS[name])
    found = float(joint(parts).mu_squared)
    below = least_mu(composed(law(parts), 2e-4)) ** 2
    close = least_mu(composed(law(parts), 2e-4, 0.5)) ** 2
    assert below <= found
    assert close * (1 - 1e-5) <= found <= close * (1 + 1.5e-3)
    assert found < float(sum_of(parts))
    assert found >= float(least_possible(parts)) * (1 - 1e-3)


def test_ten_laplace_tests_cost_two_thirds_of_their_sum():
    parts = (part("lap", "0.1", 10),)
    found, apart = joint(parts).mu_squared, sum_of(parts)
    assert 2 * rho_of(parts) < found < 2 * rho_of(parts) * F(104, 100)
    assert F(66, 100) < found / apart < F(68, 100)


def test_one_draw_alone_has_no_joint_cost_below_its_own():
    for kind, convert_to in (
        ("pure", convert.pure_to_mu_squared),
        ("lap", convert.laplace_to_mu_squared),
        ("br", convert.range_to_mu_squared),
    ):
        alone = (part(kind, "0.7"),)
        assert joint(alone) is None
        losses = compose(alone, F(7, 1000), 128)
        tight = convert_to(F(7, 10))
        assert not is_within(losses, alone, tight * (1 - F(1, 10**6)))
        assert is_within(losses, alone, tight * (1 + F(1, 1000)))
    assert joint((part("gdp", 1),)) is None
    assert joint((part("gdp", 1, 3),)) is None


def test_what_gains_nothing_and_what_is_too_large_is_left_to_the_sum():
    assert joint((part("gdp", 1), part("lap", "0.001", 50))) is None
    assert joint((Part("adp", F(1), 2, F(1, 100)),)) is None
    assert joint((Part("adp", F(1), 1, F(1, 100)), part("lap", "0.3", 4))) is None
    assert joint((part("lap", 300, 5),)) is None


@pytest.mark.parametrize("name", ["ten Laplace tests", "cox, peel and pace", "three coins"])
def test_a_smaller_claim_is_refused(name):
    parts = tuple(PLANS[name])
    found = joint(parts)
    assert found.apart == 0
    losses = compose(parts, found.step, found.bits)
    assert is_within(losses, parts, found.mu_squared)
    assert is_within(losses, parts, 2 * found.mu_squared)
    assert not is_within(losses, parts, found.mu_squared * (1 - F(1, 1000)))
    assert not is_within(losses, parts, 2 * rho_of(parts) / 2)


def test_the_claimed_curve_lies_above_the_profile_of_the_draws_at_every_eps():
    parts = tuple(PLANS["all kinds"])
    mu = sqrt(joint(parts).mu_squared)
    losses = composed(law(parts), 2e-4)
    for eps in np.linspace(-3, 5, 60):
        assert gaussian(mu, eps) >= delta_at(losses, eps) - 1e-14


random_parts = st.builds(
    part,
    st.sampled_from(["lap", "pure", "br", "gdp"]),
    st.fractions(min_value=F(1, 50), max_value=1, max_denominator=100),
    st.integers(1, 6),
)


def merged(parts):
    kept = {}
    gaussian_part = F(0)
    for p in parts:
        if p.kind == "gdp":
            gaussian_part += p.param * p.count
        else:
            kept[p.kind, p.param] = kept.get((p.kind, p.param), 0) + p.count
    found = [Part(kind, param, count) for (kind, param), count in kept.items()]
    if gaussian_part:
        found.append(Part("gdp", gaussian_part))
    return tuple(sorted(found))


def is_never_below(parts):
    parts = merged(parts)
    found = joint(parts)
    below = least_mu(composed(law(parts), 1e-3)) ** 2
    if found is not None:
        assert below * (1 - 1e-9) <= found.mu_squared < sum_of(parts)
    assert below * (1 - 1e-9) <= sum_of(parts)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.lists(random_parts, min_size=1, max_size=4))
def test_random_plans_never_cost_less_than_some_eps_demands(parts):
    is_never_below(parts)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(random_parts, min_size=1, max_size=6))
def test_many_random_plans_never_cost_less_than_some_eps_demands(parts):
    is_never_below(parts)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.lists(random_parts, min_size=1, max_size=3), random_parts)
def test_a_further_draw_never_lowers_the_joint_cost(parts, more):
    def least(some):
        some = merged(some)
        found = joint(some)
        return sum_of(some) if found is None else found.mu_squared

    assert least(parts) <= least([*parts, more]) * (1 + F(1, 500))


@pytest.mark.parametrize("eta", ["0.01", "0.5", "2", "4", "5", "9", "40"])
def test_what_no_grid_can_show_lies_just_below_twice_the_divergence(eta):
    size = float(eta)
    divergence = size / np.tanh(size / 2) - 2
    below = float(least_possible([part("br", eta)]))
    assert 0.9 * 2 * divergence < below <= 2 * divergence * (1 + 1e-9)


# Mutants: each forgets one part of the argument, and a claim that is too small then passes.


def test_without_the_mass_at_infinity_too_small_a_claim_passes():
    parts = (part("gdp", "0.25"), part("lap", "0.3", 4))
    losses = compose(parts, F(1, 50), 128)
    enough = least_mu_squared(losses, parts)[0] * F(1001, 1000)
    assert is_within(losses, parts, enough)
    leaking = replace(losses, infinite=losses.infinite + (1 << 120))
    assert not is_within(leaking, parts, enough)


def test_with_the_tail_of_another_plan_the_tail_is_not_covered():
    parts = (part("pure", 6, 2),)
    losses = compose(parts, F(1, 10), 128)
    enough = least_mu_squared(losses, parts)[0] * F(1001, 1000)
    assert is_within(losses, parts, enough)
    larger = (part("pure", 60, 20),)
    assert not is_within(losses, larger, enough)


def test_masses_below_the_truth_let_too_small_a_claim_pass():
    parts = (part("lap", "0.1", 10),)
    losses = compose(parts, F(1, 100), 128)
    honest = least_mu_squared(losses, parts)[0]
    thinned = replace(losses, masses=tuple(m - m // 50 for m in losses.masses))
    assert least_mu_squared(thinned, parts)[0] < honest
    assert not is_within(losses, parts, least_mu_squared(thinned, parts)[0] * F(999, 1000))


# The two facts of analysis that the tail stands on.


def test_the_root_of_minus_the_logarithm_of_the_normal_tail_is_convex():
    with mpmath.workdps(40):

        def root(z):
            return mpmath.sqrt(-mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)) / 2))

        for tenth in range(-80, 400):
            z = mpmath.mpf(tenth) / 10
            assert root(z - mpmath.mpf("0.01")) + root(z + mpmath.mpf("0.01")) > 2 * root(z)


def test_the_normal_hazard_is_convex():
    with mpmath.workdps(40):
        for tenth in range(-80, 400):
            z = mpmath.mpf(tenth) / 10
            hazard = mpmath.npdf(z) / (mpmath.erfc(z / mpmath.sqrt(2)) / 2)
            w = hazard - z
            assert 2 * w * w + z * w - 1 > 0


def test_the_bounds_of_the_tail_bound_the_power_of_every_test():
    parts = tuple(PLANS["all kinds"])
    edge = gaussian_fit._Tail(parts)
    at, masses = composed(law(parts), 1e-3)
    order = np.argsort(-at)
    power = np.cumsum(masses[order])
    rate = np.cumsum((masses * np.exp(-at))[order])
    for least in (1e-6, 1e-4, 1e-2, 0.1):
        place = int(np.searchsorted(rate, least)) - 1
        bound = float(gaussian_fit.arb.mid(edge.power(gaussian_fit.arb(rate[place]))))
        assert power[place] <= bound * (1 + 1e-9)


# Leaves of a plan, by dataset and site.

TESTS = [Leaf.lap(1, 10, dataset="d") for _ in range(10)]


def at(site, leaves=TESTS):
    return [replace(leaf, site=site) for leaf in leaves]


def test_leaves_together_cost_the_joint_mu_or_the_sum():
    found = joint_total(TESTS)
    assert found.by == "PLD"
    assert joint(parts_of(TESTS)).mu_squared <= found.mu_squared < F("0.1003")
    alone = joint_total(TESTS[:1])
    assert alone == JointTotal(total(TESTS[:1], "mu_squared"), "sum")
    assert joint_total([*TESTS, Leaf.declared("zcdp", 1, dataset="d")]) is None
    assert joint_total([]) == JointTotal(F(0), "sum")


def test_sites_and_datasets_add_up_as_sums_do():
    one = joint_total(TESTS).mu_squared
    assert joint_total([*at("a"), *at("b")]).mu_squared == one
    assert joint_total([*at("a"), *at("b")], 2).mu_squared == 2 * one
    assert joint_total([*TESTS, *at("b")]).mu_squared == 2 * one
    other = [replace(leaf, dataset="e") for leaf in TESTS]
    assert joint_total([*TESTS, *other]).mu_squared == 2 * one


def test_what_cannot_fit_is_known_without_composing():
    own = total(TESTS, "mu_squared")
    assert could_be(TESTS, own)
    assert could_be(TESTS, joint_total(TESTS).mu_squared)
    assert not could_be(TESTS, F("0.09"))
    assert not could_be([*TESTS, Leaf.declared("zcdp", 1, dataset="d")], F(9))
