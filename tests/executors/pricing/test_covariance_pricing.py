"""The sensitivities of second moments, against published numbers and against attack."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.pricing.covariance import (
    GRID,
    JOINT,
    MEAN_WEIGHT,
    PRODUCT,
    ball_limit,
    ball_sensitivity,
    box,
    diagonal_sensitivity,
    frobenius_sensitivity,
    is_constant_square,
    joint_sensitivity,
    root_below,
    triangle_sensitivity,
)
from executors.pricing.weighted import weighted_scale
from planner.facts import Column


def moves(points: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared moves D of the diagonal and O of the pairs, for every pair of rows."""
    first = np.einsum("ij,ik->ijk", points, points)
    second = np.einsum("ij,ik->ijk", others, others)
    change = (first[:, None] - second[None]) ** 2
    diagonal = np.einsum("abjj->ab", change)
    return diagonal, (change.sum(axis=(2, 3)) - diagonal) / 2


def cells(dimension: int) -> np.ndarray:
    return np.array(list(itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=dimension)))


def test_the_published_sensitivities_for_ten_columns_and_a_thousand_rows() -> None:
    steps = 1000 * PRODUCT
    assert float(diagonal_sensitivity(10) / steps) == pytest.approx(0.00316227766, abs=1e-9)
    assert float(triangle_sensitivity(10) / steps) == 0.01
    assert float(frobenius_sensitivity(10) / steps) == pytest.approx(0.0141421356, abs=1e-9)


def test_the_published_sensitivities_in_the_units_of_the_columns() -> None:
    bounds, rows = (1.0, 2.0, 3.0), 50
    corners = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3))) * bounds
    products = np.einsum("ij,ik->ijk", corners, corners)
    change = np.abs(products[:, None] - products[None]) / rows
    largest = change.max(axis=(0, 1))
    assert largest[0, 1] == pytest.approx(0.08)
    assert largest[1, 2] == pytest.approx(0.24)
    assert np.diag(largest) == pytest.approx([0.02, 0.08, 0.18])
    diagonal, pairs = moves(corners, corners)
    assert np.sqrt(diagonal.max()) / rows == pytest.approx(0.19798990, abs=1e-8)
    assert np.sqrt((diagonal + pairs).max()) / rows <= 0.28


@pytest.mark.parametrize(("dimension", "found"), [(1, 1.0), (2, 2.0), (3, math.sqrt(8)), (4, 4.0)])
def test_the_upper_triangle_moves_by_at_most_d(dimension: int, found: float) -> None:
    diagonal, pairs = moves(cells(dimension), cells(dimension))
    largest = math.sqrt((diagonal + pairs).max())
    assert largest == pytest.approx(found)
    assert largest <= float(triangle_sensitivity(dimension)) / PRODUCT


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_the_whole_matrix_moves_by_at_most_root_two_d(dimension: int) -> None:
    diagonal, pairs = moves(cells(dimension), cells(dimension))
    largest = math.sqrt((diagonal + 2 * pairs).max())
    assert largest <= float(frobenius_sensitivity(dimension)) / PRODUCT


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_the_weighted_triangle_moves_by_at_most_d_and_five_percent_more_would_not(
    dimension: int,
) -> None:
    diagonal, pairs = moves(cells(dimension), cells(dimension))
    weight = (dimension + 1) / 2
    assert (weight * diagonal + pairs).max() == pytest.approx(dimension**2)
    assert (1.05 * weight * diagonal + pairs).max() > dimension**2


