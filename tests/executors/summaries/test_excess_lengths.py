"""Squared lengths beyond thresholds, and rows shortened to a released length, in integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from executors.pricing.covariance import ball_limit
from executors.summaries import clipped_moments, excess_lengths
from planner.facts import Column
from planner.mechanism import Query
from suites.covariance_tables import ArrayReader

D = 4
COLUMNS = tuple(Column(f"x{j}", "real", Fraction(-2), Fraction(6)) for j in range(D))


def half_of(ball: bool, constant: int) -> float:
    """In a ball the unit makes room for the constant column."""
    return 1.5 * (1.25**0.5 if constant else 1.0) if ball else 4.0


def query(summary: str, ball: bool = False, constant: int = 0, **more: Any) -> Query:
    order = D + (constant > 0)
    half = Fraction(half_of(ball, constant))
    frame = {
        "center": (Fraction(2),) * D,
        "half": (half,) * D,
        "radius": Fraction(3, 2) if ball else None,
        "limit": ball_limit(order) - constant**2,
        "constant": constant,
    }
    return Query(summary, COLUMNS, tuple({**frame, **more}.items()))


def rows(count: int = 500, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2, 6, (count, D))


def unit(values: np.ndarray, ball: bool, constant: int) -> np.ndarray:
    w = values - 2
    if ball:
        w = w * np.minimum(1, 1.5 / np.linalg.norm(w, axis=1, keepdims=True))
    return np.asarray(w / half_of(ball, constant))


@pytest.mark.parametrize(
    ("ball", "constant"), [(False, 0), (False, 2**16), (True, 0), (True, 29308)]
)
def test_the_sums_are_those_of_the_rows(ball: bool, constant: int) -> None:
    thresholds = (2**34, 2**32, 2**30, 5, 0)
    asked = query("excess_lengths", ball, constant, thresholds=thresholds)
    found = excess_lengths.summarise(asked, ArrayReader(rows()))
    squares = (unit(rows(), ball, constant) ** 2).sum(axis=1) * 2.0**32
    assert found.rows == 500
    assert found.total == pytest.approx(squares.sum(), rel=1e-4)
    for t in thresholds:
        expected = np.maximum(squares + constant**2 - t, 0).sum()
        assert found.excess[t] == pytest.approx(expected, rel=1e-3, abs=500 * 2.0**18)


@pytest.mark.parametrize("ball", [False, True])
def test_no_row_is_longer_than_its_bound(ball: bool) -> None:
    """Walls, hostile values and zero: one row at a time, exactly."""
    constant = 29308 if ball else 2**16
    limit = ball_limit(D + 1) - constant**2 if ball else D * 2**32
    asked = query("excess_lengths", ball, constant, thresholds=(0,))
    for row in (np.full(D, 6.0), np.full(D, -2.0), np.full(D, 2.0), [np.nan, np.inf, 6, -2]):
        found = excess_lengths.summarise(asked, ArrayReader(np.array([row], dtype=float)))
        assert 0 <= found.total <= limit
        assert found.excess[0] == found.total + constant**2


def test_batches_do_not_matter() -> None:
    sums = query("excess_lengths", constant=2**16, thresholds=(2**31, 7))
    gram = query("clipped_moments", constant=2**16, longest=Fraction(1, 2))
    whole = excess_lengths.summarise(sums, ArrayReader(rows()))
    moments = clipped_moments.summarise(gram, ArrayReader(rows()))
    for size in (1, 7, 499):
        assert excess_lengths.summarise(sums, ArrayReader(rows(), size)) == whole
        part = clipped_moments.summarise(gram, ArrayReader(rows(), size))
        assert (part.gram == moments.gram).all()
        assert part.rows == 500


@pytest.mark.parametrize("ball", [False, True])
@pytest.mark.parametrize("constant", [0, 29308])
@pytest.mark.parametrize("longest", [Fraction(5), Fraction(1, 2), Fraction(1, 4**9)])
def test_the_moments_are_those_of_shortened_rows(
    ball: bool, constant: int, longest: Fraction
) -> None:
    asked = query("clipped_moments", ball, constant, longest=longest)
    found = clipped_moments.summarise(asked, ArrayReader(rows()))
    w = unit(rows(), ball, constant)
    if constant:
        w = np.column_stack([np.full(500, constant / 2**16), w])
    w = w / float(longest) ** 0.5
    w = w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1)
    assert found.gram / 2.0**32 == pytest.approx(w.T @ w, abs=500 * 2.0**-15)
    assert np.trace(found.gram) <= 500 * ball_limit(w.shape[1])


def test_a_length_is_positive_and_columns_fit() -> None:
    with pytest.raises(ValueError, match="positive"):
        clipped_moments.summarise(
            query("clipped_moments", longest=Fraction(0)), ArrayReader(rows())
        )
    short = query("excess_lengths", thresholds=(0,), center=(Fraction(2),))
    with pytest.raises(ValueError, match="each column"):
        excess_lengths.summarise(short, ArrayReader(rows()))
