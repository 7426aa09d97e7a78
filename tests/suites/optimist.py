"""Privacy losses composed in floats from their distribution functions, rounded down: never above.

Shares nothing with the calculus: it starts from the law of the loss, not from a profile, and
multiplies by Fourier transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from scipy import optimize, signal, stats

Law = tuple[int, npt.NDArray[np.float64]]


def _cdf(kind: str, param: float) -> tuple[Callable[[npt.NDArray[np.float64]], object], float]:
    """P(L <= l) of one draw's worst pair, with the largest loss that matters."""
    if kind == "pure":
        high = 1 / (1 + np.exp(-param))
        return lambda at: np.where(at >= param, 1.0, np.where(at >= -param, 1 - high, 0.0)), param
    if kind == "lap":
        return (
            lambda at: np.where(
                at >= param, 1.0, np.where(at >= -param, np.exp((at - param) / 2) / 2, 0.0)
            ),
            param,
        )
    if kind == "br":

        def logistic(at: npt.NDArray[np.float64]) -> object:
            u = np.exp((param - np.clip(at, -param, param)) / 2)
            return 1 - np.exp(param) * (u - 1) / (u * np.expm1(param))

        return logistic, param
    mu = param
    return lambda at: stats.norm.cdf(at, mu * mu / 2, mu), mu * mu / 2 + 9 * mu


def law(kind: str, param: float, step: float, down: float) -> Law:
    """Masses at multiples of the step, each loss moved down by `down` of a step at most.

    With 1 it is rounded down, so the profile is nowhere above; with 1/2 to the nearest.
    """
    cdf, reach = _cdf(kind, param)
    most = int(np.ceil(reach / step)) + 1
    edges = step * (np.arange(-most, most + 2) + down - 1)
    masses = np.diff(np.asarray(cdf(edges - 1e-12 * (down == 1)), dtype=float), prepend=0.0)
    return -most - 1, masses


def composed(
    parts: Iterable[tuple[str, float, int]], step: float, down: float = 1.0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Losses and masses of all draws; masses beyond the reach are left out."""
    low, masses = 0, np.ones(1)
    for kind, param, count in parts:
        first, one = law(kind, param, step, down)
        for _ in range(count):
            low, masses = low + first, np.maximum(signal.fftconvolve(masses, one), 0.0)
            kept = np.flatnonzero(masses > 1e-18)
            low, masses = low + int(kept[0]), masses[kept[0] : kept[-1] + 1]
    return step * (low + np.arange(len(masses))), masses


def delta_at(losses: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], eps: float) -> float:
    """delta at any real eps."""
    at, masses = losses
    return float(np.sum(masses * np.maximum(0.0, -np.expm1(eps - at))))


def gaussian(mu: float, eps: float) -> float:
    """delta of mu-GDP at any real eps."""
    return float(stats.norm.sf(eps / mu - mu / 2) - np.exp(eps) * stats.norm.sf(eps / mu + mu / 2))


def least_mu(losses: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]) -> float:
    """The largest mu that some eps demands: no smaller mu holds."""
    found = 0.0
    mean = max(0.0, float(np.sum(losses[0] * losses[1])))
    for eps in np.linspace(0, 4 * np.sqrt(2 * mean) + 2 * mean, 40):
        delta = delta_at(losses, eps)
        if 1e-10 < delta < 1 - 1e-10:
            found = max(
                found, optimize.brentq(lambda mu, e=eps, d=delta: gaussian(mu, e) - d, 1e-4, 60)
            )
    return found
