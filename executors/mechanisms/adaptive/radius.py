"""How far to shorten rows: where the noise saved outweighs what is cut off."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

__all__ = ["Errors", "errors_of", "upper_trace"]


@dataclass(frozen=True, slots=True)
class Errors:
    """Bounds on what the noise of each estimator does to rows shortened to 2^k, R = 1.

    The Gaussian release errs by `gaussian` 4^k; the one that measures the spectrum apart errs by
    `rough` 2^k + `fine` 4^k.
    """

    rough: float
    fine: float
    gaussian: float

    def separate_at(self, k: int) -> float:
        """What the spectrum measured apart errs by."""
        return 2.0**k * self.rough + 4.0**k * self.fine

    def gaussian_at(self, k: int) -> float:
        """What the Gaussian release errs by."""
        return 4.0**k * self.gaussian

    def at(self, k: int) -> float:
        """What the better of both errs by."""
        return min(self.separate_at(k), self.gaussian_at(k))

    def prefers_gaussian(self, k: int) -> bool:
        """Whether the Gaussian release errs no more."""
        return self.separate_at(k) >= self.gaussian_at(k)


def errors_of(order: int, rows: float, rho: float, beta: float, trace: float) -> Errors:
    """The bounds for matrices of this order, with `rho` for the matrix and a mean squared length.

    `rows` is n, or n over the rows of one person. Each holds but with probability 3 beta / 4.
    """
    beta *= 0.75
    half = log(2.0 / beta)
    eta = sqrt(order + 2.0 * sqrt(order * half) + 2.0 * half)
    theta = min((log(order) / order) ** 0.3, 0.5)
    spread = 6.0 * sqrt(log(order)) / sqrt(log(1.0 + theta))
    norm = (1.0 + theta) * (2.0 * sqrt(order) + spread) + sqrt(2.0 * log(4.0 / beta))
    omega = order**2 + 2.0 * sqrt(order * half) * (1.0 + sqrt(2.0 * (order - 1.0))) + 6.0 * half
    rough = 2.0**1.25 * sqrt(trace) * sqrt(norm) / (6.0 * sqrt(rows) * rho**0.25)
    return Errors(
        rough=rough,
        fine=sqrt(2.0) * eta / (rows * sqrt(rho)),
        gaussian=sqrt(omega) / (rows * sqrt(rho)),
    )


def upper_trace(noisy: float, deviation: float, beta: float) -> float:
    """A mean squared length (R = 1) that the true one passes with probability below beta / 8."""
    return min(1.0, max(1e-16, noisy + deviation * sqrt(2.0 * log(8.0 / beta))))
