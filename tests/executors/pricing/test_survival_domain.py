"""Widths are upper bounds, exact for boxes, near the truth for a box inside a ball."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import minimize

from executors.pricing.survival_domain import Domain, box


def test_the_width_of_a_box_is_exact() -> None:
    domain = box([F(0), F(16)], [F(1), F(60)])
    assert domain.width((F("-0.4"), F("-0.03"))) == F("0.4") + F("0.03") * 44
    assert domain.width((F(0), F(0))) == 0


def test_the_width_of_a_ball_is_its_diameter() -> None:
    far = F(100)
    domain = Domain((-far, -far), (far, far), (F(0), F(0)), F(2))
    assert domain.width((F(3), F(4))) == 20


def test_a_ball_that_holds_the_box_changes_nothing() -> None:
    lo, hi = (F(-1), F(0)), (F(1), F(2))
    inside = Domain(lo, hi, (F(0), F(1)), F(10))
    assert inside.width((F(1), F(-3))) == box(lo, hi).width((F(1), F(-3)))


@pytest.mark.parametrize("seed", range(25))
def test_the_width_of_a_box_in_a_ball_is_tight_from_above(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    lo, hi = -rng.uniform(0, 2, d), rng.uniform(0.1, 2, d)
    radius = float(rng.uniform(0.2, 2.5))
    a = rng.normal(size=d) * (rng.random(d) < 0.8)
    domain = Domain(tuple(map(F, lo.tolist())), tuple(map(F, hi.tolist())), (F(0),) * d, F(radius))
    found = float(domain.width(tuple(map(F, a.tolist()))))
    truth = best(a, lo, hi, radius) + best(-a, lo, hi, radius)
    assert truth <= found * (1 + 1e-9) + 1e-12
    assert found <= truth * (1 + 1e-6) + 1e-9


def best(a: np.ndarray, lo: np.ndarray, hi: np.ndarray, radius: float) -> float:
    """max a.x over the box and the ball, by a general optimiser."""
    if not a.any():
        return 0.0
    ball = {"type": "ineq", "fun": lambda x: radius**2 - x @ x, "jac": lambda x: -2 * x}
    start = 0.5 * np.clip(a / np.abs(a).max() * radius / 4, lo, hi)
    options = {"ftol": 1e-15, "maxiter": 500}
    found = minimize(
        lambda x: -a @ x,
        start,
        jac=lambda x: -a,
        bounds=list(zip(lo, hi)),
        constraints=ball,
        method="SLSQP",
        options=options,
    )
    inside = found.x * min(1.0, radius / max(np.linalg.norm(found.x), 1e-300))
    return float(a @ inside)
