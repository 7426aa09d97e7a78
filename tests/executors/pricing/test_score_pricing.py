"""Sensitivities of the score and its trace: golden values, exact arithmetic, attacks."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

from executors.pricing.score_design import ScoreDesign, quieter_noise
from executors.pricing.survival import floor_count
from executors.pricing.survival_domain import Domain, box
from executors.pricing.survival_score import (
    diameter,
    score_error,
    score_factor,
    squared_diameter,
    trace_error,
    trace_sensitivity,
)
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.facts import SourceFacts

RELATIVE = 1e-9


def by_definition(n: int, q: int, width: F) -> tuple[mp.mpf, mp.mpf]:
    """S, and the trace's bound for a unit diameter, term by term with 40 digits."""
    with mp.workdps(40):
        top = mp.exp(mp.mpf(width.numerator) / width.denominator)

        def weight(m: int) -> mp.mpf:
            return mp.mpf(1) if q == 0 else min(mp.mpf(1), mp.mpf(m) / q)

        moves, steps, traces = [], [], []
        for m in range(1, n):
            share, w, before = top / (m + top), weight(m + 1), weight(m)
            moves.append(w * share + w - before)
            steps.append(w - before)
            traces.append(w**2 * share + (w**2 - before**2) / 4)

        def right(h: list[mp.mpf]) -> mp.mpf:
            return mp.fsum(itertools.accumulate(reversed(h), max))

        factor = 1 + max(1 + right(steps), right(moves))
        return factor, mp.mpf(1) / 4 + right(traces)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 50, 400])
@pytest.mark.parametrize("part", ["0", "0.07", "0.1", "0.5", "1"])
@pytest.mark.parametrize("width", [F(0), F(1, 3), F(2), F(9)])
def test_the_bounds_are_their_definitions_rounded_up(n: int, part: str, width: F) -> None:
    q = floor_count(F(part), n)
    factor, trace = by_definition(n, q, width)
    found = score_factor(n, q, width), trace_sensitivity(n, q, width, F(1))
    for mine, exact in zip(found, (factor, trace)):
        with mp.workdps(40):
            assert mp.mpf(mine.numerator) / mine.denominator >= exact * (1 - mp.mpf(10) ** -30)
        assert float(mine) <= float(exact) * (1 + RELATIVE)


@pytest.mark.parametrize(
    ("n", "part", "width", "golden"),
    [
        (4, "0", "0", 2.0833333333),
        (3, "0", "0", 2.0),
        (6, "0", "0.4", 2.8594863463),
        (7, "0", "1", 3.8511304555),
        (7, "4/7", "1", 4.244688764765),
        (432, "0", "0", 6.64679821402265),
        (432, "0.1", "0", 5.22861777523901),
        (1000, "0.1", "0", 5.27809334291073),
        (300, "0", "0", 6.283),
        (300, "0.1", "0", 5.221),
        (1000, "1", "0", 2.999),
        (3000, "0.1", "0", 5.294),
        (10**7, "0.05", "0", 6.00),
        (10**7, "0.1", "0", 5.30),
        (10**7, "0.2", "0", 4.61),
        (10**7, "0.5", "0", 3.69),
        (10**7, "1", "0", 3.00),
    ],
)
def test_golden_values_of_the_factor(n: int, part: str, width: str, golden: float) -> None:
    digits = 10 ** -len(str(golden).partition(".")[2])
    found = float(score_factor(n, floor_count(F(part), n), F(width)))
    assert found == pytest.approx(golden, abs=0.51 * digits + 1e-8 * golden)


@pytest.mark.parametrize(
    ("part", "square", "golden"),
    [("0", 4, 26.9418834422014), ("0.1", 4, 16.1224733716429), ("0.1", 1, 4.03061834291073)],
)
def test_golden_values_of_the_trace(part: str, square: int, golden: float) -> None:
    found = trace_sensitivity(1000, floor_count(F(part), 1000), F(0), F(square))
    assert float(found) == pytest.approx(golden, rel=RELATIVE)


