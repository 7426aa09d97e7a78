"""Simulations for forecasts and thresholds: the same draws in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.mechanisms.cox.synthetic import _scores
from executors.pricing.score_design import Law
from executors.pricing.survival_covariates import covariate_domain
from executors.statistics import draws, score_law
from executors.statistics.draws import row_chunks
from executors.statistics.survival_sums import Doubles
from suites.survival_cases import ball, facts, unit

COLUMNS = 40
NAMES = [f"x{place}" for place in range(COLUMNS)]
columns, norm = ball(*NAMES)


@given(st.integers(0, 10**6), st.integers(1, 10**8))
def test_chunks_hold_all_rows_and_not_too_many_numbers(rows: int, columns: int) -> None:
    if rows * columns > 1000 * draws.MOST:
        rows = 1000
    chunks = list(row_chunks(rows, columns))
    assert sum(chunks) == rows
    assert all(some == 1 or some * columns <= draws.MOST for some in chunks)
    if 0 < rows * columns <= draws.MOST:
        assert chunks == [rows]


def reach(law: Law) -> Callable[[], float]:
    return lambda: score_law.unit_reach.__wrapped__(law, COLUMNS, 0.95)


def tails(law: Law) -> Callable[[], Doubles]:
    return lambda: score_law._draws.__wrapped__(law, COLUMNS).square


def scores(is_ball: bool) -> Callable[[], Doubles]:
    where = facts(100, columns, norm=norm) if is_ball else facts(100, unit(*NAMES))
    ways = np.array([[F(place, 10) for place in range(COLUMNS)]] * 2, dtype=np.float64)
    return lambda: _scores(covariate_domain(where), ways, 80_000, np.random.default_rng(1))


def peak(simulate: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        simulate()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("simulate", "kept"),
    [
        (reach("gaussian"), 200_000),
        (reach("knorm_linf"), 200_000),
        (tails("knorm_l2"), 6 * 200_000),
        (scores(False), 2 * 80_000),
        (scores(True), 2 * 80_000),
    ],
)
def test_what_is_held_at_once_does_not_grow_with_the_columns(
    simulate: Callable[[], object], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "MOST", 1 << 14)
    assert peak(simulate) < 8 * (4 * kept + 8 * draws.MOST)


@pytest.mark.parametrize("simulate", [reach("gaussian"), scores(False)])
def test_the_same_is_drawn_in_small_chunks_as_at_once(
    simulate: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate()
    monkeypatch.setattr(draws, "MOST", 1 << 14)
    assert np.allclose(simulate(), whole, rtol=1e-12)  # type: ignore[arg-type]
