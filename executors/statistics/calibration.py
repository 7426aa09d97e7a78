"""The calibrated threshold of an e-value that was released with noise.

A released log e-value is `log E - xi`, where `xi` is Gaussian with standard deviation `sigma` and
mean `sigma**2 / 2`, so that `exp(-xi)` has mean 1. Markov's inequality allows the threshold
`1 / level`; because the law of `xi` is known, a smaller one is enough, and the smallest is given
here. All functions work with logarithms and never exponentiate inside.
"""

from __future__ import annotations

from math import exp, inf, log, log1p, pi, sqrt
from typing import cast

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

__all__ = [
    "largest_calm_sigma",
    "log_cstar",
    "log_k",
    "log_k_laplace",
    "p_calibrated",
    "z_tangent",
]

HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
SLACK = 1e-12
"""Added to every log K: above the error of the formulas, so that a level is never exceeded."""


def z_tangent(sigma: float) -> float:
    """The z with `phi(z) / Phi(z) = sigma`, for `sigma > 0`.

    There the line through the origin touches the law of the rejection probability. The left side
    falls from infinity to 0, so the root is unique; the bracket of the search is proved in the
    notes of the peeling method. Raises ValueError for a sigma that is not positive and finite.
    """
    return _tangent(sigma)[0]


def log_k(sigma: float) -> float:
    """log K, with `K = sup_c c P(exp(-xi) >= c) = phi(z + sigma) / sigma`, rounded up by 1e-12.

    `sigma` is in nats; 0 gives 0. K is below 1 and falls with sigma: a released e-value may be
    divided by it wherever only a threshold of the form `constant / level` is used.
    """
    return 0.0 if sigma == 0 else min(0.0, _tangent(sigma)[1] + SLACK)


def log_cstar(level: float, sigma: float) -> float:
    """log of the least threshold whose level is at most `level` for every e-value.

    Reject when the released log e-value is at least this. For levels up to `Phi(z)` the worst
    e-value has two values and the threshold is `K / level`; above, the worst one is the constant 1.
    """
    if not 0 < level < 1:
        raise ValueError("a level lies between 0 and 1")
    if sigma == 0:
        return -log(level)
    z, value = _tangent(sigma)
    if log(level) <= float(log_ndtr(z)):
        return value + SLACK - log(level)
    threshold = -sigma * float(ndtri(level)) - 0.5 * sigma * sigma
    return threshold + SLACK + 1e-15 * sigma * sigma


def p_calibrated(log_evalue: float, sigma: float) -> float:
    """The p-value of a released log e-value: at most `a` exactly when `log_cstar(a)` is reached."""
    if sigma == 0:
        return exp(min(0.0, -log_evalue))
    z, value = _tangent(sigma)
    if -log_evalue <= sigma * z + 0.5 * sigma * sigma:
        return exp(min(0.0, value + SLACK - log_evalue))
    return exp(float(log_ndtr(-log_evalue / sigma - 0.5 * sigma)))


def log_k_laplace(beta: float) -> float:
    """log K for Laplace noise of scale `beta` < 1 nats and mean `-log(1 - beta**2)`.

    K = (1 - beta) (2 beta / (1 + beta)) ** beta, rounded up by 1e-12; 0 gives 0.
    """
    if not 0 <= beta < 1:
        raise ValueError("the scale of a Laplace e-value lies in [0, 1)")
    if beta == 0:
        return 0.0
    return min(0.0, log1p(-beta) + beta * (log(2 * beta) - log1p(beta)) + SLACK)


def largest_calm_sigma(level: float) -> float:
    """The sigma up to which evidence decides: beyond it the worst e-value is the constant 1.

    Equal to `phi(q) / level` with q the normal quantile of `level`.
    """
    q = float(ndtri(level))
    return exp(-0.5 * q * q - HALF_LOG_TWO_PI - log(level))


def _tangent(sigma: float) -> tuple[float, float]:
    """z and log K before rounding, to a relative error of about 1e-13."""
    if not 0 < sigma < inf:
        raise ValueError("a noise scale is positive and finite")
    if sigma > 50:
        # Far in the tail phi/Phi(-x) = x + 1/x - 2/x^3 + ..., solved for x by iteration.
        x = sigma
        for _ in range(20):
            rest = 1 / x - 2 / x**3 + 10 / x**5 - 74 / x**7
            x = sigma - rest
        rest = sigma - x
        return -x, -0.5 * rest * rest - log(sigma) - HALF_LOG_TWO_PI
    log_sigma = log(sigma)

    def excess(z: float) -> float:
        return -0.5 * z * z - HALF_LOG_TWO_PI - float(log_ndtr(z)) - log_sigma

    top = log(2.0) - log_sigma - HALF_LOG_TWO_PI
    high = (sqrt(2 * top) if top > 0 else 0.0) + 1e-9
    low = -sigma - 1e-9 * max(1.0, sigma)
    z = cast("float", brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16))
    if z > 0:
        # Either form loses digits where the other is exact.
        return z, float(log_ndtr(z)) - sigma * z - 0.5 * sigma * sigma
    return z, -0.5 * (z + sigma) ** 2 - log_sigma - HALF_LOG_TWO_PI