def test_golden_leaves_of_a_score_in_a_ball() -> None:
    ball = Domain((F(-1),) * 3, (F(1),) * 3, (F(0),) * 3, F(1))
    design = ScoreDesign.of(1000, F(1, 10), ball, (F(0),) * 3, F(9, 10), standardise=True)
    source = SourceFacts("t", 1000, ())

    def scales(cost: Cost) -> list[float]:
        leaves = solve(design.needs(source, cost.unit, "knorm"), cost).leaves
        return [float(leaf.scale or 0) for leaf in leaves]

    assert design.norm == "l2"
    assert float(design.score_sensitivity("pure")) == pytest.approx(10.5561866858215, rel=3e-9)
    for cost, golden in (
        (Cost("eps", F(1)), [11.7290963175794, 161.224733716429]),
        (Cost("mu", F(1, 2)), [22.2543955554267, 101.96747473961]),
    ):
        assert scales(cost) == pytest.approx(golden, rel=3e-9)


def test_golden_leaves_of_two_groups() -> None:
    domain = box([F(0)], [F(1)])
    design = ScoreDesign.of(1000, F(1, 10), domain, (F(0),), F(9, 10), standardise=False)
    needs = design.needs(SourceFacts("t", 1000, ()), "eps", "knorm")
    leaves = solve(needs, Cost("eps", F(1))).leaves
    assert [leaf.kind for leaf in leaves] == ["lap", "lap"]
    scales = [float(leaf.scale or 0) for leaf in leaves]
    assert scales == pytest.approx([5.8645481587897, 40.3061834291073], rel=3e-9)


@pytest.mark.parametrize("part", ["0.001", "0.1", "0.9", "1"])
@pytest.mark.parametrize("width", [F(0), F(3, 2)])
def test_blocks_are_above_the_exact_sums_and_near_them(part: str, width: F) -> None:
    n = 200_000
    q = floor_count(F(part), n)
    m = np.arange(1, n, dtype=float)
    top = math.exp(width)
    share, w = top / (m + top), np.minimum(1, (m + 1) / q)
    before = np.minimum(1, m / q)

    def right(h: np.ndarray) -> float:
        return math.fsum(np.maximum.accumulate(h[::-1]))

    factor = 1 + max(1 + right(w - before), right(w * share + w - before))
    trace = 0.25 + right(w**2 * share + (w**2 - before**2) / 4)
    for exact, found in (
        (factor, float(score_factor(n, q, width))),
        (trace, float(trace_sensitivity(n, q, width, F(1)))),
    ):
        assert exact * (1 - 1e-12) <= found <= exact * (1 + 2e-4)


def test_without_a_floor_the_factor_of_a_null_of_zero_is_a_harmonic_number() -> None:
    exact = sum(F(1, k) for k in range(1, 1001))
    assert exact <= score_factor(1000, 0, F(0)) <= exact * (1 + F(1, 10**20))


def test_a_hundred_million_rows_are_priced() -> None:
    """In milliseconds: a sum over the rows would take an hour."""
    assert score_factor(10**8, 10**7, F(1)) > 1
    assert trace_sensitivity(10**8, 0, F(1), F(1)) > 0


def test_one_record_has_no_sensitivity() -> None:
    for bound in (score_factor(2, 0, F(0)), trace_sensitivity(2, 0, F(0), F(1))):
        assert bound > 0
    with pytest.raises(ValueError, match="two records"):
        score_factor(1, 0, F(0))
    with pytest.raises(ValueError, match="two records"):
        trace_sensitivity(1, 0, F(0), F(1))


def test_the_diameter_is_that_of_the_smaller_of_box_and_ball() -> None:
    wide = Domain((F(-3), F(-3)), (F(3), F(3)), (F(0), F(0)), F(1))
    flat = Domain((F(-3), F(0)), (F(3), F(1, 10)), (F(0), F(0)), F(100))
    assert squared_diameter(wide) == 4
    assert squared_diameter(flat) == F(3601, 100)
    assert diameter(flat) ** 2 >= F(3601, 100)
    assert squared_diameter(box([F(0), F(0)], [F(3), F(4)])) == 25


