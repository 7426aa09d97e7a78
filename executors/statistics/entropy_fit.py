"""The maximum-entropy covariance of one connected set of noisy entries.

Sigma minimises (1/2) sum_S (Sigma_jk - y_jk)^2 / v_jk - gamma log det Sigma over positive-definite
matrices, S being the diagonal with the measured pairs. It exists for every y. As gamma falls it
tends to the completion of largest determinant where the entries can be completed, otherwise to the
nearest positive-semidefinite matrix in weighted squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np
import numpy.typing as npt

from executors.statistics.entropy_newton import Matrix, Problem, State, Vector, descend

__all__ = ["Fit", "diagonal_precision", "solve_component"]

Indices = npt.NDArray[np.int64]

_FIRST_STEPS = 15
_STEPS_A_LEVEL = 60
_COARSE = 1e-2
_RATIOS = (3.2, 1.5)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a fit went: whether it reached its tolerance, Newton steps, whether it was restarted."""

    converged: bool
    steps: int
    continued: bool


def diagonal_precision(y: Vector, v: Vector, gamma: float) -> Vector:
    """1 / Sigma_jj of single nodes: Sigma_jj = (y + sqrt(y^2 + 4 gamma v)) / 2, without cancelling.

    `y` are the noisy variances, `v` > 0 their noise variances, both of shape (c,).
    """
    size = np.abs(y) + np.sqrt(y * y + 4.0 * gamma * v)
    with np.errstate(over="ignore"):
        return np.asarray(np.where(y >= 0.0, 2.0 / size, size / (2.0 * gamma * v)))


def solve_component(
    y_diag: Vector,
    v_diag: Vector,
    a: Indices,
    b: Indices,
    y: Vector,
    v: Vector,
    gamma: float,
    start: Matrix | None = None,
    tolerance: float = 1e-12,
) -> tuple[Matrix, Matrix, Fit]:
    """Sigma and K = Sigma^-1, shape (c, c), with how it went.

    `y_diag`, `v_diag` (c,): noisy variances with noise variances > 0. `a`, `b`, `y`, `v` (m,): the
    pairs a < b, each once, with values and noise variances. `start`: an earlier K, taken where it
    is better than the cold one. `tolerance` bounds half the squared Newton decrement. Nothing is
    raised for finite input: an unconverged fit is the last positive-definite iterate.
    """
    unit = np.sqrt(np.maximum(y_diag, np.sqrt(v_diag)))
    pair = unit[a] * unit[b]
    problem = Problem.of(y_diag / unit**2, v_diag / unit**4, a, b, y / pair, v / (pair * pair))
    state, converged, steps = _warm(problem, gamma, start, unit, tolerance)
    continued = False
    for ratio in _RATIOS:
        if converged:
            break
        continued = True
        following, converged, more = _continue(problem, gamma, ratio, tolerance)
        steps += more
        if converged or following.value < state.value:
            state = following
    units = np.outer(unit, unit)
    return (
        state.sigma * units,
        problem.matrix(state.unknowns) / units,
        Fit(converged, steps, continued),
    )


def _cold(problem: Problem, gamma: float) -> State:
    unknowns = np.zeros(len(problem.y))
    own = slice(0, problem.size)
    unknowns[own] = diagonal_precision(problem.y[own], problem.v[own], gamma)
    state = State.at(problem, gamma, unknowns)
    if state is None:
        raise ValueError("variances, noise variances and gamma are finite, the last two positive")
    return state


def _warm(
    problem: Problem, gamma: float, start: Matrix | None, unit: Vector, tolerance: float
) -> tuple[State, bool, int]:
    """A few steps from the better of the cold start and the earlier K."""
    state = _cold(problem, gamma)
    if start is not None:
        earlier = State.at(problem, gamma, problem.entries(start * np.outer(unit, unit)))
        if earlier is not None and earlier.value < state.value:
            state = earlier
    return descend(problem, gamma, state, tolerance, _FIRST_STEPS)


def _continue(
    problem: Problem, gamma: float, ratio: float, tolerance: float
) -> tuple[State, bool, int]:
    """From a large gamma down to the wanted one, each level from the last.

    Where the entries cannot be completed K grows like 1/gamma, and Newton's steps from afar would
    be as many as the misfit over gamma.
    """
    own = slice(0, problem.size)
    pairs = slice(problem.size, None)
    misfit = float((problem.y[pairs] ** 2 / problem.v[pairs]).sum())
    below = np.minimum(problem.y[own], 0.0)
    misfit += float((below**2 / problem.v[own]).sum())
    highest = max(1.0, gamma, misfit / (2.0 * problem.size))
    levels = max(1, ceil(log(highest / gamma) / log(ratio)))
    state, converged, steps = _cold(problem, highest), False, 0
    for level in range(levels + 1):
        last = level == levels
        here = gamma if last else highest * (gamma / highest) ** (level / levels)
        again = State.at(problem, here, state.unknowns)
        state = _cold(problem, here) if again is None else again
        state, converged, taken = descend(
            problem, here, state, tolerance if last else _COARSE, _STEPS_A_LEVEL
        )
        steps += taken
    return state, converged, steps
