"""What an attacker can learn, against closed forms and simulated attacks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from planner.calculus.compose import eps_at
from planner.calculus.exact import root_up
from planner.calculus.leaves import Draft, Leaf
from planner.calculus.risk import CURVE, limits, posterior, pure_posterior, view, worst_cases
from planner.calculus.tradeoff import Worst

F = Fraction
GAUSSIAN = Leaf.gauss(1, root_up(F(5)))
"""rho = 0.1."""

# Advantage, TPR at 0.1 % and 1 %, belief from 1/2 after a flag at 1 %, rebuilding where a guess
# succeeds once in 10,000, eps at 1e-5 and 1e-6.
TABLE = {
    "mu=0.5": (
        Leaf.gauss(1, 2),
        (0.19741, 0.0047956, 0.033899, 0.7722, 0.000643, 1.99309, 2.25408),
    ),
    "mu=1": (Leaf.gauss(1, 1), (0.38292, 0.0182985, 0.092362, 0.9023, 0.003274, 4.37718, 4.88655)),
    "mu=2": (Leaf.gauss(2, 1), (0.68269, 0.137805, 0.372081, 0.9738, 0.042806, 9.99726, 10.9972)),
    "eps=1": (
        Leaf.declared("pure", 1),
        (0.46212, 0.0027183, 0.027183, 0.7311, 0.000272, 1, 1),
    ),
    "rho=0.1, Gaussian": (
        GAUSSIAN,
        (0.17694, 0.0041085, 0.030113, 0.7507, None, 1.76006, 1.99453),
    ),
}
ANY = (0.2218, 0.00479, 0.03525, 0.779, 0.000620, 1.91424, 2.14194)
"""rho = 0.1, any mechanism: what 75 orders of Renyi divergence allow, at most."""


def figures(leaf):
    shown = view([leaf])
    pairs = [float(eps_at([leaf], F(1, 10**places)).eps) for places in (5, 6)]
    return (
        shown["advantage"],
        shown["tpr"]["0.001"],
        shown["tpr"]["0.01"],
        shown["posterior"]["0.5"],
        shown["reconstruction"],
        *pairs,
    )


@pytest.mark.parametrize("name", TABLE)
def test_the_figures_of_a_board_match_the_table(name):
    leaf, expected = TABLE[name]
    for ours, printed in zip(figures(leaf), expected, strict=True):
        assert printed is None or ours == pytest.approx(printed, rel=1e-3)
    assert figures(leaf)[:4] == pytest.approx(expected[:4], rel=7e-5)


def test_any_rho_mechanism_stays_below_the_figures_of_its_orders():
    """The printed figures are upper ones; more orders give .221742, .035063 at best."""
    found = figures(Leaf.declared("zcdp", F(1, 10)))
    least = [float(one) for one in (0.221741, 0.0047, 0.03506, 0.77, 0.0006, 1.91423, 2.14193)]
    assert all(low <= one <= high for low, one, high in zip(least, found, ANY, strict=True))
    for pair in (figures(GAUSSIAN), figures(Leaf.declared("pure", F("0.4509")))):
        assert all(one <= other for one, other in zip(pair[:4], found[:4], strict=True))


def test_beliefs_follow_bayes():
    assert posterior(F(1, 2), F(1, 10), F(1, 2)) == F(5, 6)
    assert float(pure_posterior(F(1), F(1, 4))) == pytest.approx(np.e / (3 + np.e))
    for bad in (F(0), F(-1), F(2)):
        with pytest.raises(ValueError):
            posterior(bad, F(1, 2), F(1, 2))
        with pytest.raises(ValueError):
            pure_posterior(F(1), bad)


def test_beliefs_from_three_priors_are_told():
    shown = view([Leaf.gauss(1, 1)])
    power = shown["tpr"]["0.01"]
    for prior in (0.01, 0.1, 0.5):
        expected = prior * power / (prior * power + (1 - prior) * 0.01)
        assert shown["posterior"][str(prior)] == pytest.approx(expected)
    assert shown["pointwise"] is None
    pure = view([Leaf.declared("pure", 1)])
    assert pure["pointwise"]["0.1"] == pytest.approx(np.e / (np.e + 9))
    assert pure["pointwise"] == pytest.approx(pure["posterior"])


@pytest.mark.parametrize(
    "leaf",
    [
        Leaf.gauss(1, 1),
        Leaf.lap(1, 1),
        Leaf.br(1, 1),
        Leaf.declared("pure", 1),
        Leaf.declared("zcdp", F(1, 10)),
        Leaf.declared("adp", 1, F(1, 10**6)),
    ],
    ids=lambda leaf: leaf.kind,
)
def test_every_leaf_has_figures(leaf):
    shown = view([leaf])
    assert 0 < shown["tpr"]["0.001"] <= shown["tpr"]["0.01"] <= shown["tpr"]["0.1"] <= 1
    assert 0 < shown["advantage"] < 1
    rates, caught = zip(*shown["curve"], strict=True)
    assert list(rates) == sorted(rates) == [float(rate) for rate in CURVE]
    assert list(caught) == sorted(caught)
    assert all(rate < one <= 1 for rate, one in shown["curve"])
    assert max(one - rate for rate, one in shown["curve"]) <= shown["advantage"]
    assert max(one - rate for rate, one in shown["curve"]) >= 0.9 * shown["advantage"]


def test_figures_are_the_least_over_sound_descriptions():
    families = [case.family for case in worst_cases([Leaf.br(1, 1)])]
    assert families == ["br", "gdp", "pure", "zcdp"]
    assert [case.family for case in worst_cases([Leaf.br(1, 1, count=2)])] == [
        "gdp",
        "pure",
        "zcdp",
    ]
    assert [case.family for case in worst_cases([Leaf.gauss(1, 1)])] == ["gdp"]
    assert view([Leaf.br(1, 1)])["advantage"] == pytest.approx(np.tanh(0.5))
    # Selections cost pi/2 times as much in mu squared as in rho, so rho says less at few alarms.
    many = [Leaf.br(1, 10, count=20)]
    cases = {case.family: case for case in worst_cases(many)}
    assert view(many)["tpr"]["0.001"] == pytest.approx(float(cases["zcdp"].power(F(1, 1000))))
    assert cases["zcdp"].power(F(1, 1000)) < cases["gdp"].power(F(1, 1000))


def test_bounded_draws_beside_a_zcdp_cost_take_their_share_in_eps():
    shown = view([Leaf.declared("pure", 1), Leaf.declared("zcdp", F(1, 200))])
    alone = Worst("zcdp", F(1, 200) + F("0.4621171572600098")).power(F(1, 1000))
    assert shown["tpr"]["0.001"] < float(alone) / 2


def test_no_claim_means_no_figures():
    assert view([]) is None
    lost = view([Leaf.declared("adp", 1, F(1, 2), count=2)])
    assert lost["advantage"] == lost["tpr"]["0.001"] == 1
    worst = next(worst_cases([Leaf.declared("adp", 1, F(1, 2))]))
    assert (worst.family, worst.param, worst.delta) == ("adp", 1, F(1, 2))


def at(site):
    return Leaf.gauss(1, 2, dataset="d", site=site)


def test_a_person_at_several_sites_is_exposed_to_each_of_them():
    everywhere = [at(site) for site in "abc"]
    alone, twice = view(everywhere, 1), view(everywhere, 2)
    assert alone == view([at("a")])
    assert twice == view([at("a"), at("a")])
    assert view(everywhere, 5) == view([at("a")] * 3)
    whole = Leaf.gauss(1, 3, dataset="d")
    assert view([whole, *everywhere], 1) == view([whole, at("a")])


def test_the_worst_site_decides_at_each_place():
    few = Leaf.declared("pure", F(1, 2), dataset="d", site="a")
    shown = limits([few, at("b")], CURVE, 1)
    parts = [limits([few], CURVE), limits([at("b")], CURVE)]
    for rate in CURVE:
        assert shown.power[rate] == max(part.power[rate] for part in parts)


def test_many_sites_fall_back_to_their_largest_costs():
    many = [at(str(number)) for number in range(12)]
    assert view(many, 4) == view([at("a")] * 4)


def test_a_draft_keeps_the_exact_square_of_mu():
    drafts = [Draft("gauss", 1, F("0.4472135954999579393"), mu_squared=F(1, 5))]
    assert view(drafts)["advantage"] == pytest.approx(0.17694, abs=1e-5)


def test_floats_are_rounded_up():
    shown = view([Leaf.gauss(1, 3)])
    exact = Worst("gdp", root_up(F(1, 9))).power(F(1, 100))
    assert F(shown["tpr"]["0.01"]) >= exact


@pytest.mark.parametrize("mu", [1, 40, 1000, 10**4, 10**5, 10**6, F(1, 10**12)])
def test_risks_of_absurd_budgets_are_still_bounds(mu):
    shown = view((Leaf.gauss(1, F(1) / mu),))
    for number in (shown["advantage"], *shown["tpr"].values()):
        assert 0 < number <= 1
    if mu >= 40:
        assert shown["advantage"] == 1
