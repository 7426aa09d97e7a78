"""What is drawn never costs more than the leaf that pays for it."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from executors.noise.realise import Grid, gaussian_grid, integers, laplace_grid, reals
from executors.noise.sampler import LARGEST_SCALE, check_scale

SCALES = st.builds(
    lambda digits, power: Fraction(digits) * Fraction(10) ** power,
    st.integers(1, 10**18),
    st.integers(-50, 20),
)
RATIOS = st.builds(
    lambda digits, power: Fraction(digits) * Fraction(10) ** power,
    st.integers(1, 10**9),
    st.integers(-12, 2),
)
WIDTHS = st.sampled_from([1, 2, 3, 10, 1000, 10**6])


def gaussian_is_paid(sensitivity, sigma, width, grid):
    """(D / g + 2 sqrt(w)) / s <= D / sigma, decided exactly."""
    room = sensitivity * grid.scale / sigma - sensitivity / grid.step
    return room >= 0 and 4 * width <= room * room


def laplace_is_paid(sensitivity, scale, width, grid):
    """(D / g + w) / s (1 + 1 / (4 s)) <= D / b, decided exactly."""
    steps = sensitivity / grid.step + width
    return steps / grid.scale * (1 + Fraction(1, 4 * grid.scale)) <= sensitivity / scale


@given(SCALES, RATIOS, WIDTHS)
@settings(max_examples=300, deadline=None)
def test_gaussian_noise_never_costs_more_than_its_leaf(sensitivity, ratio, width):
    sigma = sensitivity * ratio
    grid = gaussian_grid(sensitivity, sigma, width)
    check_scale(grid.scale)
    assert gaussian_is_paid(sensitivity, sigma, width, grid)


@given(SCALES, RATIOS, WIDTHS)
@settings(max_examples=300, deadline=None)
def test_laplace_noise_never_costs_more_than_its_leaf(sensitivity, ratio, width):
    assume(ratio * width < 2**51)  # beyond, the sampler's range ends and the grid is refused
    scale = sensitivity * ratio
    grid = laplace_grid(sensitivity, scale, width)
    check_scale(grid.scale)
    assert laplace_is_paid(sensitivity, scale, width, grid)


@given(SCALES, st.integers(-20, 20), st.sampled_from([1, 2, 100]))
@settings(max_examples=200, deadline=None)
def test_common_noise_is_inflated_by_less_than_a_thousandth(sensitivity, power, width):
    wanted = sensitivity * Fraction(2) ** power
    for grid in (
        gaussian_grid(sensitivity, wanted, width),
        laplace_grid(sensitivity, wanted, width),
    ):
        assert wanted <= grid.width <= wanted * (1 + Fraction(1, 1000))


def test_mutants_of_the_inflation_are_caught():
    sensitivity, sigma, width = Fraction(3), Fraction(7), 4
    grid = gaussian_grid(sensitivity, sigma, width)
    for scale in (grid.scale // 2, math.floor(sigma / grid.step)):
        assert not gaussian_is_paid(sensitivity, sigma, width, Grid(grid.exponent, scale))
    grid = laplace_grid(sensitivity, sigma, width)
    for scale in (grid.scale // 2, math.floor(sigma / grid.step)):
        assert not laplace_is_paid(sensitivity, sigma, width, Grid(grid.exponent, scale))


def gaussian_mu(shift, scale):
    """The smallest mu of integer Gaussian noise moved by `shift`: the worst threshold test."""
    mpmath.mp.dps = 40
    reach = 12 * scale
    weights = {
        k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * scale**2)) for k in range(-reach, reach + 1)
    }
    total = mpmath.fsum(weights.values())
    tails, tail = {}, mpmath.mpf(0)
    for k in range(reach, -reach - 1, -1):
        tail += weights[k]
        tails[k] = tail / total

    def quantile(upper):
        return mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * upper)

    return max(
        quantile(tails[k]) - quantile(tails[k - shift])
        for k in range(-4 * scale, 4 * scale + shift)
        if k - shift >= -reach
    )


@pytest.mark.parametrize(("scale", "shift"), [(1, 1), (2, 1), (2, 5), (5, 3)])
def test_integer_gaussian_noise_costs_at_most_shift_plus_one_over_scale(scale, shift):
    """The lemma under the Gaussian grid, by the exact law; and shift over scale is too little."""
    worst = gaussian_mu(shift, scale)
    assert mpmath.mpf(shift) / scale < worst <= mpmath.mpf(shift + 1) / scale


def laplace_excess(shift, scale):
    """How far the exact law moved by `shift` passes Laplace noise moved by eps'; with eps'."""
    mpmath.mp.dps = 40
    q = mpmath.exp(-1 / scale)
    eps = shift / scale + 2 * mpmath.log(mpmath.cosh(1 / (2 * scale)))

    def upper(t):
        return q**t / (1 + q) if t >= 1 else 1 - q ** (1 - t) / (1 + q)

    def claimed(a):
        """The power at size a of Laplace noise moved by eps."""
        if a < mpmath.exp(-eps) / 2:
            return mpmath.exp(eps) * a
        if a <= mpmath.mpf(1) / 2:
            return 1 - mpmath.exp(-eps) / (4 * a)
        return 1 - mpmath.exp(-eps) * (1 - a)

    reach = int(20 * scale) + shift + 20
    return max(upper(t - shift) - claimed(upper(t)) for t in range(-reach, reach)), eps


@pytest.mark.parametrize("scale", ["0.5", "1", "2", "7", "64"])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_integer_laplace_noise_is_dominated_at_every_vertex(scale, shift):
    size = mpmath.mpf(scale)
    excess, eps = laplace_excess(shift, size)
    assert excess <= mpmath.mpf(10) ** -30
    assert shift / size < eps <= shift / size * (1 + 1 / (4 * size))


def test_the_golden_inflation_of_unit_laplace_noise():
    """D = 1, s = 1: eps' = 1.24022901391656."""
    _, eps = laplace_excess(1, mpmath.mpf(1))
    assert abs(eps - mpmath.mpf("1.24022901391656")) < mpmath.mpf(10) ** -13


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-1100, 1000))
@settings(max_examples=300, deadline=None)
def test_rounding_to_the_grid_is_to_the_nearest_step(value, exponent):
    grid = Grid(exponent, 1)
    (steps,) = integers([value], grid)
    assert abs(Fraction(value) - steps * grid.step) * 2 <= grid.step


@given(st.integers(-(10**40), 10**40), st.integers(-200, 200))
def test_steps_come_back_as_the_nearest_double(steps, exponent):
    (value,) = reals([steps], Grid(exponent, 1))
    assert value == float(steps * Fraction(2) ** exponent)


def test_fractions_and_integers_are_taken_exactly():
    grid = Grid(-2, 1)
    assert integers([Fraction(1, 3), 10**30, 0.125, -0.125], grid) == [1, 4 * 10**30, 1, 0]


def test_what_is_not_finite_counts_as_zero_and_what_overflows_saturates():
    assert integers([math.nan, math.inf, -math.inf], Grid(0, 1)) == [0, 0, 0]
    assert reals([10**400, -(10**400)], Grid(0, 1)) == [math.inf, -math.inf]


def test_a_hopeless_ratio_is_refused_and_not_rounded():
    assert gaussian_grid(Fraction(1), Fraction(10) ** 12, 1).scale <= LARGEST_SCALE
    with pytest.raises(ValueError):
        laplace_grid(Fraction(1), Fraction(10) ** 40, 10**12)