@pytest.mark.parametrize("dimension", [3, 5, 8])
def test_a_local_search_does_not_pass_the_weighted_bound(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    weight = (dimension + 1) / 2
    best = 0.0
    for _ in range(60):
        pair = rng.uniform(-1, 1, (2, dimension))
        value = -1.0
        while True:
            for side, place in itertools.product((0, 1), range(dimension)):
                trials = np.repeat(pair[None], 41, axis=0)
                trials[:, side, place] = np.linspace(-1, 1, 41)
                change = np.einsum("aj,ak->ajk", trials[:, 0], trials[:, 0])
                change -= np.einsum("aj,ak->ajk", trials[:, 1], trials[:, 1])
                diagonal = np.einsum("ajj->aj", change)
                squares = (change**2).sum(axis=(1, 2))
                d = (diagonal**2).sum(axis=1)
                pair = trials[np.argmax(weight * d + (squares - d) / 2)]
            now = float((weight * d + (squares - d) / 2).max())
            if now <= value + 1e-12:
                break
            value = now
        best = max(best, value)
    assert best <= dimension**2 * (1 + 1e-12)
    assert best >= 0.99 * dimension**2


def test_the_rational_weights_cost_no_more_than_the_roots() -> None:
    for order in (*range(2, 60), 101, 261, 2001):
        square = Fraction(order + 1, 2)
        weight = root_below(square)
        assert weight**2 <= square < (weight + Fraction(1, 10**20)) ** 2


def test_a_part_with_its_own_scale_costs_no_more_than_its_weight_says() -> None:
    """In mu, by (d/t)(1 + 1/(20 t^2)) at its own scale t, and in rho, exactly."""
    for scale in (1024, 2**20, 2**26, 219043332097):
        for order in (2, 3, 7, 100, 2000):
            weight = root_below(Fraction(order + 1, 2))
            own = weighted_scale(scale, weight)
            assert (1 + Fraction(1, 20 * own**2)) / own <= weight / scale
            assert own <= scale / weight + 2
        assert weighted_scale(scale, Fraction(1)) == scale
    with pytest.raises(ValueError, match="weight"):
        weighted_scale(1024, Fraction(1, 2))


def test_the_joint_constant_bounds_a_square_with_its_mean() -> None:
    a = np.linspace(-1, 1, 2001)
    largest = ((a[:, None] ** 2 - a[None] ** 2) ** 2 + (a[:, None] - a[None]) ** 2 / 3).max()
    assert largest == pytest.approx(1.40178, abs=1e-5)
    assert largest < JOINT
    v = mpmath.findroot(lambda v: mpmath.diff(lambda u: u**2 * ((2 - u) ** 2 + 1 / 3), v), 1.2)
    assert v**2 * ((2 - v) ** 2 + mpmath.mpf(1) / 3) < JOINT


def test_the_mean_weight_is_below_its_root() -> None:
    assert 3 * MEAN_WEIGHT**2 <= PRODUCT < 3 * (MEAN_WEIGHT + 1) ** 2
    assert MEAN_WEIGHT == 37837


def test_the_joint_integers_move_by_at_most_their_sensitivity() -> None:
    rng = np.random.default_rng(3)
    pairs = rng.integers(-GRID, GRID + 1, (200_000, 2)).astype(object)
    near = [(x, -x + e) for x in range(35_000, 66_000, 7) for e in (-9000, 0, 9000)]
    allowed = int(joint_sensitivity(1)) ** 2
    largest = 0
    for x, y in [*map(tuple, pairs), *near, (GRID, -GRID), (GRID, 0), (GRID, -13834), (0, 0)]:
        x, y = int(x), max(-GRID, min(GRID, int(y)))
        largest = max(largest, (x * x - y * y) ** 2 + (MEAN_WEIGHT * (x - y)) ** 2)
    assert largest <= allowed
    assert largest >= 0.999 * allowed


@given(st.integers(1, 2000))
def test_the_ball_limit_is_the_rounded_square(dimension: int) -> None:
    with mpmath.workdps(40):
        exact = (GRID + mpmath.sqrt(dimension) + 1) ** 2
    assert ball_limit(dimension) == int(mpmath.floor(exact))


@given(st.integers(2, 2000))
def test_the_ball_sensitivity_bounds_two_orthogonal_rows(dimension: int) -> None:
    limit = ball_limit(dimension)
    assert ball_sensitivity(dimension) ** 2 >= 2 * limit**2
    assert (ball_sensitivity(dimension) - 1) ** 2 < 2 * limit**2


def test_the_box_holds_the_range_about_any_centre() -> None:
    columns = (
        Column("a", "real", Fraction(2), Fraction(8)),
        Column("b", "boolean"),
    )
    middle = box(columns, None)
    assert middle.center == (Fraction(5), Fraction(1, 2))
    assert middle.half == (Fraction(3), Fraction(1, 2))
    about = box(columns, (Fraction(0), Fraction(3, 10)))
    assert about.half == (Fraction(8), Fraction(7, 10))
    assert is_constant_square(columns[1], middle.center[1])
    assert not is_constant_square(columns[1], about.center[1])
    assert not is_constant_square(columns[0], Fraction(1, 2))


def test_a_column_without_bounds_has_no_box() -> None:
    with pytest.raises(ValueError, match="no bounds"):
        box((Column("a", "real"),), None)


def test_a_weight_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        root_below(Fraction(1, 2))
