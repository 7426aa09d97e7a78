"""The maximum-entropy fit: published values, exact completions, a second solver."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import numpy as np
import pytest

from executors.statistics import entropy_newton
from executors.statistics.entropy_fit import Fit, diagonal_precision, solve_component
from executors.statistics.entropy_graph import Reconstruction
from executors.statistics.entropy_newton import DENSE_UNKNOWNS
from suites.primal_fit import primal_fit

Pairs = Iterable[tuple[int, int, float]]


def fitted(
    diagonal: list[float], pairs: Pairs, variance: float, gamma: float, tolerance: float = 1e-12
) -> tuple[np.ndarray, np.ndarray, Fit]:
    a, b, y = (np.array(part) for part in zip(*pairs))
    size = len(diagonal)
    return solve_component(
        np.array(diagonal, dtype=float),
        np.full(size, variance),
        a,
        b,
        y,
        np.full(len(y), variance),
        gamma,
        None,
        tolerance,
    )


CYCLE = ((0, 1, 0.5), (1, 2, -0.3), (2, 3, 0.4), (0, 3, 0.2))
TRIANGLE = ((0, 1, 0.8), (1, 2, 0.8), (0, 2, -0.5))


def test_a_chain_multiplies_along_its_path() -> None:
    sigma, precision, fit = fitted([1, 2, 1.5], [(0, 1, 0.8), (1, 2, -0.9)], 1e-6, 1e-6)
    assert sigma[0, 2] == pytest.approx(-0.36, abs=1e-6)
    assert precision[0, 2] == 0.0
    assert fit.converged


def test_a_cycle_has_the_completion_of_forty_digits() -> None:
    sigma, _, _ = fitted([1.0] * 4, CYCLE, 1e-8, 1e-4)
    assert sigma[0, 2] == pytest.approx(-0.068544077788748189, abs=1e-7)
    assert sigma[1, 3] == pytest.approx(-0.010452940059598689, abs=1e-7)
    assert np.linalg.slogdet(sigma)[1] == pytest.approx(-0.62997215563736465, abs=1e-7)


def test_a_noisy_cycle_has_its_published_fit() -> None:
    sigma, _, _ = fitted([1.0] * 4, CYCLE, 0.01, 0.01)
    assert np.diag(sigma) == pytest.approx(
        [1.0001412, 1.00014719, 1.00013284, 1.00012685], abs=1e-8
    )
    found = [sigma[j, k] for j, k in ((0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3))]
    expected = [0.49985826, -0.29992143, 0.39989459, 0.19994206, -0.06849481, -0.01046008]
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("gamma", "own", "off"),
    [
        (1e-2, 1.166795174413211, 1.166495367031267),
        (1e-6, 1.166666679523809, 1.166666649523811),
    ],
)
def test_an_impossible_pair_gives_the_nearest_possible_one(
    gamma: float, own: float, off: float
) -> None:
    sigma, _, fit = fitted([1.0, 1.0], [(0, 1, 1.5)], 0.01, gamma)
    assert sigma[0, 0] == pytest.approx(own, abs=1e-7)
    assert sigma[0, 1] == pytest.approx(off, abs=1e-7)
    assert fit.converged


def test_an_impossible_triangle_is_the_same_cold_or_warm_in_every_order() -> None:
    cold, _, _ = fitted([1.0] * 3, TRIANGLE, 0.01, 0.01)
    assert np.diag(cold) == pytest.approx([1.07431834, 1.09781778, 1.07431834], abs=1e-7)
    assert cold[0, 1] == pytest.approx(0.62959509, abs=1e-7)
    assert cold[1, 2] == pytest.approx(0.62959509, abs=1e-7)
    assert cold[0, 2] == pytest.approx(-0.35150358, abs=1e-7)
    for order in permutations(TRIANGLE):
        warm = Reconstruction(np.ones(3), np.full(3, 0.01), 0.01)
        for j, k, y in order:
            warm.measure(k, j, y, 0.01, 1e-7)
        warm.finish(1e-12)
        assert warm.converged
        assert warm.sigma == pytest.approx(cold, abs=1e-7)


def test_pairs_far_from_possible_need_the_continuation_and_get_there() -> None:
    """Two strong pairs forbid the third by hundreds of its standard deviations."""
    warm = Reconstruction(np.ones(3), np.full(3, 1e-6), 0.01)
    for j, k, y in ((0, 1, 0.9), (0, 2, 0.9), (1, 2, -0.9)):
        warm.measure(j, k, y, 1e-6, 1e-7)
    warm.finish(1e-12)
    targets = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
    assert warm.converged
    assert warm.sigma == pytest.approx(primal_fit(targets, np.full((3, 3), 1e-6), 0.01), abs=1e-6)


def test_a_tree_is_the_product_of_correlations_on_its_paths() -> None:
    rng = np.random.default_rng(3)
    size, parent = 12, [0, *(int(rng.integers(0, i)) for i in range(1, 12))]
    scale = rng.uniform(0.5, 2.0, size)
    expected = np.eye(size)
    pairs = []
    for i in range(1, size):
        r = rng.uniform(-0.8, 0.8)
        expected[i, :i] = expected[:i, i] = r * expected[parent[i], :i]
        pairs.append((parent[i], i, r * scale[i] * scale[parent[i]]))
    sigma, _, _ = fitted(list(scale**2), pairs, 1e-9, 1e-4)
    assert sigma == pytest.approx(expected * np.outer(scale, scale), abs=1e-8)


def test_a_chordal_graph_is_summed_over_cliques_and_separators() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(50, 5))
    full = x.T @ x / 50
    cliques, separators = ((0, 1, 2), (1, 2, 3), (3, 4)), ((1, 2), (3,))
    precision = np.zeros((5, 5))
    for sign, groups in ((1.0, cliques), (-1.0, separators)):
        for group in groups:
            block = np.ix_(group, group)
            precision[block] += sign * np.linalg.inv(full[block])
    edges = sorted({(j, k) for group in cliques for j in group for k in group if j < k})
    sigma, found, _ = fitted(
        list(np.diag(full)), [(j, k, full[j, k]) for j, k in edges], 1e-9, 1e-4
    )
    assert sigma == pytest.approx(np.linalg.inv(precision), abs=1e-7)
    assert found[0, 3] == found[0, 4] == found[1, 4] == found[2, 4] == 0.0


def test_a_negative_variance_still_gives_a_positive_one() -> None:
    (precision,) = diagonal_precision(np.array([-0.02]), np.array([0.0025]), 0.01)
    assert 1.0 / precision == pytest.approx(0.0011803398875, abs=1e-12)
    (tiny,) = diagonal_precision(np.array([-5.0]), np.array([1e-12]), 0.01)
    assert 1.0 / tiny == pytest.approx(0.01 * 1e-12 / 5.0, rel=1e-9)


def random_instance(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Targets and noise variances of 2 to 6 columns; many have no completion."""
    d = int(rng.integers(2, 7))
    x = rng.normal(size=(int(rng.integers(d, 3 * d + 1)), d))
    truth = x.T @ x / len(x)
    deviation = 10.0 ** rng.uniform(-3, 0)
    noise = rng.normal(size=(d, d)) * deviation * rng.choice([1.0, 3.0])
    variances = np.full((d, d), np.inf)
    for j in range(d):
        for k in range(j, d):
            if j == k or rng.random() < 0.7:
                variances[j, k] = variances[k, j] = deviation**2 * rng.uniform(0.3, 3.0)
    return truth + (noise + noise.T) / 2, variances


