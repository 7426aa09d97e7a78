"""Sensitivities against independent arithmetic, golden values, random and extremal neighbours."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

from executors.pricing.survival import (
    Widths,
    cox_sensitivity,
    floor_count,
    rounding_error,
    with_slack,
)
from executors.pricing.survival_domain import Domain, box

RELATIVE = 3e-9  # the outward factor 1 + 2^-30, twice


def widths(difference: object, null: object = 0, alternative: object = None) -> Widths:
    alternative = difference if alternative is None else alternative
    return Widths(F(str(difference)), F(str(null)), F(str(alternative)))


def by_definition(n: int, q: int, w: Widths) -> mp.mpf:
    """The bound summed term by term with 40 digits.

    With u and d, bounds of an event with one of the two records at risk, which b is never below.
    """
    with mp.workdps(40):
        W, W0, W1 = (
            mp.mpf(x.numerator) / x.denominator for x in (w.difference, w.null, w.alternative)
        )
        kappa, up, down = min(W0, W1), min(W0 + W, W1), min(W1 + W, W0)
        e = mp.exp

        def weight(m: int) -> mp.mpf:
            return mp.mpf(1) if q == 0 else min(mp.mpf(1), mp.mpf(m) / q)

        broad, narrow, steps = [], [], []
        for m in range(1, n):
            a = mp.log((m + e(kappa + W)) / (m + e(kappa)))
            u = mp.log((m + e(up)) / (m + e(up - W)))
            d = mp.log((m + e(down)) / (m + e(down - W)))
            b = mp.log((m + e(W1)) / (m + 1)) + mp.log((m + e(W0)) / (m + 1))
            g = weight(m + 1) - weight(m)
            broad.append(weight(m + 1) * a + g * W)
            narrow.append(weight(m + 1) * min(a, max(u, d, b)) + g * W)
            steps.append(g)

        def right(h: list[mp.mpf]) -> mp.mpf:
            return mp.fsum(itertools.accumulate(reversed(h), max))

        return min(W + max(W * (1 + right(steps)), right(broad)), 2 * W + right(narrow))


@pytest.mark.parametrize("n", [2, 3, 4, 7, 50, 400])
@pytest.mark.parametrize("part", ["0", "0.07", "0.1", "0.5", "1"])
@pytest.mark.parametrize(
    "w", [widths(1), widths(1, 1, 0), widths("0.3", 2, "2.1"), widths(2, 1, 1), widths(4, 3, 5)]
)
def test_the_bound_is_its_definition_rounded_up(n: int, part: str, w: Widths) -> None:
    q = floor_count(F(part), n)
    found, exact = cox_sensitivity(n, q, w), by_definition(n, q, w)
    with mp.workdps(40):
        assert mp.mpf(found.numerator) / found.denominator >= exact * (1 - mp.mpf(10) ** -30)
    assert float(found) <= float(exact) * (1 + RELATIVE)


@pytest.mark.parametrize(
    ("n", "w", "part", "golden"),
    [
        (100, widths("0.5"), 0, 3.0982443),
        (100, widths(1), 0, 7.48670149),
        (100, widths(2), 0, 22.33422841),
        (1000, widths("0.5"), 0, 4.58718738),
        (1000, widths(1), 0, 11.42234229),
        (1000, widths(2), 0, 36.8383208),
        (10_000, widths("0.5"), 0, 6.08044221),
        (10_000, widths(1), 0, 15.37673227),
        (10_000, widths(2), 0, 51.52847552),
        (10**8, widths(1), 0, 31.2024592717126),
        (1000, widths(1, 1, 2), 0, 25.4159785085549),
        (1000, widths(2, 1, 1), 0, 24.8446845831981),
        (1000, widths("1.6", "1.2", 2), 0, 49.9346819172074),
        (1000, widths("0.3"), "0.05", 1.97929106),
        (1000, widths("0.3"), "0.1", 1.74621685),
        (1000, widths("0.3"), "0.2", 1.50843851),
        (1000, widths("0.3"), 1, 0.94914782),
        (1000, widths(1), "0.05", 8.73944283),
        (1000, widths(1), "0.1", 7.61229026395855),
        (1000, widths(1), "0.2", 6.45355548),
        (1000, widths(1), 1, 3.71409046),
        (1000, widths(2), "0.05", 28.5640215),
        (1000, widths(2), "0.1", 24.6154128),
        (1000, widths(2), "0.2", 20.43733219),
        (1000, widths(2), 1, 10.36036387),
        (3, widths(1), 0, 2.0729469322),
        (6, widths(1, "0.4", "0.6"), 0, 3.4252538436),
        (432, widths("3.4"), 0, 105.613331917383),
    ],
)
def test_golden_values(n: int, w: Widths, part: object, golden: float) -> None:
    found = float(cox_sensitivity(n, floor_count(F(str(part)), n), w))
    assert found == pytest.approx(golden, rel=5e-9)


def test_golden_values_of_rossi_with_a_floor() -> None:
    assert float(cox_sensitivity(432, 44, widths("3.4"))) == pytest.approx(
        87.4227547986960, rel=RELATIVE
    )
    found = float(cox_sensitivity(432, 44, widths("0.51")))
    assert found == pytest.approx(3.16219700227101, rel=RELATIVE)


def test_golden_values_on_a_ball() -> None:
    ball = Domain((F(-1), F(-1)), (F(1), F(1)), (F(0), F(0)), F(1))
    w = Widths.of(ball, (F(0), F(1, 2)), (F(3, 5), F(1, 2)))
    assert (w.difference, w.null) == (F(6, 5), F(1))
    assert float(w.alternative) == pytest.approx(1.5620499351813308, rel=1e-15)
    assert float(cox_sensitivity(7, 0, w)) == pytest.approx(5.5874481387, rel=1e-9)
    assert float(cox_sensitivity(7, 4, w)) == pytest.approx(6.1335456906, rel=1e-9)


def test_the_floor_is_counted_in_exact_rationals() -> None:
    assert floor_count(F("0.07"), 100) == 7
    assert math.ceil(0.07 * 100) == 8  # what doubles make of it
    assert floor_count(F("0.1"), 432) == 44
    assert floor_count(F(0), 432) == 0
    assert floor_count(F(1), 432) == 432


@pytest.mark.parametrize("part", ["0.001", "0.1", "0.9", "1"])
@pytest.mark.parametrize("w", [widths(1), widths("1.6", "1.2", 2), widths(2, 1, 1)])
def test_blocks_are_above_the_exact_sum_and_near_it(part: str, w: Widths) -> None:
    n = 200_000
    q = floor_count(F(part), n)
    exact = exact_weighted(n, q, w)
    fine, coarse = (float(cox_sensitivity(n, q, w, coarse=flag)) for flag in (False, True))
    assert exact <= fine <= exact * (1 + 1e-4)
    assert fine <= coarse <= exact * (1 + 1e-3)


def exact_weighted(n: int, q: int, w: Widths) -> float:
    """The bound with every m singly, in numpy."""
    W, W0, W1 = float(w.difference), float(w.null), float(w.alternative)
    m = np.arange(1, n, dtype=float)
    kappa, up, down = min(W0, W1), min(W0 + W, W1), min(W1 + W, W0)

    def log_ratio(top: float, bottom: float) -> np.ndarray:
        return np.log1p((np.exp(top) - np.exp(bottom)) / (m + np.exp(bottom)))

    a = log_ratio(kappa + W, kappa)
    b = log_ratio(W1, 0.0) + log_ratio(W0, 0.0)
    c = np.minimum(a, np.maximum.reduce([log_ratio(up, up - W), log_ratio(down, down - W), b]))
    g = np.minimum(1, (m + 1) / q) - np.minimum(1, m / q)

    def right(h: np.ndarray) -> float:
        return math.fsum(np.maximum.accumulate(h[::-1]))

    weight = np.minimum(1, (m + 1) / q)
    first = W + max(W * (1 + right(g)), right(weight * a + g * W))
    return min(first, 2 * W + right(weight * c + g * W))


@pytest.mark.parametrize("w", [widths("1.6", "1.2", 2), widths(2, 1, 1), widths(1, 1, 2)])
def test_beyond_a_million_the_tail_is_bounded(w: Widths) -> None:
    n = 3_000_000
    exact = exact_weighted(n, 1, w)  # q = 1 weighs every event 1
    found = float(cox_sensitivity(n, 0, w))
    assert exact * (1 - 1e-14) <= found <= exact * (1 + 1e-4)
    assert found <= float(cox_sensitivity(n, 0, w, coarse=True)) * (1 + RELATIVE)


def test_wide_domains_neither_overflow_nor_lose_their_digits() -> None:
    for w in (widths(600, 600, 600), widths(600), widths(600, "0.001", 600)):
        for q in (0, 100):
            assert cox_sensitivity(1000, q, w) > 600


def test_a_million_rows_are_priced() -> None:
    """In milliseconds: a sum over the rows would take a minute."""
    assert cox_sensitivity(10**6, 10**5, widths(1, 1, 2)) > 1


def test_what_has_no_sensitivity_is_refused() -> None:
    with pytest.raises(ValueError, match="two records"):
        cox_sensitivity(1, 0, widths(1))
    with pytest.raises(ValueError, match="same likelihood"):
        cox_sensitivity(10, 0, widths(0))


def test_the_slack_is_added_and_rounded_up() -> None:
    w = widths(1, "0.4", "0.6")
    error = rounding_error(1000, 2, w)
    assert error == F(1000 * 6, 2**48) * 3
    found = with_slack(F(10), error)
    exact = 10 * (1 + F(1, 2**30)) + 2 * error
    assert exact <= found <= exact * (1 + F(1, 10**19))
    assert 10**19 <= found * 10**18 < 10**20
    assert found * 10**18 == int(found * 10**18)


# --- an attack that knows nothing of the proof ---------------------------------------------------


def ratio_of(time_: np.ndarray, event: np.ndarray, x: np.ndarray, b0, b1, q: int) -> np.ndarray:
    """L of a stack of tables (k, n), by its definition: one pass over events, full risk sets."""
    g0, g1 = x @ b0, x @ b1
    total = np.zeros(len(time_))
    for i in range(time_.shape[1]):
        at_risk = time_ >= time_[:, i : i + 1]
        count = at_risk.sum(axis=1)
        s0 = (at_risk * np.exp(g0)).sum(axis=1)
        s1 = (at_risk * np.exp(g1)).sum(axis=1)
        weight = 1.0 if q == 0 else np.minimum(1.0, count / q)
        total += event[:, i] * weight * (g1[:, i] - g0[:, i] - np.log(s1 / s0))
    return total


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_no_pair_of_neighbours_passes_the_bound(n: int) -> None:
    rng = np.random.default_rng(n)
    pairs = 12_500
    for b0, b1 in (([0.0], [1.0]), ([0.5], [1.0]), ([-1.0], [1.0]), ([2.0], [0.0])):
        domain = box([F(0)], [F(1)])
        w = Widths.of(domain, tuple(map(F, b0)), tuple(map(F, b1)))
        times = rng.integers(0, n + 1, (pairs, n + 1)).astype(float)
        events = rng.integers(0, 2, (pairs, n + 1))
        x = rng.choice([0.0, 1.0, 0.5], (pairs, n + 1, 1), p=[0.45, 0.45, 0.1])
        keep, swap = np.arange(n), np.r_[np.arange(n - 1), n]
        for q in (0, 1, (n + 1) // 2, n):
            first, second = (
                ratio_of(times[:, s], events[:, s], x[:, s], np.array(b0), np.array(b1), q)
                for s in (keep, swap)
            )
            bound = float(cox_sensitivity(n, q, w))
            assert np.abs(first - second).max() <= bound


@pytest.mark.parametrize(("n", "least"), [(100, 0.99), (1000, 0.999)])
@pytest.mark.parametrize("width", [0.5, 1.0, 2.0])
def test_an_extremal_pair_attains_the_bound(n: int, least: float, width: float) -> None:
    times = np.arange(1.0, n + 1)[None]
    events = np.ones((1, n))
    low = np.zeros((1, n, 1))
    last, first = low.copy(), low.copy()
    last[0, -1], first[0, 0] = 1.0, 1.0
    one = ratio_of(times, events, last, np.zeros(1), np.array([width]), 0)
    two = ratio_of(times, events, first, np.zeros(1), np.array([width]), 0)
    bound = float(cox_sensitivity(n, 0, widths(width)))
    assert least <= abs(one - two)[0] / bound <= 1.0


@pytest.mark.parametrize("n", [2, 4, 7])
def test_no_pair_of_neighbours_in_a_ball_passes_the_bound(n: int) -> None:
    rng = np.random.default_rng(100 + n)
    pairs = 10_000
    ball = Domain((F(-1), F(-1)), (F(1), F(1)), (F(0), F(0)), F(1))
    for b0, b1 in (([0.0, 0.0], [1.5, 0.0]), ([0.0, 1.0], [1.0, 0.0]), ([0.5, 0.5], [-0.5, 0.5])):
        w = Widths.of(ball, tuple(map(F, b0)), tuple(map(F, b1)))
        times = rng.integers(0, n + 1, (pairs, n + 1)).astype(float)
        events = rng.random((pairs, n + 1)) < 0.8
        angle = rng.uniform(0, 2 * np.pi, (pairs, n + 1, 1))
        x = np.concatenate([np.cos(angle), np.sin(angle)], axis=2)
        keep, swap = np.arange(n), np.r_[np.arange(n - 1), n]
        for q in (0, (n + 1) // 2, n):
            first, second = (
                ratio_of(times[:, s], events[:, s], x[:, s], np.array(b0), np.array(b1), q)
                for s in (keep, swap)
            )
            assert np.abs(first - second).max() <= float(cox_sensitivity(n, q, w))


@pytest.mark.parametrize(("width", "least"), [(0.5, 0.83), (1.0, 0.86), (2.0, 0.9)])
def test_with_a_floor_the_extremal_pair_stays_below_the_bound_and_near_it(
    width: float, least: float
) -> None:
    n, q = 1000, 100
    times, events = np.arange(1.0, n + 1)[None], np.ones((1, n))
    last, first = np.zeros((1, n, 1)), np.zeros((1, n, 1))
    last[0, -1], first[0, 0] = 1.0, 1.0
    one, two = (
        ratio_of(times, events, x, np.zeros(1), np.array([width]), q)[0] for x in (last, first)
    )
    assert least <= abs(one - two) / float(cox_sensitivity(n, q, widths(width))) <= 1.0
