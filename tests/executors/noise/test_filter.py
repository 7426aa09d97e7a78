"""A filter charges before it draws and never passes its cap."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.noise import FilterExhausted, NoiseMismatch, StatementNoise
from planner.calculus.leaves import CAP_MAY_DRAW, Leaf, Loss
from suites.samplers import ScriptedSampler


def opened(kind, value, of=None):
    sampler = ScriptedSampler()
    leaf = Leaf.cap(kind, Fraction(value), of or CAP_MAY_DRAW[kind])
    return StatementNoise(sampler, Loss((leaf,))).cap(leaf), sampler


def close(value, wanted):
    """At least the wanted number, by no more than a relative 1e-15."""
    wanted = mpmath.mpf(wanted)
    value = mpmath.mpf(value.numerator) / value.denominator
    return wanted <= value <= wanted * (1 + mpmath.mpf(10) ** -15)


def test_integer_noise_under_rho_costs_half_the_squared_ratio():
    budget, sampler = opened("zcdp", 1)
    assert budget.dgauss(3 << 20, 1 << 22, [5, 6]) == [5, 6]
    assert budget.spent == Fraction(9, 32)
    assert budget.left == 1 - Fraction(9, 32)
    assert sampler.calls == [("discrete_gaussian", 1 << 22, 2)]


def test_integer_noise_under_mu_costs_its_proven_square():
    budget, _ = opened("gdp", 1)
    budget.dgauss(1 << 20, 1 << 21, [0])
    mu = Fraction(1, 2) * (1 + Fraction(1, 20 * (1 << 42)))
    assert budget.spent == mu**2


def test_parts_with_less_noise_are_charged_by_the_leaf_and_drawn_at_their_own_scales():
    """A part of weight w at ceil(s / w) + 1: the sum over parts stays below the one charge."""
    budget, sampler = opened("zcdp", 1)
    root = Fraction(1414, 1000)
    scale = 1 << 22
    assert budget.dgauss(3 << 20, scale, [1, 2, 3], [Fraction(1), root, root]) == [1, 2, 3]
    assert budget.spent == Fraction(9, 32)
    finer = -(-scale * 1000 // 1414) + 1
    assert sampler.calls == [("discrete_gaussian", scale, 1), ("discrete_gaussian", finer, 2)]
    whole = Fraction(3 << 20) ** 2
    moved = [whole / 2, whole / 2 / root**2]  # squares of two parts, each times its weight
    spent = moved[0] / (2 * scale**2) + moved[1] / (2 * finer**2)
    assert spent <= budget.spent
    with pytest.raises(ValueError, match="each number"):
        opened("zcdp", 1)[0].dgauss(1 << 20, 1 << 22, [1, 2], [Fraction(1)])


def test_a_selection_costs_its_range_in_each_unit():
    """eta = 0.2 twice: eps 0.4; rho 2 eta^2 / 8; mu^2 2 (2 Phi^-1(1 / (1 + e^-eta/2)))^2."""
    mpmath.mp.dps = 40
    eta = Fraction(1, 5)
    budget, _ = opened("pure", 1)
    assert len(budget.select(eta, 10, [1, 2, 3], 2)) == 2
    assert budget.spent == Fraction(2, 5)
    budget, _ = opened("zcdp", 1)
    budget.select(eta, 10, [1, 2, 3], 2)
    assert budget.spent == Fraction(1, 100)
    budget, _ = opened("gdp", 1)
    budget.select(eta, 10, [1, 2, 3], 2)
    corner = 1 / (1 + mpmath.exp(-mpmath.mpf(1) / 10))
    mu = 2 * mpmath.sqrt(2) * mpmath.erfinv(2 * corner - 1)
    assert close(budget.spent, 2 * mu**2)


def test_real_noise_is_charged_by_its_leaf():
    """lap eps0 = 1/2: rho = eps0 - 1 + e^-eps0 = 0.106530659712633; gauss mu = 1/4: rho = 1/32."""
    budget, sampler = opened("zcdp", 1)
    assert budget.lap(1, 2, [3.0]) == [3.0]
    assert close(budget.spent, "0.10653065971263342")
    before = budget.spent
    assert budget.gauss(Fraction(1, 2), 2, [1.5, -1.0]) == [1.5, -1.0]
    assert budget.spent - before == Fraction(1, 32)
    assert [call[0] for call in sampler.calls] == ["discrete_laplace", "discrete_gaussian"]
    budget, _ = opened("pure", 1)
    budget.lap(1, 2, [3.0])
    assert budget.spent == Fraction(1, 2)


def test_ten_tenths_fill_a_cap_and_nothing_more_fits():
    budget, sampler = opened("pure", 1)
    for _ in range(10):
        budget.select(Fraction(1, 10), 1, [0, 1], 1)
    assert budget.left == 0
    before = list(sampler.calls)
    with pytest.raises(FilterExhausted):
        budget.select(Fraction(1, 10**12), 1, [0, 1], 1)
    assert sampler.calls == before
    assert budget.left == 0


def test_a_refused_draw_costs_nothing_and_a_smaller_one_still_fits():
    budget, sampler = opened("zcdp", Fraction(1, 10))
    with pytest.raises(FilterExhausted):
        budget.dgauss(1 << 20, 1 << 20, [1])
    assert (budget.spent, sampler.calls) == (0, [])
    budget.dgauss(1 << 20, 1 << 22, [1])
    assert budget.spent == Fraction(1, 32)


@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        ("pure", lambda budget: budget.dgauss(1, 1024, [0])),
        ("zcdp", lambda budget: budget.dgauss(1, 0, [0])),
        ("zcdp", lambda budget: budget.dgauss(0, 1024, [0])),
        ("zcdp", lambda budget: budget.dgauss(1, 1000, [0])),
        ("zcdp", lambda budget: budget.select(Fraction(0), 1, [0], 1)),
        ("zcdp", lambda budget: budget.select(Fraction(1, 9), 1, [0], 2)),
        ("zcdp", lambda budget: budget.select(Fraction(1, 9), 1, [0], 0)),
        ("zcdp", lambda budget: budget.select(Fraction(1, 9), 0, [0], 1)),
    ],
)
def test_a_draw_that_cannot_be_charged_is_refused_before_it_is_drawn(kind, draw):
    budget, sampler = opened(kind, 100)
    with pytest.raises((FilterExhausted, ValueError)):
        draw(budget)
    assert sampler.calls == []
    assert budget.spent == 0


def test_only_the_kinds_of_the_cap_are_drawn():
    budget, _ = opened("gdp", 1, ("br",))
    with pytest.raises(FilterExhausted):
        budget.dgauss(1, 1024, [0])
    assert budget.select(Fraction(1, 10), 1, [0, 5], 1)


def test_a_filter_needs_a_cap():
    leaf = Leaf.declared("gdp", 1)
    noise = StatementNoise(ScriptedSampler(), Loss((leaf,)))
    with pytest.raises(NoiseMismatch):
        noise.cap(leaf)


@given(
    st.sampled_from(["gdp", "zcdp"]),
    st.fractions(Fraction(1, 1000), 4, max_denominator=10**6),
    st.lists(
        st.one_of(
            st.tuples(st.integers(1, 1 << 30), st.integers(1024, 1 << 34)),
            st.fractions(Fraction(1, 10**6), 3, max_denominator=10**9),
        ),
        max_size=40,
    ),
)
@settings(max_examples=60, deadline=None)
def test_adaptive_draws_never_pass_the_cap(kind, cap, asked):
    """Refuse-and-continue: whatever is asked for, what was drawn stays within the cap."""
    budget, _ = opened(kind, cap)
    ideal = mpmath.mpf(0)
    mpmath.mp.dps = 40
    for one in asked:
        try:
            if isinstance(one, tuple):
                budget.dgauss(*one, [0])
                ratio = mpmath.mpf(one[0]) / one[1]
                ideal += ratio**2 / (2 if kind == "zcdp" else 1)
            else:
                budget.select(one, 1 << 20, [1, 2], 1)
                eta = mpmath.mpf(one.numerator) / one.denominator
                if kind == "zcdp":
                    ideal += eta**2 / 8
                else:
                    corner = mpmath.tanh(eta / 4)
                    ideal += (2 * mpmath.sqrt(2) * mpmath.erfinv(corner)) ** 2
        except FilterExhausted:
            continue
    total = cap**2 if kind == "gdp" else cap
    assert budget.spent + budget.left == total
    assert budget.left >= 0
    spent = mpmath.mpf(budget.spent.numerator) / budget.spent.denominator
    assert ideal <= spent * (1 + mpmath.mpf(10) ** -30)
