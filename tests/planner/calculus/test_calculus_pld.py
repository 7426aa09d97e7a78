"""Composition on a grid of privacy losses: golden values, plans of other libraries, attacks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, exp, expm1

import numpy as np
import pytest
from scipy import integrate, stats

from planner.calculus import grid_eps, profiles
from planner.calculus.compose import eps_at
from planner.calculus.discretise import Part, discretise
from planner.calculus.dominating_pairs import parts_of, parts_over_sites
from planner.calculus.leaves import Draft, Leaf
from planner.calculus.pld import TooLarge, compose, vertices
from suites.optimist import composed, delta_at

F = Fraction
SMALL = F(1, 10**5)
PLAN_A = [Leaf.gauss(1, 2), Leaf.lap(1, 2)]
PLAN_B = [
    Leaf.declared("pure", 1),
    Leaf.br(1, 20, count=20),
    Leaf.gauss(8, 100, count=20),
    Leaf.gauss(1, F("2.236067977499789697")),
]
PLAN_C = [Leaf.br(1, 10, count=50), Leaf.gauss(1, 10, count=50)]
PLAN_D = [
    Leaf.declared("pure", F(1, 10), count=10),
    Leaf.lap(1, 10, count=10),
    Leaf.gauss(3, 10),
]
PLAN_E = [
    Leaf.declared("adp", F(3, 10), F(1, 10**6), count=2),
    Leaf.gauss(4, 10),
    Leaf.br(1, 4),
]


def profile(losses, eps):
    """The bound of delta at any real eps, in floats, from the masses themselves."""
    step, scale = float(losses.step), 2.0**losses.bits
    places = step * (losses.low + np.arange(len(losses.masses)))
    masses = np.array([float(int(mass)) for mass in losses.masses]) / scale
    beyond = losses.infinite / scale
    return beyond + float(np.sum(masses * np.maximum(0, -np.expm1(eps - places))))


def gaussian(mu, eps):
    """delta of mu-GDP at any real eps, by scipy."""
    return stats.norm.sf(eps / mu - mu / 2) - exp(eps) * stats.norm.sf(eps / mu + mu / 2)


def gaussian_beside(density, atoms, mu, eps):
    """delta of a bounded loss (a density and atoms) beside a Gaussian one, by quadrature."""
    whole = sum(mass * gaussian(mu, eps - at) for at, mass in atoms)
    low, high = atoms[0][0], atoms[-1][0]
    value, _ = integrate.quad(
        lambda t: density(t) * gaussian(mu, eps - t), low, high, epsabs=0, epsrel=1e-13
    )
    return whole + value


@pytest.mark.parametrize(
    ("leaves", "eps", "printed"),
    [
        ([Leaf.br(2, 10), Leaf.gauss(3, 10)], F(1, 2), 0.0202787526659111),
        ([Leaf.lap(1, 2), Leaf.gauss(1, 2)], F("2.4"), 1.13004367969418e-5),
    ],
    ids=["G35", "G36"],
)
def test_the_grid_comes_down_to_the_exact_mixed_values(leaves, eps, printed):
    parts = parts_of(leaves)
    coarse, fine = (
        profile(compose(parts, F(1, step), work=1 << 22), float(eps)) for step in (500, 1000)
    )
    assert printed < fine < coarse < printed * (1 + 4e-5)
    # The error is of second order in the step; what remains is the exact value.
    assert (4 * fine - coarse) / 3 == pytest.approx(printed, rel=2e-9)


def test_the_exact_mixed_values_follow_from_quadrature():
    eta, eps = 0.4, 0.5

    def density(t):
        u = exp((eta - t) / 2)
        return exp(eta) / expm1(eta) / (2 * u)

    value = gaussian_beside(density, [(-eta, 0), (eta, 0)], 0.3, eps)
    assert value == pytest.approx(0.0202787526659111, rel=1e-12)
    atoms = [(-0.5, exp(-0.5) / 2), (0.5, 0.5)]
    value = gaussian_beside(lambda t: exp((t - 0.5) / 2) / 4, atoms, 0.5, 2.4)
    assert value == pytest.approx(1.13004367969418e-5, rel=1e-12)


@pytest.mark.parametrize(
    ("plan", "low", "high"),
    [
        (PLAN_A, "2.415186", "2.4152"),
        (PLAN_B, "3.5246", "3.5247"),
        (PLAN_D, "2.080907", "2.08091"),
        (PLAN_E, "2.347208", "2.34722"),
    ],
    ids="ABDE",
)
def test_plans_cost_what_other_libraries_approach(plan, low, high):
    bound = eps_at(plan, SMALL)
    assert bound.by == "PLD"
    assert F(low) < bound.eps < F(high)


def test_the_grid_is_not_always_the_least_bound():
    bound = eps_at(PLAN_C, SMALL)
    assert bound.by == "C9"
    assert float(bound.eps) == pytest.approx(4.72839, abs=1e-5)
    (parts,) = parts_over_sites(PLAN_C)
    assert float(grid_eps.eps_at(parts, SMALL)) == pytest.approx(4.7529, abs=1e-4)


def test_delta_and_eps_belong_together():
    for plan in (PLAN_A, PLAN_D, PLAN_E):
        parts = parts_of(plan)
        for delta in (F(1, 100), SMALL, F(1, 10**12)):
            eps = grid_eps.eps_at(parts, delta)
            if eps is not None:
                assert delta * (1 - F(1, 10**8)) < grid_eps.delta_at(parts, eps) <= delta
                assert grid_eps.delta_at(parts, eps * (1 - F(1, 10**6))) > delta
    assert grid_eps.eps_at(parts_of(PLAN_E), F(1, 10**6)) is None
    assert grid_eps.eps_at(parts_of(PLAN_A), F(9, 10)) == 0
    assert grid_eps.delta_at(parts_of(PLAN_A), F(10**3)) < F(1, 10**15)


@pytest.mark.parametrize(("mu", "count"), [("0.1", 1), ("0.1", 100), ("0.5", 7), ("1.3", 1)])
def test_gaussian_plans_through_the_grid_stay_close_to_the_exact_profile(count, mu):
    exact = float(mu) * count**0.5
    losses = compose([Part("gdp", F(mu) ** 2 * count)], F(1, 1000), work=1 << 23)
    for eps in (-2.0003, -0.5, -0.0007, 0.0, 0.3, 1.00049, 2.5, 3.0):
        truth = gaussian(exact, eps)
        assert -2e-15 <= profile(losses, eps) - truth <= 2e-4 * truth + 1e-18


def test_unmerged_gaussian_draws_stay_above_their_exact_sum():
    losses = compose([Part("gdp", F(1, 100), 16)], F(1, 1000))
    for eps in (-1.0, 0.0, 0.5, 2.0):
        truth = gaussian(0.4, eps)
        assert 0 <= profile(losses, eps) - truth <= 2e-3 * truth


@pytest.mark.parametrize("size", ["0.1", "0.3337", "1.9"])
@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_randomised_response_on_the_grid_is_never_below_the_binomial(size, count):
    eps0 = float(size)
    losses = compose([Part("pure", F(size), count)], F(1, 200))
    yes = 1 / (1 + exp(-eps0))
    for eps in (-0.8 * eps0 * count, -0.1, 0.0, 0.2 * eps0, 0.9 * eps0, eps0 * count * 0.7):
        truth = sum(
            comb(count, k) * yes**k * (1 - yes) ** (count - k) * max(0.0, -expm1(eps - at))
            for k in range(count + 1)
            if (at := (2 * k - count) * eps0) > eps
        )
        assert -1e-14 <= profile(losses, eps) - truth <= 1e-3


def laplace_profile(eps0, eps):
    """delta of one Laplace draw at any real eps by quadrature over the outcomes."""

    def gap(x):
        return max(0.0, exp(-abs(x - eps0)) / 2 - exp(eps) * exp(-abs(x)) / 2)

    kinks = sorted({0.0, eps0, min(max((eps + eps0) / 2, 0.0), eps0)})
    value, _ = integrate.quad(gap, -40, 40 + eps0, points=kinks, limit=400, epsabs=1e-13)
    return value


@pytest.mark.parametrize("size", ["0.05", "0.5", "1.2345", "3"])
def test_one_laplace_draw_is_never_below_its_integral(size):
    losses = discretise(Part("lap", F(size)), F(1, 100), 96)
    eps0 = float(size)
    for eps in (-1.5 * eps0, -0.3, 0.0, 0.4 * eps0, 0.97 * eps0):
        truth = laplace_profile(eps0, eps)
        assert -1e-10 <= profile(losses, eps) - truth <= 2e-4


def worst_of_range(eta, rounds, eps):
    """The largest delta of an adversary who picks a two-point pair of this range each round."""
    worst = 0.0
    for choice in combinations_with_replacement(np.linspace(0.05, 0.95, 9) * eta, rounds):
        laws = [(0.0, 1.0)]
        for t in choice:
            p = exp(t) * (1 - exp(t - eta)) / (exp(t) - exp(t - eta))
            laws = [
                (loss + add, mass * part)
                for loss, mass in laws
                for add, part in ((t, p), (t - eta, 1 - p))
            ]
        worst = max(worst, sum(m * max(0.0, -expm1(eps - at)) for at, m in laws))
    return worst


@pytest.mark.parametrize("eta", ["0.5", "2"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_choice_of_two_point_pairs_beats_the_logistic_pair(eta, rounds):
    losses = compose([Part("br", F(eta), rounds)], F(1, 200))
    for eps in np.array([-0.5, -0.1, 0.0, 0.1, 0.5, 0.8]) * float(eta) * rounds:
        assert profile(losses, eps) >= worst_of_range(float(eta), rounds, eps) - 1e-12


PROFILES = {
    "pure": profiles.pure_delta,
    "lap": profiles.laplace_delta,
    "br": profiles.range_delta,
}


@pytest.mark.parametrize("kind", PROFILES)
def test_a_draw_on_the_grid_meets_its_profile_at_the_dots(kind):
    losses = discretise(Part(kind, F(1, 3)), F(1, 60), 96)
    for place in range(20):
        eps = F(place, 60)
        truth = float(PROFILES[kind](F(1, 3), eps))
        assert profile(losses, float(eps)) == pytest.approx(truth, abs=1e-15)
        mirrored = -expm1(-float(eps)) + exp(-float(eps)) * truth
        assert profile(losses, -float(eps)) == pytest.approx(mirrored, abs=1e-15)


def test_masses_are_those_of_a_law_and_symmetric():
    for part in (Part("gdp", F(1, 4)), Part("pure", F(1, 2)), Part("adp", F(1, 2), 1, F(1, 100))):
        losses = discretise(part, F(1, 50), 96)
        whole = sum(int(mass) for mass in losses.masses) + losses.infinite
        assert 0 <= whole - 2**96 <= 2 * len(losses.masses)
        assert losses.low == -(len(losses.masses) - 1) // 2
        for place in (1, 3, len(losses.masses) // 2):
            right, left = losses.masses[place - losses.low], losses.masses[-place - losses.low]
            if right > 10**12:
                assert int(left) / int(right) == pytest.approx(exp(-place / 50), rel=1e-9)


def test_vertices_are_the_sums_above_each_step():
    losses = compose([Part("lap", F(1, 10), 3)], F(1, 100))
    found = {index: (above, float(below)) for index, above, below in vertices(losses)}
    for index in (-5, 0, 7, 29):
        kept = [(losses.low + k, int(m)) for k, m in enumerate(losses.masses)]
        assert found[index][0] == losses.infinite + sum(m for at, m in kept if at > index)
        below = sum(m * exp(-at / 100) for at, m in kept if at > index)
        assert found[index][1] == pytest.approx(below, rel=1e-12)


def test_too_fine_a_grid_is_refused_and_a_coarser_one_is_taken():
    with pytest.raises(TooLarge):
        compose([Part("pure", F(1), 10**6)], F(1, 1000))
    many = (Part("lap", F(1, 3)), Part("pure", F(1), 500))
    eps = grid_eps.eps_at(many, SMALL)
    assert eps is not None
    assert 231 < eps < 231 + 5 * 500**0.5
    assert grid_eps.eps_at(many, F(999, 1000)) > 231 - 5 * 500**0.5
    assert grid_eps.eps_at((Part("lap", F(1)), Part("pure", F(10**9))), SMALL) is None


def test_the_order_of_leaves_and_their_grouping_do_not_matter():
    some = [Leaf.lap(1, 3), Leaf.br(1, 9, count=4), Leaf.gauss(1, 4), Leaf.lap(1, 3)]
    assert parts_of(some) == parts_of(some[::-1])
    assert parts_of(some)[-1] == Part("lap", F("0.333333333334"), 2)
    assert eps_at(some, SMALL) == eps_at(some[::-1], SMALL)


def test_a_further_leaf_costs_more_and_more_noise_less():
    before = eps_at(PLAN_A, SMALL).eps
    for more in (
        Leaf.lap(1, 50),
        Leaf.br(1, 50),
        Leaf.gauss(1, 50),
        Leaf.declared("pure", F(1, 9)),
    ):
        assert eps_at([*PLAN_A, more], SMALL).eps > before
    assert eps_at([Leaf.gauss(1, 2), Leaf.lap(1, F(21, 10))], SMALL).eps < before


def test_caps_count_as_the_pair_of_their_whole_reserve():
    cap = Leaf.cap("gdp", F(1, 2), ("br", "gauss"))
    assert parts_of([cap]) == (Part("gdp", F(1, 4)),)
    assert parts_of([Leaf.cap("pure", F(1, 2), ("br",))]) == (Part("pure", F(1, 2)),)
    assert parts_of([Leaf.declared("zcdp", F(1, 2))]) is None
    assert parts_of([Draft("adp", 1, F(1, 2))]) is None


def test_at_sites_the_worst_site_counts():
    def at(site):
        return [Leaf.gauss(1, 2, dataset="d", site=site), Leaf.lap(1, 2, dataset="d", site=site)]

    less = [Leaf.gauss(1, 4, dataset="d", site="c"), Leaf.lap(1, 4, dataset="d", site="c")]
    alone = eps_at(PLAN_A, SMALL)
    assert eps_at([*at("a"), *at("b"), *less], SMALL) == alone
    assert len(parts_over_sites([*at("a"), *at("b"), *less])) == 2
    both = eps_at([*at("a"), *at("b"), *less], SMALL, max_sites=2)
    assert both == eps_at([*PLAN_A, *PLAN_A], SMALL)
    assert parts_over_sites([*at("a"), Leaf.declared("zcdp", 1, dataset="d", site="b")]) is None
    beside = eps_at([*at("a"), *less, Leaf.br(1, 9, dataset="d")], SMALL)
    assert beside == eps_at([*PLAN_A, Leaf.br(1, 9)], SMALL)


def random_parts(generator):
    parts = {}
    for _ in range(generator.integers(1, 7)):
        kind = generator.choice(["pure", "lap", "br", "gdp"])
        param = F(int(generator.integers(2, 120)), 100)
        parts[kind, param if kind != "gdp" else F(0)] = (param, int(generator.integers(1, 9)))
    return tuple(
        sorted(
            Part(
                str(kind),
                param if kind != "gdp" else param**2 * count,
                1 if kind == "gdp" else count,
            )
            for (kind, _), (param, count) in parts.items()
        )
    )


def is_never_below(parts):
    """Certified delta against float sums of the losses' own laws, rounded down and to nearest."""
    laws = [
        ("gauss", float(p.param) ** 0.5, 1)
        if p.kind == "gdp"
        else (p.kind, float(p.param), p.count)
        for p in parts
    ]
    losses = grid_eps.on_grid(parts)
    below, near = (composed(laws, 1e-3, down) for down in (1.0, 0.5))
    size = float(np.sum(near[0] * near[1]))
    for eps in (-size, -0.1, 0.0, size, size + 2 * size**0.5, size + 4 * size**0.5):
        ours = profile(losses, eps)
        assert ours >= delta_at(below, eps) - 1e-12  # the floats' own error
        assert ours <= delta_at(near, eps) * (1 + 1e-2) + 1e-4


