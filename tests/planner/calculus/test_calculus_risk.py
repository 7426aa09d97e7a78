from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from planner.calculus.exact import round_up
from planner.calculus.leaves import Leaf
from planner.calculus.risk import Worst, posterior, pure_posterior, view, worst_cases

F = Fraction
RATES = ["0.0001", "0.001", "0.01", "0.1", "0.3", "0.5", "0.7", "0.99"]


@pytest.mark.parametrize(
    ("family", "size", "advantage", "at_mille", "at_percent", "belief", "rebuilt"),
    [
        ("gdp", "0.5", 0.19741, 0.0047956, 0.033899, 0.7722, 0.000643),
        ("gdp", "1", 0.38292, 0.0182985, 0.092362, 0.9023, 0.003274),
        ("gdp", "2", 0.68269, 0.137805, 0.372081, 0.9738, 0.042806),
        ("pure", "1", 0.46212, 0.0027183, 0.027183, 0.7311, 0.000272),
    ],
)
def test_the_figures_of_a_board_match_the_table(
    family, size, advantage, at_mille, at_percent, belief, rebuilt
):
    worst = Worst(family, F(size))
    assert float(worst.advantage()) == pytest.approx(advantage, abs=6e-6)
    assert float(worst.power(F(1, 1000))) == pytest.approx(at_mille, rel=1e-4)
    assert float(worst.power(F(1, 100))) == pytest.approx(at_percent, rel=1e-4)
    assert float(posterior(worst.power(F(1, 100)), F(1, 100))) == pytest.approx(belief, abs=5e-5)
    assert float(worst.power(F(1, 10**4))) == pytest.approx(rebuilt, rel=2e-3)


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


def test_beliefs_follow_bayes():
    assert posterior(F(1, 2), F(1, 10), F(1, 2)) == F(5, 6)
    assert float(pure_posterior(F(1), F(1, 4))) == pytest.approx(np.e / (3 + np.e))
    for bad in (F(0), F(-1), F(2)):
        with pytest.raises(ValueError):
            posterior(bad, F(1, 2))
        with pytest.raises(ValueError):
            pure_posterior(F(1), bad)
        with pytest.raises(ValueError):
            Worst("gdp", F(1)).power(bad)


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
    assert set(shown) == {"advantage", "tpr", "posterior", "reconstruction"}
    assert 0 < shown["tpr"]["0.001"] <= shown["tpr"]["0.01"] <= 1
    assert all(isinstance(shown[name], float) for name in ("advantage", "posterior"))


def test_figures_are_the_least_over_sound_descriptions():
    families = [case.family for case in worst_cases([Leaf.br(1, 1)])]
    assert families == ["br", "gdp", "pure"]
    assert [case.family for case in worst_cases([Leaf.br(1, 1, count=2)])] == ["gdp", "pure"]
    assert view([Leaf.br(1, 1)])["advantage"] == pytest.approx(np.tanh(0.5))


def test_any_rho_mechanism_stays_below_the_figures_of_its_pairs():
    """Figures of rho = .1 from 75 orders: advantage .2218, TPR .00479 and .03525."""
    shown = view([Leaf.declared("zcdp", F(1, 10))])
    assert shown["advantage"] >= 0.22174
    assert shown["tpr"]["0.001"] >= 0.00479 * 0.99
    assert shown["tpr"]["0.01"] >= 0.035063


def test_no_claim_means_no_figures():
    assert view([]) is None
    assert view([Leaf.declared("adp", 1, F(1, 2), count=2)]) is None
    worst = next(worst_cases([Leaf.declared("adp", 1, F(1, 2))]))
    assert (worst.family, worst.param, worst.delta) == ("adp", 1, F(1, 2))


def test_a_large_eps_hides_nothing():
    assert Worst("pure", F(10**12)).power(F(1, 100)) == 1
    assert Worst("adp", F(10**12), F(1, 10)).advantage() == 1
    assert Worst("lap", F(10**12)).power(F(9, 10)) == 1


def test_floats_are_rounded_up():
    shown = view([Leaf.gauss(1, 3)])
    exact = Worst("gdp", round_up(F(1, 3))).power(F(1, 100))
    assert F(shown["tpr"]["0.01"]) >= exact


@pytest.mark.parametrize("mu", [1, 40, 1000, 10**4, 10**5, 10**6, F(1, 10**12)])
def test_risks_of_absurd_budgets_are_still_bounds(mu):
    shown = view((Leaf.gauss(1, F(1) / mu),))
    for number in (shown["advantage"], *shown["tpr"].values()):
        assert 0 < number <= 1
    if mu >= 40:
        assert shown["advantage"] == 1