def test_the_error_of_floating_point_is_in_the_units_of_each_statistic() -> None:
    assert score_error(1000, 2, F(1), F(3)) == F(1000 * 6, 2**48) * 2 * 3
    assert trace_error(1000, 2, F(1), F(9)) == F(1000 * 6, 2**48) * 2 * 9


# --- geometry, shares, choice of noise -----------------------------------------------------------


def design(domain: Domain, **more: object) -> ScoreDesign:
    zero = (F(0),) * len(domain.lo)
    return ScoreDesign.of(100, F(0), domain, zero, F(9, 10), standardise=True, **more)  # type: ignore[arg-type]


def test_a_box_is_standardised_and_priced_by_its_largest_coordinate() -> None:
    found = design(box([F(0), F(-5)], [F(4), F(5)]))
    assert found.scale == (F(1, 2), F(1, 5))
    assert (found.norm, found.norm_width, found.largest_trace) == ("linf", 2, 2)
    assert float(found.diameter) == pytest.approx(2 * math.sqrt(2))


def test_a_large_ball_takes_noise_in_the_shape_of_a_cube() -> None:
    def ball(d: int) -> ScoreDesign:
        return design(Domain((F(-1),) * d, (F(1),) * d, (F(0),) * d, F(1)))

    assert [ball(d).norm for d in (2, 6, 7)] == ["l2", "l2", "linf"]
    assert ball(7).norm_width == 2
    assert ball(7).scale is None


def test_a_split_table_gives_the_first_tenth_to_the_trace() -> None:
    found = design(box([F(0)], [F(1)]), split=True)
    assert (found.rows, found.trace_rows, found.is_split) == (90, 10, True)
    assert ScoreDesign.of(
        101, F(1, 10), box([F(0)], [F(1)]), (F(0),), F(1, 2), standardise=True, split=True
    ).trace_floor == 2  # fmt: skip


@pytest.mark.parametrize("d", [2, 5, 12, 40, 60])
@pytest.mark.parametrize("delta", [F(1, 10**5), F(1, 10**9)])
def test_the_noise_of_eps_with_delta_is_the_one_with_the_smaller_mean_square(
    d: int, delta: F
) -> None:
    found = design(box([F(0)] * d, [F(1)] * d))
    cost = Cost("eps_delta", F(1), delta)
    source = SourceFacts("t", 100, ())

    def mean_square(noise: str) -> float:
        leaf = solve(found.needs(source, "eps_delta", noise), cost).leaves[0]  # type: ignore[arg-type]
        scale = float(leaf.scale or 0)
        return scale**2 * (d if noise == "gaussian" else d * (d + 1) * (d + 2) / 3)

    smaller = min(("knorm", "gaussian"), key=mean_square)
    assert quieter_noise(found, cost) == smaller


# --- an attack that knows nothing of the proof ---------------------------------------------------


def statistics(
    times: np.ndarray, events: np.ndarray, x: np.ndarray, b0: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray]:
    """U, shape (k, d), and V, shape (k,), of a stack of tables (k, n), by their definition."""
    weights = np.exp(x @ b0)
    score, trace = np.zeros((len(times), x.shape[2])), np.zeros(len(times))
    for i in range(times.shape[1]):
        at_risk = times >= times[:, i : i + 1]
        share = at_risk * weights
        share /= share.sum(axis=1, keepdims=True)
        mean = np.einsum("kn,knd->kd", share, x)
        spread = np.einsum("kn,knd->k", share, (x - mean[:, None]) ** 2)
        w = np.ones(len(times)) if q == 0 else np.minimum(1.0, at_risk.sum(axis=1) / q)
        score += (events[:, i] * w)[:, None] * (x[:, i] - mean)
        trace += events[:, i] * w**2 * spread
    return score, trace


