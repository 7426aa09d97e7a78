"""The constant by which an e-value that was released with noise may be divided.

A released log e-value is `log E - xi`, where `xi` is Gaussian with standard deviation `sigma` and
mean `sigma**2 / 2`, so that `exp(-xi)` has mean 1. Markov's inequality allows the threshold
`1 / level`; because the law of `xi` is known, the smaller `K / level` is enough.
"""

from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import cast

from scipy.optimize import brentq
from scipy.special import log_ndtr

__all__ = ["log_k"]

HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
SLACK = 1e-12
"""Added to every log K: above the error of the formulas, so that a level is never exceeded."""


def log_k(sigma: float) -> float:
    """log K, with `K = sup_c c P(exp(-xi) >= c) = phi(z + sigma) / sigma`, rounded up by 1e-12.

    `sigma` is in nats; 0 gives 0. z solves `phi(z) / Phi(z) = sigma`: there the line through the
    origin touches the law of the rejection probability. K is below 1 and falls with sigma: a
    released e-value may be divided by it wherever only a threshold of the form `constant / level`
    is used. Raises ValueError for a sigma that is negative or not finite.
    """
    return 0.0 if sigma == 0 else min(0.0, _log_k(sigma) + SLACK)


def _log_k(sigma: float) -> float:
    """log K before rounding, to a relative error of about 1e-13.

    phi/Phi falls from infinity to 0, so the root is unique.
    """
    if not 0 < sigma < inf:
        raise ValueError("a noise scale is positive and finite")
    if sigma > 50:
        # Far in the tail phi/Phi(-x) = x + 1/x - 2/x^3 + ..., solved for x by iteration.
        x = sigma
        for _ in range(20):
            rest = 1 / x - 2 / x**3 + 10 / x**5 - 74 / x**7
            x = sigma - rest
        rest = sigma - x
        return -0.5 * rest * rest - log(sigma) - HALF_LOG_TWO_PI
    log_sigma = log(sigma)

    def excess(z: float) -> float:
        return -0.5 * z * z - HALF_LOG_TWO_PI - float(log_ndtr(z)) - log_sigma

    top = log(2.0) - log_sigma - HALF_LOG_TWO_PI
    high = (sqrt(2 * top) if top > 0 else 0.0) + 1e-9
    low = -sigma - 1e-9 * max(1.0, sigma)
    z = cast("float", brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16))
    if z > 0:
        # Either form loses digits where the other is exact.
        return float(log_ndtr(z)) - sigma * z - 0.5 * sigma * sigma
    return -0.5 * (z + sigma) ** 2 - log_sigma - HALF_LOG_TWO_PI
