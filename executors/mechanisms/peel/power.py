"""The expected share of false hypotheses that a peeling of a fixed size finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from executors.pricing.evalues import SMOOTHING_BITS

__all__ = ["Alternatives", "power"]

Array = np.ndarray[Any, np.dtype[np.float64]]

_NODES = np.linspace(-9.0, 9.0, 3601)
_WEIGHTS = np.exp(-0.5 * _NODES**2)
_WEIGHTS /= _WEIGHTS.sum()


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`signals` false hypotheses among `hypotheses`; `strength` is r.

    Log e-values are N(r^2 / 2, r^2) for false and N(-r^2 / 2, r^2) for true null hypotheses; then,
    as in every table, E becomes (1 - f) E + f with f = exp(`floor`). That lifts the null ones to
    the floor, which costs power where the selection is blunt.
    """

    hypotheses: int
    signals: int
    strength: float
    floor: float = -SMOOTHING_BITS * log(2.0)

    def false_ones(self) -> Array:
        """Nodes of the law of a false hypothesis's log e-value."""
        return np.logaddexp(self.strength**2 / 2 + self.strength * _NODES, self.floor)

    def true_ones(self) -> Array:
        """Nodes of the law of a true one's."""
        return np.logaddexp(-(self.strength**2) / 2 + self.strength * _NODES, self.floor)

    def count(self, share: Callable[[Array], Array]) -> float:
        """The expected number of hypotheses, where one with log e-value L counts `share(L)`."""
        nulls = self.hypotheses - self.signals
        return float(
            self.signals * _mean(share(self.false_ones())) + nulls * _mean(share(self.true_ones()))
        )

    def order_statistic(self, size: int) -> float:
        """About where the `size`-th largest log e-value lies."""
        wanted = min(size, self.hypotheses) - 0.5

        def excess(level: float) -> float:
            nulls = self.hypotheses - self.signals
            r = self.strength
            above = self.signals * ndtr((r * r / 2 - level) / r)
            return float(above + nulls * ndtr((-r * r / 2 - level) / r) - wanted)

        reach = 40 * self.strength + self.strength**2
        return float(np.logaddexp(brentq(excess, -reach, reach), self.floor))


def power(
    assumed: Alternatives, size: int, gumbel: float | None, sigma: float, base: float
) -> float:
    """The expected rejected share of the false hypotheses, between 0 and 1.

    `gumbel` is the scale of a selection round (None: all are taken), `sigma` that of a value, both
    in nats; `base` is log(m / level) + log K. The number R of rejections is taken as constant:
    starting at R = size it becomes what the threshold base - log R leaves, until it settles.
    """
    evidence = assumed.false_ones()
    selected = np.ones_like(evidence)
    if gumbel is not None:
        place = _selection_place(assumed, size, gumbel)
        selected = _chosen(evidence, place, gumbel)
    found = float(min(size, assumed.signals))
    for _ in range(500):
        needed = base - np.log(found) + sigma * sigma / 2
        passing = ndtr((evidence - needed) / sigma)
        after = assumed.signals * _mean(selected * passing)
        if after < 1e-9 or abs(after - found) < 1e-7 * found:
            found = after
            break
        found = after
    return min(1.0, found / assumed.signals)


def _selection_place(assumed: Alternatives, size: int, gumbel: float) -> float:
    """The t at which `size` hypotheses are expected to have L plus Gumbel noise above t."""

    def excess(place: float) -> float:
        return assumed.count(lambda evidence: _chosen(evidence, place, gumbel)) - size

    low = float(assumed.true_ones()[0]) - 60 * gumbel
    high = float(assumed.false_ones()[-1]) + gumbel * (60 + np.log(assumed.hypotheses))
    return float(brentq(excess, low, high))


def _chosen(evidence: Array, place: float, gumbel: float) -> Array:
    """P(L + Gumbel noise > place)."""
    return -np.expm1(-np.exp(np.minimum((evidence - place) / gumbel, 700.0)))


def _mean(values: Array) -> float:
    return float(np.dot(_WEIGHTS, values))
