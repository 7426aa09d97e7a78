"""Damped Newton steps for a ridge-regularised Gaussian graphical model.

With unknowns K (a symmetric matrix whose pairs off the graph are zero) it minimises

    g(K) = -log det K + sum_j K_jj y_jj + 2 sum_(j<k) K_jk y_jk
           + (gamma / 2) [ sum_j v_jj K_jj^2 + 4 sum_(j<k) v_jk K_jk^2 ],

which is strictly convex and self-concordant. At the minimum Sigma = K^-1 satisfies
y_jj - Sigma_jj + gamma v_jj K_jj = 0 and y_jk - Sigma_jk + 2 gamma v_jk K_jk = 0 on the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

__all__ = ["DENSE_UNKNOWNS", "Matrix", "Problem", "State", "Vector", "descend"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

DENSE_UNKNOWNS = 1500
"""Up to so many unknowns the Newton system is factored; beyond, conjugate gradients solve it."""

_CERTAIN = 0.25
"""A Newton decrement below which a full step stays inside the cone and converges quadratically."""

_LARGEST_JITTER = 1e-2
_MOST_DOUBLINGS = 60
_MOST_HALVINGS = 80
_MOST_GRADIENTS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One graph with its targets.

    `a`, `b`, shape (c + m,), are the ends of every unknown: first a = b = 0 .. c - 1, then the m
    pairs. `y` and `v` are the target and its noise variance of each, `size` is c. `times` tells how
    often an unknown stands in the matrix: 1 on the diagonal, 2 for a pair.
    """

    size: int
    a: Indices
    b: Indices
    y: Vector
    v: Vector
    times: Vector

    @classmethod
    def of(
        cls, y_diag: Vector, v_diag: Vector, a: Indices, b: Indices, y: Vector, v: Vector
    ) -> Problem:
        """The problem of a diagonal with pairs (a, b)."""
        own = np.arange(len(y_diag))
        return cls(
            len(y_diag),
            np.concatenate([own, a]).astype(np.int64),
            np.concatenate([own, b]).astype(np.int64),
            np.concatenate([y_diag, y]),
            np.concatenate([v_diag, v]),
            np.repeat([1.0, 2.0], [len(y_diag), len(y)]),
        )

    def matrix(self, unknowns: Vector) -> Matrix:
        """The symmetric matrix of the unknowns, shape (c, c)."""
        matrix = np.zeros((self.size, self.size))
        matrix[self.a, self.b] = unknowns
        matrix[self.b, self.a] = unknowns
        return matrix

    def entries(self, matrix: Matrix) -> Vector:
        """The unknowns of a symmetric matrix."""
        return np.asarray(matrix[self.a, self.b])

    def ridge(self, gamma: float) -> Vector:
        """Second derivative of the ridge: gamma v on the diagonal, 4 gamma v for a pair."""
        return np.asarray(gamma * self.v * self.times**2)

    def slope(self) -> Vector:
        """Derivative of the linear part."""
        return np.asarray(self.y * self.times)

    def gradient(self, state: State, gamma: float) -> Vector:
        """Derivative of g."""
        covariance = self.entries(state.sigma) * self.times
        return np.asarray(self.slope() - covariance + self.ridge(gamma) * state.unknowns)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A positive-definite iterate: the unknowns, g there, and Sigma = K^-1."""

    unknowns: Vector
    value: float
    sigma: Matrix

    @classmethod
    def at(cls, problem: Problem, gamma: float, unknowns: Vector) -> State | None:
        """The state at these unknowns; None where K is not positive definite or g not finite."""
        factor, failed = dpotrf(problem.matrix(unknowns), lower=1, overwrite_a=1)
        if failed:
            return None
        with np.errstate(all="ignore"):
            value = -2.0 * float(np.log(np.diagonal(factor)).sum())
            value += float(problem.slope() @ unknowns)
            value += 0.5 * float((problem.ridge(gamma) * unknowns) @ unknowns)
        inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
        if failed or not np.isfinite(value) or not np.isfinite(inverse).all():
            return None
        lower = np.tril(inverse)
        return cls(unknowns, value, lower + np.tril(inverse, -1).T)


def descend(
    problem: Problem, gamma: float, state: State, tolerance: float, steps: int
) -> tuple[State, bool, int]:
    """The iterate after at most `steps` steps, whether d^2/2 <= tolerance, the steps taken.

    d is the Newton decrement; the last step, whose price is known by then, is still taken. Raises
    nothing: where no step goes down, it ends unconverged.
    """
    for step in range(steps):
        gradient = problem.gradient(state, gamma)
        direction = _direction(problem, gamma, state, gradient)
        square = -float(gradient @ direction)
        if not np.isfinite(square) or square < 0.0:
            return state, False, step
        if square / 2.0 <= tolerance:
            polished = State.at(problem, gamma, state.unknowns + direction)
            return state if polished is None else polished, True, step
        following = _line_search(problem, gamma, state, direction, square)
        if following is None:
            return state, False, step
        state = following
    return state, False, steps


def _line_search(
    problem: Problem, gamma: float, state: State, direction: Vector, square: float
) -> State | None:
    decrement = float(np.sqrt(square))
    if decrement < _CERTAIN:
        # g itself is too coarse to see the last digits; the decrement is not.
        certain = State.at(problem, gamma, state.unknowns + direction)
        if certain is not None:
            return certain
    length = 1.0 if decrement < 1.0 else 1.0 / (1.0 + decrement)
    best: State | None = None
    for _ in range(_MOST_HALVINGS):
        best = State.at(problem, gamma, state.unknowns + length * direction)
        if best is not None and best.value <= state.value - 1e-4 * length * square:
            break
        best = None
        length /= 2.0
    if best is None:
        return None
    for _ in range(_MOST_DOUBLINGS):
        length *= 2.0
        further = State.at(problem, gamma, state.unknowns + length * direction)
        if further is None or further.value >= best.value:
            break
        best = further
    return best


def _direction(problem: Problem, gamma: float, state: State, gradient: Vector) -> Vector:
    if len(gradient) <= DENSE_UNKNOWNS:
        return _factored(problem, gamma, state, gradient)
    return _conjugate(problem, gamma, state, gradient)


def _factored(problem: Problem, gamma: float, state: State, gradient: Vector) -> Vector:
    """Solve with the Hessian scaled to unit diagonal, a growing multiple of I added."""
    hessian = _hessian(problem, gamma, state)
    scale = 1.0 / np.sqrt(np.diagonal(hessian))
    hessian *= scale[:, None]
    hessian *= scale[None, :]
    diagonal = np.einsum("ii->i", hessian)
    jitter, added = 1e-14, 0.0
    while jitter <= _LARGEST_JITTER:
        diagonal += jitter - added
        added = jitter
        factor, failed = dpotrf(hessian, lower=1)
        if failed:
            jitter *= 100.0
            continue
        solved, _ = dpotrs(factor, -gradient * scale, lower=1)
        return np.asarray(scale * solved)
    return -gradient * scale**2


def _hessian(problem: Problem, gamma: float, state: State) -> Matrix:
    """S_ae^2 for two variances, 2 S_ae S_af for one and a pair (e, f), for two pairs
    2 (S_ae S_bf + S_af S_be); and the ridge.
    """
    size, sigma = problem.size, state.sigma
    a, b = problem.a[size:], problem.b[size:]
    to_a, to_b = sigma.take(a, axis=1), sigma.take(b, axis=1)
    hessian = np.empty((len(problem.a),) * 2)
    np.multiply(sigma, sigma, out=hessian[:size, :size])
    crossed = 2.0 * to_a * to_b
    hessian[:size, size:] = crossed
    hessian[size:, :size] = crossed.T
    mixed = to_b.take(a, axis=0)
    pairs = to_a.take(a, axis=0) * to_b.take(b, axis=0)
    pairs += mixed * mixed.T
    np.multiply(pairs, 2.0, out=hessian[size:, size:])
    np.einsum("ii->i", hessian)[:] += problem.ridge(gamma)
    return hessian


def _conjugate(problem: Problem, gamma: float, state: State, gradient: Vector) -> Vector:
    """Conjugate gradients on v -> (Sigma V Sigma on the graph) + ridge, Jacobi preconditioned."""
    sigma = state.sigma
    ridge, times = problem.ridge(gamma), problem.times
    own = np.diagonal(sigma)
    spread = own[problem.a] * own[problem.b]
    cross = problem.entries(sigma) ** 2
    diagonal = np.where(times == 1.0, cross, 2.0 * (spread + cross)) + ridge

    def product(direction: Vector) -> Vector:
        turned: Any = sigma @ problem.matrix(direction) @ sigma
        return np.asarray(problem.entries(turned) * times + ridge * direction)

    solution = np.zeros_like(gradient)
    rest = -gradient
    aimed = rest / diagonal
    along = aimed.copy()
    power = float(rest @ aimed)
    goal = power * (1e-2 * min(1.0, power**0.25)) ** 2
    for _ in range(_MOST_GRADIENTS):
        if power <= goal:
            break
        image = product(along)
        curvature = float(along @ image)
        if not curvature > 0.0:
            break
        solution += power / curvature * along
        rest = rest - power / curvature * image
        aimed = rest / diagonal
        before, power = power, float(rest @ aimed)
        along = aimed + power / before * along
    return solution
