"""Scales of selections and values against independent numbers."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from executors.pricing.allowance import Allowance
from executors.pricing.evalues import (
    COARSEST_GRID,
    FINEST_GRID,
    centering_steps,
    finest_grid,
    rounds,
    sensitivity_steps,
    size_grid,
    value_scale,
)
from planner.calculus.convert import range_to_mu_squared, range_to_rho
from planner.calculus.leaves import Leaf

DELTA = Fraction(3, 10)


def allowance(mu: Fraction | int | str) -> Allowance:
    return Allowance("mu_squared", Fraction(mu) ** 2)


@pytest.mark.parametrize(
    ("mu", "eta"),
    [
        ("0.01", 0.01595770938386),
        ("0.05", 0.07979072705399),
        ("0.1", 0.1595950799154),
        ("0.5", 0.8001553788034),
        ("1", 1.61393069261),
        ("2", 3.336535731972),
    ],
)
def test_the_range_that_a_mu_buys(mu: str, eta: float) -> None:
    assert float(allowance(mu).eta()) == pytest.approx(eta, rel=1e-12)


@pytest.mark.parametrize(
    ("eta", "mu"),
    [
        ("0.01", 0.006266567884878),
        ("0.1", 0.0626629055410),
        ("0.5", 0.3129794994816),
        ("1", 0.6238925920985),
        ("2", 1.232035385345),
        ("4", 2.357961485647),
    ],
)
def test_the_mu_that_a_range_costs(eta: str, mu: float) -> None:
    square = range_to_mu_squared(Fraction(eta))
    assert float(square) ** 0.5 == pytest.approx(mu, rel=1e-12)
    assert float(Allowance("mu_squared", square).eta()) == pytest.approx(float(eta), rel=1e-12)


@given(st.fractions(Fraction(1, 10**6), Fraction(20)), st.sampled_from(["mu_squared", "rho"]))
@example(Fraction(150023, 38800000), "mu_squared")  # its range has hardly more than 15 digits
@example(Fraction(1, 8), "rho")
def test_a_range_never_costs_more_than_its_allowance(amount: Fraction, unit: str) -> None:
    held = Allowance(unit, amount)  # type: ignore[arg-type]
    eta = held.eta()
    cost = range_to_mu_squared(eta) if unit == "mu_squared" else range_to_rho(eta)
    assert cost <= amount
    assert cost >= amount * (1 - Fraction(1, 10**12))
    with mp.workdps(50):
        if unit == "rho":
            truth = mp.sqrt(8 * mp.mpf(amount.numerator) / amount.denominator)
        else:
            half = mp.sqrt(mp.mpf(amount.numerator) / amount.denominator) / 2
            truth = 2 * (mp.log(mp.ncdf(half)) - mp.log(mp.ncdf(-half)))
        found = mp.mpf(eta.numerator) / eta.denominator
        assert 0 <= (truth - found) / truth < mp.mpf("2e-14")
    if unit == "mu_squared":
        assert float(cost) ** 0.5 <= 0.62666 * float(eta) * (1 + 1e-5)


def test_the_plan_of_fifty_selections() -> None:
    """Sensitivity 0.3, mu = 1, 50 hypotheses, share 0.4."""
    law = rounds(allowance(1), 50, 1000, Fraction(2, 5))
    assert law.selection is not None
    assert float(law.selection.amount) ** 0.5 == pytest.approx(0.0894427191, rel=1e-9)
    assert float(law.selection.eta()) == pytest.approx(0.1427429291, rel=1e-9)
    assert float(2 * DELTA / law.selection.eta()) == pytest.approx(4.203360572, rel=1e-9)
    scale = value_scale(sensitivity_steps(DELTA, 40), law.value.mu_squared)
    assert scale / 2**40 == pytest.approx(2.738612788, rel=1e-9)


def test_all_hypotheses_leave_the_allowance_to_the_values() -> None:
    law = rounds(allowance(1), 7, 7, Fraction(2, 5))
    assert law.selection is None
    assert law.value.amount == Fraction(1, 7)


def test_under_rho_selection_is_sharper_than_through_mu() -> None:
    by_rho = Allowance("rho", Fraction(1, 2)).part(Fraction(1, 100)).eta()
    by_mu = allowance(1).part(Fraction(1, 100)).eta()
    assert float(by_rho / by_mu) == pytest.approx(1.25, abs=0.01)


@given(
    st.integers(1, 2**50),
    st.fractions(Fraction(1, 10**9), Fraction(10**6)),
)
def test_a_value_costs_no_more_than_its_mu(steps: int, square: Fraction) -> None:
    scale = value_scale(steps, square)
    assert Fraction((steps + 1) ** 2, scale**2) <= square
    assert int(float(scale)) == scale
    if scale.bit_length() <= 53 and scale > 1:
        assert Fraction((steps + 1) ** 2, (scale - 1) ** 2) > square


def test_steps_cover_the_rounding() -> None:
    assert sensitivity_steps(DELTA, 40) == -(-3 * 2**40 // 10) + 1
    assert sensitivity_steps(Fraction(1, 2), 20) == 2**19 + 1
    with pytest.raises(ValueError, match="positive"):
        sensitivity_steps(Fraction(0), 40)
    with pytest.raises(ValueError, match="positive"):
        Allowance("rho", Fraction(0))


@given(st.integers(1024, 2**52), st.integers(COARSEST_GRID, FINEST_GRID))
def test_the_centring_is_at_least_half_the_variance(scale: int, grid: int) -> None:
    centre = centering_steps(scale, grid)
    exact = Fraction(scale**2, 2 ** (grid + 1))
    assert exact + 1 <= centre < exact + 2


def test_the_grid_is_lowered_only_for_noise_that_would_not_fit() -> None:
    assert finest_grid(DELTA, Fraction(1, 10**4)) == 40
    for sensitivity, square in ((10**6, Fraction(1, 10**4)), (1, Fraction(1, 10**12))):
        grid = finest_grid(Fraction(sensitivity), square)
        assert COARSEST_GRID < grid < 40
        assert value_scale(sensitivity_steps(Fraction(sensitivity), grid), square) < 2**52
        finer = value_scale(sensitivity_steps(Fraction(sensitivity), grid + 1), square)
        assert finer >= 2**52
    assert finest_grid(Fraction(10**6), Fraction(1, 10**24)) == COARSEST_GRID


def test_the_sizes_that_are_weighed() -> None:
    tail = (22, 24, 26, 28, 30, 33, 36, 39, 42, 46, 50, 55, 60)
    assert size_grid(60) == (*range(1, 21), *tail)
    assert size_grid(1) == (1,)
    assert size_grid(21) == tuple(range(1, 21))


def test_a_cap_is_the_allowance_of_its_filter() -> None:
    kinds = ("br", "dgauss")
    assert Allowance.behind(Leaf.cap("gdp", Fraction(1, 2), kinds)) == allowance("0.5")
    assert Allowance.behind(Leaf.cap("zcdp", Fraction(1, 2), kinds)) == Allowance(
        "rho", Fraction(1, 2)
    )
    with pytest.raises(ValueError, match="capped"):
        Allowance.behind(Leaf.cap("pure", Fraction(1), ("br",)))
