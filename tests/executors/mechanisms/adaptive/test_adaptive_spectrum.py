"""The eigenvalue solver, which the proof of the spectrum measured apart takes on trust."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb_mat, arb, arb_mat, ctx

from executors.mechanisms.adaptive.estimate import spectrum
from executors.pricing.covariance import ball_limit

ROWS = 2**27


def gram(size: int, rng: np.random.Generator) -> list[list[int]]:
    """Sums over 2^27 rows on the sphere of the grid, a few directions many times each."""
    z = rng.normal(size=(size + 3, size))
    z = np.floor(2**16 * z / np.linalg.norm(z, axis=1, keepdims=True)).astype(int)
    times = rng.multinomial(ROWS, np.ones(size + 3) / (size + 3))
    return [
        [sum(int(t) * int(r[a]) * int(r[b]) for t, r in zip(times, z)) for b in range(size)]
        for a in range(size)
    ]


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_computed_eigenvalues_err_far_less_than_is_allowed(size: int) -> None:
    """Against balls of 300 bits: half of what one computation is allowed is never reached."""
    rng = np.random.default_rng(size)
    allowed = ROWS * ball_limit(size) * size**2 / 2**48 + size
    for _ in range(8):
        matrix = gram(size, rng)
        computed = spectrum(np.array(matrix, dtype=np.int64))
        with ctx.workprec(300):
            balls = arb_mat(size, size, [arb(value) for row in matrix for value in row])
            exact = sorted((one.real for one in acb_mat(balls).eig(multiple=True)), key=float)
            moved = sum((arb(a) - b) ** 2 for a, b in zip(computed, exact, strict=True)).sqrt()
        assert float(moved.upper()) < allowed / 2