def solved(targets: np.ndarray, variances: np.ndarray, gamma: float) -> tuple[np.ndarray, Fit]:
    a, b = (part.astype(int) for part in np.triu_indices(len(targets), 1))
    measured = np.isfinite(variances[a, b])
    a, b = a[measured], b[measured]
    sigma, precision, fit = solve_component(
        np.diag(targets), np.diag(variances), a, b, targets[a, b], variances[a, b], gamma
    )
    assert sigma @ precision == pytest.approx(np.eye(len(sigma)), abs=1e-5)
    return sigma, fit


def test_two_hundred_random_instances_agree_with_a_second_solver() -> None:
    rng = np.random.default_rng(11)
    worst, impossible, restarted = 0.0, 0, 0
    for _ in range(200):
        targets, variances = random_instance(rng)
        sigma, fit = solved(targets, variances, 0.01)
        assert fit.converged
        restarted += fit.continued
        impossible += np.linalg.eigvalsh(targets)[0] < 0
        worst = max(worst, float(np.abs(sigma - primal_fit(targets, variances, 0.01)).max()))
    assert worst <= 1e-5
    assert impossible >= 40
    assert restarted >= 1


def test_conjugate_gradients_find_what_the_factored_system_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(12)
    instances = [random_instance(rng) for _ in range(40)]
    factored = [solved(targets, variances, 0.01)[0] for targets, variances in instances]
    assert DENSE_UNKNOWNS > 21
    monkeypatch.setattr(entropy_newton, "DENSE_UNKNOWNS", 0)
    for (targets, variances), expected in zip(instances, factored):
        sigma, fit = solved(targets, variances, 0.01)
        assert fit.converged
        assert sigma == pytest.approx(expected, abs=1e-5)