@pytest.mark.parametrize("seed", range(10))
def test_random_plans_are_never_below_the_truth(seed):
    is_never_below(random_parts(np.random.default_rng(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 500))
def test_many_random_plans_are_never_below_the_truth(seed):
    is_never_below(random_parts(np.random.default_rng(seed)))


# Mutants: each leaves out one step of the argument, and the result falls below the truth.


def test_masses_rounded_down_or_trimmed_away_fall_below_the_truth():
    parts = [Part("lap", F(1, 4), 12), Part("gdp", F(1, 4))]
    losses = compose(parts, F(1, 100))
    truth = composed([("lap", 0.25, 12), ("gauss", 0.5, 1)], 1e-4, 0.5)
    far = 3.2
    assert profile(losses, far) > delta_at(truth, far)
    kept = [mass if losses.low + k < 330 else 0 for k, mass in enumerate(losses.masses)]
    assert profile(replace(losses, masses=tuple(kept)), far) < delta_at(truth, far) / 2
    halved = tuple(mass * 99 // 100 for mass in losses.masses)
    assert profile(replace(losses, masses=halved), 0.5) < delta_at(truth, 0.5)


def test_the_closed_form_of_a_coin_at_negative_eps_would_be_too_small():
    losses = discretise(Part("pure", F(1, 2)), F(1, 10), 96)
    table = (exp(0.5) - exp(-0.8)) / (1 + exp(0.5))
    assert table < 1 - exp(-0.8) - 0.05
    assert profile(losses, -0.8) == pytest.approx(1 - exp(-0.8), abs=1e-12)


def test_where_nearly_all_mass_is_infinite_no_delta_below_it_is_claimed():
    parts = (Part("adp", Fraction(3, 5), 10**5, Fraction(1, 200)),)
    assert grid_eps.eps_at(parts, Fraction(99, 100)) is None
