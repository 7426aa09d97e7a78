"""Rows shortened to a ball never leave it, whatever floating point does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from executors.pricing.covariance import GRID, ball_limit
from executors.summaries.ball_moments import ball_rows, summarise
from planner.facts import Column
from planner.mechanism import Query
from suites.covariance_tables import ArrayReader

COLUMNS = tuple(Column(f"x{j}", "real", Fraction(-50), Fraction(50)) for j in range(4))


def query(radius: Fraction = Fraction(3), limit: int | None = None) -> Query:
    return Query(
        "ball_moments",
        COLUMNS,
        (
            ("center", (Fraction(1), Fraction(0), Fraction(-2), Fraction(1, 3))),
            ("radius", radius),
            ("unit", radius),
            ("limit", ball_limit(4) if limit is None else limit),
        ),
    )


@pytest.mark.parametrize("count", [1, 2, 7, 300])
def test_every_row_stays_within_the_limit(count: int) -> None:
    rng = np.random.default_rng(count)
    for radius in (1e-9, 0.7, 3.0, 1e12):
        size = radius * 10.0 ** rng.uniform(-3, 3, (1, 400))
        rows = rng.normal(size=(count, 400)) * size
        rows[:, :20] = radius * rng.choice([-1.0, 0.0, 1.0], (count, 20))
        z = ball_rows(rows, np.zeros(count), radius, radius, 2**62)
        assert (z == np.floor(z)).all()
        assert (z**2).sum(axis=0).max() <= ball_limit(count)
        assert (np.abs(z) <= GRID).all()


def test_a_row_inside_is_kept_and_one_outside_keeps_its_direction() -> None:
    rows = np.array([[0.6, 8.0], [-0.3, 6.0]])
    z = ball_rows(rows, np.zeros(2), 5.0, 5.0, ball_limit(2)) / GRID
    assert z[:, 0] == pytest.approx([0.12, -0.06], abs=1e-4)
    assert z[:, 1] == pytest.approx([0.8, 0.6], abs=1e-4)


def test_a_row_beyond_the_limit_counts_as_the_centre() -> None:
    rows = np.array([[1.0, 0.1], [1.0, 0.1]])
    z = ball_rows(rows, np.zeros(2), 5.0, 5.0, 1000**2 * 4)
    assert np.array_equal(z[:, 0], [0.0, 0.0])
    assert (z[:, 1] != 0).all()


def test_what_is_no_number_counts_as_the_centre() -> None:
    rows = np.array([[np.nan, np.inf, 1e308, 0.5], [0.5, 0.5, -1e308, 0.5]])
    z = ball_rows(rows, np.zeros(2), 1.0, 1.0, ball_limit(2))
    assert np.array_equal(z[:, 0], [0.0, 0.0])
    assert np.isfinite(z).all()
    assert ((z**2).sum(axis=0) <= ball_limit(2)).all()


def test_batches_do_not_matter() -> None:
    rows = np.random.default_rng(1).normal(0, 4, (1000, 4))
    whole = summarise(query(), ArrayReader(rows))
    parts = summarise(query(), ArrayReader(rows, batch=37))
    order = summarise(query(), ArrayReader(rows[::-1], batch=101))
    for other in (parts, order):
        assert whole.rows == other.rows == 1000
        assert np.array_equal(whole.total, other.total)
        assert np.array_equal(whole.gram, other.gram)


def test_the_gram_matrix_is_that_of_the_shortened_rows() -> None:
    rows = np.random.default_rng(2).normal(0, 4, (500, 4))
    center = np.array([1.0, 0.0, -2.0, 1 / 3])
    w = rows - center
    w *= np.minimum(1.0, 3.0 / np.linalg.norm(w, axis=1))[:, None]
    found = summarise(query(), ArrayReader(rows))
    assert found.gram / GRID**2 * 9 / 500 == pytest.approx(w.T @ w / 500, abs=1e-3)
    assert found.total / GRID * 3 / 500 == pytest.approx(w.mean(axis=0), abs=1e-4)


def test_parameters_of_another_shape_are_refused() -> None:
    reader = ArrayReader(np.zeros((1, 4)))
    with pytest.raises(ValueError, match="positive radius"):
        summarise(query(radius=Fraction(0)), reader)
    one = Query("ball_moments", COLUMNS[:1], query().parameters)
    with pytest.raises(ValueError, match="one number"):
        summarise(one, reader)
