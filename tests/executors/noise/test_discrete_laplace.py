"""Integer Laplace noise of scale s on a move of D tells no more than Laplace noise of D' / s."""

from __future__ import annotations

import math

import mpmath
import pytest

mpmath.mp.dps = 50


def shifted(scale, move, reach):
    """(false alarms, misses) of every best test between the law and the law moved by `move`.

    P(X >= t) of two-sided geometric noise is q^t/(1 + q) for t >= 1, and the law is symmetric.
    """
    q = mpmath.exp(-1 / mpmath.mpf(scale))

    def at_least(t):
        return q**t / (1 + q) if t >= 1 else 1 - q ** (1 - t) / (1 + q)

    return [(at_least(t), 1 - at_least(t - move)) for t in range(-reach, reach + move + 1)]


def laplace(eps, alarms):
    """The least misses against continuous noise with D1/b = eps."""
    if alarms < mpmath.exp(-eps) / 2:
        return 1 - mpmath.exp(eps) * alarms
    return mpmath.exp(-eps) / (4 * alarms) if alarms <= 0.5 else mpmath.exp(-eps) * (1 - alarms)


@pytest.mark.parametrize("scale", [0.5, 1, 1.7, 4, 32, 512])
@pytest.mark.parametrize("move", [1, 2, 3, 7])
def test_every_vertex_lies_above_the_trade_off_of_the_inflated_laplace_law(scale, move):
    cost = move / mpmath.mpf(scale) + 2 * mpmath.log(mpmath.cosh(1 / (2 * mpmath.mpf(scale))))
    reach = min(400, 20 * math.ceil(scale) + 5)
    found = shifted(scale, move, reach)
    slack = mpmath.mpf(10) ** -40
    assert all(misses >= laplace(cost, alarms) - slack for alarms, misses in found)
    # It is reached: with a thousandth less some vertex lies below.
    assert any(misses < laplace(cost * 0.999, alarms) for alarms, misses in found)
    # And so is the part of it that a scale raised by a quarter pays for.
    assert cost <= move / mpmath.mpf(scale) * (1 + 1 / (4 * mpmath.mpf(scale)))


def test_without_the_inflation_a_vertex_lies_below():
    assert any(misses < laplace(1, alarms) for alarms, misses in shifted(1, 1, 40))
    golden = 1 + 2 * mpmath.log(mpmath.cosh(mpmath.mpf(1) / 2))
    assert abs(golden - mpmath.mpf("1.24022901391656")) < 1e-13
