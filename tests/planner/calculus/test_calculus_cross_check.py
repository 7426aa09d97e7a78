"""Our closed-form bounds beside the numerical compositions of another library."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from planner.calculus import profiles
from planner.calculus.compose import eps_at, total
from planner.calculus.leaves import Leaf

pytest.importorskip("dp_accounting", reason="the other library is not installed")
from dp_accounting.pld import privacy_loss_distribution as pld

F = Fraction
DELTA = 1e-5
SMALL = F(1, 10**5)
GRID = {"value_discretization_interval": 1e-4, "use_connect_dots": True}


def laplace(eps):
    return pld.from_laplace_mechanism(1 / eps, **GRID)


def gaussian(mu):
    return pld.from_gaussian_mechanism(1 / mu, **GRID)


def pure(eps):
    noise = 2 / (1 + math.exp(eps))
    return pld.from_randomized_response(noise, 2, value_discretization_interval=1e-4)


def composed(parts):
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole.get_epsilon_for_delta(DELTA)


SINGLE = [
    (Leaf.gauss(1, 1), lambda: gaussian(1)),
    (Leaf.gauss(1, 4), lambda: gaussian(0.25)),
    (Leaf.lap(1, 1), lambda: laplace(1)),
    (Leaf.lap(1, 5), lambda: laplace(0.2)),
    (Leaf.declared("pure", 1), lambda: pure(1)),
]


@pytest.mark.parametrize(("leaf", "other"), SINGLE, ids=lambda part: getattr(part, "kind", ""))
def test_one_draw_agrees(leaf, other):
    ours = float(eps_at([leaf], SMALL).eps)
    assert ours == pytest.approx(other().get_epsilon_for_delta(DELTA), rel=1e-3)


PLANS = [
    ("A", [Leaf.gauss(1, 2), Leaf.lap(1, 2)], lambda: [gaussian(0.5), laplace(0.5)], 2.415186),
    (
        "D",
        [Leaf.declared("pure", F(1, 10), count=10), Leaf.lap(1, 10, count=10), Leaf.gauss(3, 10)],
        lambda: [*[pure(0.1)] * 10, *[laplace(0.1)] * 10, gaussian(0.3)],
        2.080907,
    ),
    ("ten", [Leaf.gauss(1, 10, count=10)], lambda: [gaussian(0.1)] * 10, None),
]


@pytest.mark.parametrize(("name", "leaves", "parts", "printed"), PLANS, ids=[p[0] for p in PLANS])
def test_a_composition_is_never_below_the_numerical_one(name, leaves, parts, printed):
    theirs = composed(parts())
    ours = float(eps_at(leaves, SMALL, grid=False).eps)
    assert printed is None or theirs == pytest.approx(printed, abs=2e-3)
    assert ours >= theirs * (1 - 1e-4)
    assert ours <= theirs * 1.5
    if name == "ten":
        assert ours == pytest.approx(theirs, rel=1e-3)


def test_closed_forms_of_plan_d_are_as_printed():
    leaves = PLANS[1][1]
    assert float(profiles.gdp_eps(total(leaves, "mu_squared"), SMALL)) == pytest.approx(
        2.58215, abs=1e-5
    )
    with_c3 = 20 * F("0.004995837495787994757") + F(9, 200)
    assert float(profiles.zcdp_eps(with_c3, SMALL)) == pytest.approx(2.35092, abs=1e-4)
    assert total(leaves, "rho") < with_c3