def test_refitting_the_touched_component_is_a_joint_fit_in_either_order_of_a_pair() -> None:
    rng = np.random.default_rng(13)
    for _ in range(20):
        d = 8
        y, v = rng.uniform(0.5, 1.5, d), np.full(d, 0.01)
        one, other = (Reconstruction(y, v, 0.01) for _ in range(2))
        for _ in range(6):
            j, k = (int(place) for place in rng.choice(d, 2, replace=False))
            value = float(rng.normal(0, 0.5))
            one.measure(j, k, value, 0.01, 1e-7)
            other.measure(k, j, value, 0.01, 1e-7)
        one.finish(1e-12)
        assert np.array_equal(one.sigma, one.sigma.T)
        other.finish(1e-12)
        assert one.sigma == pytest.approx(other.sigma, abs=1e-9)
        variances = np.full((d, d), np.inf)
        targets = np.diag(y)
        np.fill_diagonal(variances, v)
        for (j, k), entry in one.entries.items():
            targets[j, k] = targets[k, j] = entry.value
            variances[j, k] = variances[k, j] = entry.variance
        joint, _ = solved(targets, variances, 0.01)
        assert one.sigma == pytest.approx(joint, abs=1e-6)
        same = one.labels[:, None] == one.labels[None, :]
        assert (one.sigma[~same] == 0.0).all()


def test_a_pair_measured_twice_is_weighed_by_precision() -> None:
    one = Reconstruction(np.ones(2), np.full(2, 0.01), 0.01)
    one.measure(0, 1, 0.2, 0.01, 1e-12)
    one.measure(0, 1, 0.5, 0.04, 1e-12)
    (entry,) = one.entries.values()
    assert entry.value == pytest.approx((0.2 * 100 + 0.5 * 25) / 125)
    assert entry.variance == pytest.approx(1 / 125)


def test_shrinkage_drops_what_is_below_its_noise() -> None:
    one = Reconstruction(np.ones(4), np.full(4, 0.01), 0.01)
    one.measure(0, 1, 0.5, 0.01, 1e-12)
    one.measure(1, 2, 0.05, 0.01, 1e-12)
    shrunk = one.shrunk()
    shrunk.finish(1e-12)
    assert list(shrunk.entries) == [(0, 1)]
    assert shrunk.entries[0, 1].value == pytest.approx(0.5 * (1 - 0.01 / 0.25))
    assert shrunk.labels[0] == shrunk.labels[1] != shrunk.labels[2]
    assert shrunk.sigma[1, 2] == 0.0
    assert one.sigma[1, 2] != 0.0


def test_two_equal_columns_and_a_constant_one_are_fitted() -> None:
    one = Reconstruction(np.array([0.2, 0.2, 0.0]), np.full(3, 1e-8), 0.01)
    one.measure(0, 1, 0.2, 1e-8, 1e-7)
    one.measure(1, 2, 1e-5, 1e-8, 1e-7)
    one.finish(1e-12)
    assert one.converged
    assert np.linalg.eigvalsh(one.sigma)[0] > 0
    assert one.sigma[0, 1] / np.sqrt(one.sigma[0, 0] * one.sigma[1, 1]) > 0.999


def test_a_fit_that_does_not_converge_gives_its_last_positive_definite_iterate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from executors.statistics import entropy_fit

    monkeypatch.setattr(entropy_fit, "_FIRST_STEPS", 1)
    monkeypatch.setattr(entropy_fit, "_STEPS_A_LEVEL", 1)
    one = Reconstruction(np.ones(3), np.full(3, 1e-6), 0.01)
    for j, k, y in ((0, 1, 0.9), (0, 2, 0.9), (1, 2, -0.9)):
        one.measure(j, k, y, 1e-6, 1e-12)
    assert not one.converged
    assert np.linalg.eigvalsh(one.sigma)[0] > 0
    assert len(one.entries) == 3
    monkeypatch.undo()
    one.finish(1e-12)
    assert one.converged