def largest_ratios(
    n: int, pairs: int, domain: Domain, b0: list[float], q: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The largest moves of U in l2 and of V over their bounds, in random neighbours.

    Ties, records that are all censored, floors at every record, and z last, first or anywhere.
    """
    d = len(b0)
    times = rng.integers(0, n + 1, (pairs, n + 1)).astype(float)
    events = rng.random((pairs, n + 1)) < rng.choice([0.0, 0.3, 0.8, 1.0], (pairs, 1))
    if domain.radius is None:
        x = rng.choice([0.0, 1.0, 0.5], (pairs, n + 1, d), p=[0.45, 0.45, 0.1])
    else:
        x = rng.standard_normal((pairs, n + 1, d))
        x /= np.linalg.norm(x, axis=2, keepdims=True)
    kind = rng.integers(0, 4, pairs)
    times[kind == 1, n - 1], times[kind == 1, n] = n + 1, 0.0
    times[kind == 2, n - 1], times[kind == 2, n] = 0.0, n + 1
    events[kind == 3, n] = False
    keep, swap = np.arange(n), np.r_[np.arange(n - 1), n]
    (u, v), (other_u, other_v) = (
        statistics(times[:, s], events[:, s], x[:, s], np.array(b0), q) for s in (keep, swap)
    )
    width = domain.width(tuple(F(str(value)) for value in b0))
    factor = float(score_factor(n, q, width)) * float(diameter(domain))
    bound = float(trace_sensitivity(n, q, width, squared_diameter(domain)))
    return float(np.linalg.norm(u - other_u, axis=1).max()) / factor, float(
        np.abs(v - other_v).max()
    ) / bound


UNIT_BALL = Domain((F(-1), F(-1)), (F(1), F(1)), (F(0), F(0)), F(1))
DOMAINS = (
    (box([F(0)], [F(1)]), [0.0]),
    (box([F(0)], [F(1)]), [1.5]),
    (UNIT_BALL, [0.0, 0.0]),
    (UNIT_BALL, [0.0, 1.0]),
)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_no_pair_of_neighbours_passes_the_bounds(n: int) -> None:
    rng = np.random.default_rng(n)
    for domain, b0 in DOMAINS:
        for q in (0, (n + 1) // 2, n):
            assert max(largest_ratios(n, 500, domain, b0, q, rng)) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 9, 12])
def test_no_pair_of_a_hundred_thousand_neighbours_passes_the_bounds(n: int) -> None:
    rng = np.random.default_rng(1000 + n)
    largest = [
        largest_ratios(n, 25_000 // 7, domain, b0, q, rng)
        for domain, b0 in DOMAINS
        for q in {0, 1, (n + 1) // 2, n}
        for _ in range(3)
    ]
    assert np.max(largest) <= 1.0
    assert np.max(largest, axis=0)[0] > 0.5


@pytest.mark.parametrize(("n", "least"), [(100, 0.99), (1000, 0.999)])
def test_an_extremal_pair_attains_the_bound_of_the_score(n: int, least: float) -> None:
    """All others low at distinct event times; the last high, or an early event that is high."""
    times, events = np.arange(1.0, n + 1)[None], np.ones((1, n))
    last, first = np.zeros((1, n, 1)), np.zeros((1, n, 1))
    last[0, -1], first[0, 0] = 1.0, 1.0
    (u, _), (other, _) = (statistics(times, events, x, np.zeros(1), 0) for x in (last, first))
    assert least <= abs(u - other)[0, 0] / float(score_factor(n, 0, F(0))) <= 1.0


def test_with_a_floor_the_extremal_pair_stays_near_the_bound() -> None:
    n, q = 1000, 100
    times, events = np.arange(1.0, n + 1)[None], np.ones((1, n))
    last, first = np.zeros((1, n, 1)), np.zeros((1, n, 1))
    last[0, -1], first[0, 0] = 1.0, 1.0
    (u, _), (other, _) = (statistics(times, events, x, np.zeros(1), q) for x in (last, first))
    assert 0.8 <= abs(u - other)[0, 0] / float(score_factor(n, q, F(0))) <= 1.0


@pytest.mark.parametrize(("n", "least"), [(100, 0.79), (1000, 0.86), (10_000, 0.89)])
def test_the_trace_comes_near_its_bound(n: int, least: float) -> None:
    """One record apart from all others, at risk at every event, or never."""
    at_risk = np.arange(n, 0, -1.0)
    found = float(np.sum(1 / at_risk - 1 / at_risk**2))
    bound = float(trace_sensitivity(n, 0, F(0), F(1)))
    assert least <= found / bound <= 1.0
