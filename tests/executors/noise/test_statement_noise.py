"""Draws use up the leaves of their statement, and nothing else."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.noise import NoiseMismatch, StatementNoise
from planner.calculus.leaves import Leaf, Loss
from suites.samplers import ScriptedSampler

LAP = Leaf.lap(1, 2, role="ratio")
GAUSS = Leaf.gauss(2, 5, width=2)
INTEGERS = Leaf.dgauss(1 << 20, 1 << 24, count=3)
BEST = Leaf.br(10, 100, count=2)
CAP = Leaf.cap("gdp", Fraction(1, 2), ("br", "dgauss"))


def noise_of(*leaves, sampler=None):
    return StatementNoise(sampler or ScriptedSampler(), Loss(leaves))


def test_each_leaf_is_drawn_as_often_as_it_counts_and_no_more():
    noise = noise_of(INTEGERS)
    assert noise.dgauss(INTEGERS, [5, -7]) == [5, -7]
    assert noise.dgauss(INTEGERS, [3]) == [3]
    with pytest.raises(NoiseMismatch, match="used up"):
        noise.dgauss(INTEGERS, [3])


def test_equal_leaves_add_their_counts():
    noise = noise_of(LAP, LAP)
    noise.lap(LAP, [0.0])
    noise.lap(LAP, [0.0])
    with pytest.raises(NoiseMismatch):
        noise.lap(LAP, [0.0])


@pytest.mark.parametrize(
    "wanted",
    [
        Leaf.lap(1, Fraction(3, 2), role="ratio"),
        Leaf.lap(2, 2, role="ratio"),
        Leaf.lap(1, 2, role="other"),
        Leaf.lap(1, 2, role="ratio", site="north"),
        Leaf.lap(1, 2, role="ratio", width=2),
    ],
)
def test_a_leaf_that_was_not_paid_for_is_refused(wanted):
    with pytest.raises(NoiseMismatch, match="no such leaf"):
        noise_of(LAP).lap(wanted, [0.0] * wanted.width)


def test_a_leaf_pays_only_for_its_own_law():
    declared = Leaf.declared("pure", 1)
    noise = noise_of(LAP, GAUSS, INTEGERS, BEST, CAP, declared, Leaf.pure(1, 2, factor=2))
    for draw in (
        lambda: noise.lap(declared, [0.0]),
        lambda: noise.lap(GAUSS, [0.0, 0.0]),
        lambda: noise.gauss(LAP, [0.0]),
        lambda: noise.dgauss(GAUSS, [0, 0]),
        lambda: noise.select(LAP, [1, 2], 1),
        lambda: noise.cap(LAP),
        lambda: noise.lap(Leaf.pure(1, 2, factor=2), [0.0]),
        lambda: noise.gauss(GAUSS, [0.0]),
        lambda: noise.gauss(GAUSS, []),
    ):
        with pytest.raises(NoiseMismatch):
            draw()


def test_a_refused_draw_draws_nothing():
    sampler = ScriptedSampler()
    noise = noise_of(LAP, sampler=sampler)
    with pytest.raises(NoiseMismatch):
        noise.gauss(GAUSS, [0.0, 0.0])
    assert sampler.calls == []


def test_a_cap_is_opened_once():
    noise = noise_of(CAP)
    noise.cap(CAP)
    with pytest.raises(NoiseMismatch):
        noise.cap(CAP)


def test_noise_of_zero_returns_the_rounded_values_with_the_note():
    noise = noise_of(GAUSS)
    values, note = noise.gauss(GAUSS, [1.25, -3.0])
    assert values == [1.25, -3.0]
    assert note.law == "discrete_gaussian"
    assert 5.0 < note.scale < 5.0001


def test_the_drawn_integer_is_added_in_steps_of_the_grid():
    sampler = ScriptedSampler(lambda law, scale, index: scale)
    values, note = noise_of(LAP, sampler=sampler).lap(LAP, [10.0])
    assert values == [10.0 + note.scale]


def test_values_that_are_not_finite_count_as_zero_and_never_raise():
    noise = noise_of(Leaf.lap(1, 2, width=3))
    values, _ = noise.lap(Leaf.lap(1, 2, width=3), [float("nan"), float("inf"), 7.0])
    assert values == [0.0, 0.0, 7.0]


def test_values_are_clamped_to_their_domain_before_the_noise():
    noise = noise_of(Leaf.lap(1, 2, width=2))
    values, _ = noise.lap(Leaf.lap(1, 2, width=2), [9.0, -9.0], (-1.0, 4.0))
    assert values == [4.0, -1.0]
    noise = noise_of(Leaf.lap(1, 2, width=2))
    values, _ = noise.lap(Leaf.lap(1, 2, width=2), [float("nan"), float("inf")], (5.0, 6.0))
    assert values == [5.0, 5.0]


@given(st.integers(1024, 1 << 52), st.fractions(1, 1000, max_denominator=10**6))
@settings(max_examples=200, deadline=None)
def test_a_part_at_its_own_scale_costs_no_more_than_its_weighted_move(scale, weight):
    """(1 / t)(1 + 1 / (20 t^2)) <= w / s for a weight above 1, exactly; so the squares add up."""
    sampler = ScriptedSampler()
    leaf = Leaf.dgauss(1, scale, width=2)
    noise_of(leaf, sampler=sampler).dgauss(leaf, [0, 0], [Fraction(1), weight])
    drawn = [call[1] for call in sampler.calls for _ in range(call[2])]
    assert drawn[0] == scale
    if weight > 1:
        cost = Fraction(1, drawn[1]) * (1 + Fraction(1, 20 * drawn[1] ** 2))
        assert cost <= weight / scale


def test_integer_noise_takes_integers_only():
    with pytest.raises(TypeError):
        noise_of(INTEGERS).dgauss(INTEGERS, [1.5])


def test_a_selection_uses_its_whole_leaf():
    noise = noise_of(BEST)
    chosen = noise.select(BEST, [0, 10**6, 3], 10)
    assert chosen[0] == 1
    assert len(set(chosen)) == 2
    with pytest.raises(NoiseMismatch):
        noise.select(BEST, [0, 1, 2], 10)
