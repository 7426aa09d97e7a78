"""The power of tests that is read from a grid, beside closed forms and exact compositions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import special, stats

from planner.calculus.discretise import Part
from planner.calculus.grid_eps import delta_at, on_grid
from planner.calculus.grid_power import powers
from planner.calculus.leaves import Leaf
from planner.calculus.pld import compose
from planner.calculus.risk import CURVE, limits, view
from planner.calculus.tradeoff import Worst

F = Fraction
RATES = (F(1, 10**9), F(1, 10**4), F(1, 1000), F(1, 100), F(1, 5), F(1, 2), F(4, 5), F(999, 1000))


@pytest.mark.parametrize("size", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("family", ["gdp", "pure", "br", "lap"])
def test_one_draw_has_its_closed_trade_off(family, size):
    worst = Worst(family, F(size))
    part = Part(family, F(size) ** 2 if family == "gdp" else F(size))
    advantage, power = powers(on_grid((part,)), RATES)
    assert worst.advantage() <= advantage <= worst.advantage() * (1 + F(1, 10**5))
    for rate in RATES:
        assert worst.power(rate) <= power[rate] <= worst.power(rate) * (1 + F(1, 4000))


@pytest.mark.parametrize(("size", "count"), [("0.1", 10), ("0.5", 4), ("1", 3)])
def test_randomised_responses_together_are_a_binomial(size, count):
    """Of so many answers the number of true ones decides: the vertices are binomial tails."""
    eps = float(size)
    true = special.expit(eps)
    answers = np.arange(count + 1)
    alarms = np.cumsum(stats.binom.pmf(answers, count, true))
    caught = np.cumsum(stats.binom.pmf(answers[::-1], count, true))
    _, power = powers(on_grid((Part("pure", F(size), count),)), RATES)
    for rate in RATES:
        exact = np.interp(float(rate), [0, *alarms], [0, *caught])
        assert exact * (1 - 1e-12) <= float(power[rate]) <= exact * (1 + 1e-4)


def test_laplace_beside_gaussian_noise_follows_its_own_integral():
    """Catches at a threshold of the loss: the normal tails averaged over the Laplace loss."""
    eps0, mu = 0.5, 0.5
    weights = np.linspace(-eps0, eps0, 20001)
    density = np.exp((weights - eps0) / 2) / 4
    ends = [(eps0, 0.5), (-eps0, np.exp(-eps0) / 2)]

    def tails(level, sign):
        """P(loss > level) under the member's law (sign 1), or under that of others (sign -1)."""

        def normal(loss):
            return stats.norm.sf((level - loss - sign * mu**2 / 2) / mu)

        law = density if sign == 1 else density * np.exp(-weights)
        atoms = [(loss, p if sign == 1 else p * np.exp(-loss)) for loss, p in ends]
        return np.trapezoid(law * normal(weights), weights) + sum(
            p * normal(loss) for loss, p in atoms
        )

    parts = (Part("gdp", F(1, 4)), Part("lap", F(1, 2)))
    for level in (-1.0, 0.0, 0.7, 2.0):
        rate = F(float(tails(level, -1)))
        _, power = powers(on_grid(parts), [rate])
        assert float(power[rate]) == pytest.approx(float(tails(level, 1)), rel=1e-5)
        assert float(power[rate]) >= float(tails(level, 1)) * (1 - 1e-7)


MIXED = (Part("br", F(1, 10), 20), Part("gdp", F(1, 5)), Part("lap", F(1, 2), 2), Part("pure", 1))


def test_every_line_of_the_profile_bounds_the_power_and_the_best_is_found():
    _, power = powers(on_grid(MIXED), RATES)
    profile = {eps: delta_at(MIXED, eps) for eps in (F(k, 4) for k in range(16))}
    for rate in RATES:
        steep = [F(np.exp(float(eps))) * (1 + F(1, 10**9)) for eps in profile]
        lines = [delta + e * rate for delta, e in zip(profile.values(), steep, strict=True)]
        assert power[rate] <= min(lines)
        if F(1, 1000) <= rate <= F(1, 4):
            assert power[rate] >= F(98, 100) * min(lines)


def test_power_is_concave_and_symmetric():
    """f is convex, and is its own inverse, as the worst pairs are symmetric."""
    rates = sorted(CURVE)
    _, power = powers(on_grid(MIXED), rates)
    slopes = [(power[b] - power[a]) / (b - a) for a, b in pairwise(rates)]
    assert all(one >= other * (1 - F(1, 10**6)) for one, other in pairwise(slopes))
    back = {1 - power[rate]: 1 - rate for rate in rates}
    _, mirrored = powers(on_grid(MIXED), back)
    for rate, expected in back.items():
        assert float(mirrored[rate]) == pytest.approx(float(expected), rel=1e-4)


def test_a_coarse_grid_is_only_less_exact():
    fine, coarse = on_grid(MIXED), compose(MIXED, F(1, 20))
    advantage, power = powers(fine, RATES)
    more, above = powers(coarse, RATES)
    assert more >= advantage
    assert all(above[rate] >= power[rate] * (1 - F(1, 10**9)) for rate in RATES)


@pytest.mark.parametrize("bad", [F(0), F(1), F(-1), F(3, 2)])
def test_a_rate_lies_between_0_and_1(bad):
    with pytest.raises(ValueError):
        powers(on_grid(MIXED), [bad])


def test_composed_losses_lower_what_a_board_reads():
    """Plan B: by closed forms 1 % of alarms catch 20 %, together 9.1 %."""
    leaves = [
        Leaf.declared("pure", 1),
        Leaf.br(1, 20, count=20),
        Leaf.gauss(2, 25, count=20),
        Leaf.declared("gdp", F("0.4472135955")),
    ]
    shown = view(leaves)
    assert shown["tpr"]["0.01"] == pytest.approx(0.0905, abs=2e-4)
    assert shown["advantage"] == pytest.approx(0.4748, abs=2e-4)
    closed = [Worst("gdp", F("1.4049")), Worst("zcdp", F("0.6511"))]
    assert shown["tpr"]["0.01"] < float(min(worst.power(F(1, 100)) for worst in closed)) * 0.75


def test_a_shorter_bound_still_wins_where_the_grid_says_more():
    """Fifty selections beside fifty small Gaussian draws: at few alarms rho says less."""
    leaves = [Leaf.br(1, 10, count=50), Leaf.gauss(1, 10, count=50)]
    shown = limits(leaves, [F(1, 10**6)])
    _, power = powers(on_grid((Part("br", F(1, 5), 50), Part("gdp", F(1, 2)))), [F(1, 10**6)])
    rho = Worst("zcdp", F(1, 2)).power(F(1, 10**6))
    assert shown.power[F(1, 10**6)] == min(rho, power[F(1, 10**6)])


def test_a_declared_pair_is_composed_with_the_rest():
    leaves = [Leaf.declared("adp", F(3, 10), F(1, 10**6), count=2), Leaf.gauss(4, 10)]
    shown = limits(leaves, [F(1, 1000)])
    alone = Worst("gdp", F(4, 10)).power(F(1, 1000))
    assert alone < shown.power[F(1, 1000)] < alone * 2


def test_where_the_losses_are_of_thousands_every_attack_may_succeed():
    """e to such a loss fits in no fraction."""
    shown = view([Leaf.pure(12, 1, count=1000), Leaf.br(18, 1, count=3)])
    assert shown["tpr"] == {"0.001": 1.0, "0.01": 1.0, "0.1": 1.0}
    assert shown["reconstruction"] == shown["advantage"] == 1.0
