"""Lower bounds on a privacy loss from samples of two laws, at a stated confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import betaincinv, ndtri

from planner.calculus.cost import Cost

__all__ = ["Event", "choose", "claimed", "lower_bound"]

FAILURE = 1e-5
ORDERS = (1.0001, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0)


@dataclass(frozen=True, slots=True)
class Event:
    """A half-line of scores, above or not above `threshold`; `swap`: likelier under the first."""

    threshold: float
    above: bool
    swap: bool

    def frequencies(self, first: np.ndarray, second: np.ndarray) -> tuple[int, int, int, int]:
        """Hits and draws, of the law under which it is likelier and of the other."""
        likely, other = (first, second) if self.swap else (second, first)
        hit = (lambda x: x > self.threshold) if self.above else (lambda x: x <= self.threshold)
        return int(hit(likely).sum()), len(likely), int(hit(other).sum()), len(other)


def _least(hits: int, draws: int) -> float:
    """Clopper-Pearson lower end of a probability."""
    return 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, FAILURE))


def _most(hits: int, draws: int) -> float:
    """Clopper-Pearson upper end of a probability."""
    return 1.0 if hits == draws else float(betaincinv(hits + 1, draws - hits, 1.0 - FAILURE))


def _renyi(p: float, q: float, order: float) -> float:
    """Renyi divergence of order `order` between coins of chances p and q."""
    total = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
    return math.log(total) / (order - 1)


def _loss(p: float, q: float, cost: Cost) -> float:
    """The least loss, in the unit of `cost`, if P(event) >= p and Q(event) <= q."""
    if not p > q or q <= 0.0:
        return 0.0
    match cost.unit:
        case "eps":
            return math.log(p / q)
        case "eps_delta":
            excess = p - float(cost.delta)
            return math.log(excess / q) if excess > q else 0.0
        case "mu":
            return float(ndtri(p) - ndtri(q))
        case "rho":
            return max(_renyi(p, q, order) / order for order in ORDERS)


def claimed(cost: Cost) -> float:
    """The claim that the bound must not pass."""
    return float(Fraction(cost.amount))


def choose(first: np.ndarray, second: np.ndarray, cost: Cost) -> Event:
    """The half-line whose bound is best on these draws."""
    pooled = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.01, 0.99, 99)))
    events = [
        Event(float(threshold), above, swap)
        for threshold in pooled
        for above in (True, False)
        for swap in (True, False)
    ]
    return max(events, key=lambda event: _bound(event, first, second, cost))


def _bound(event: Event, first: np.ndarray, second: np.ndarray, cost: Cost) -> float:
    hits, draws, others, other_draws = event.frequencies(first, second)
    return _loss(_least(hits, draws), _most(others, other_draws), cost)


def lower_bound(first: np.ndarray, second: np.ndarray, cost: Cost) -> float:
    """A loss that the mechanism has at least, wrong with probability below 2e-5.

    The event is chosen on one half of the draws; the bound is computed on the other half.
    """
    middle = len(first) // 2
    event = choose(first[:middle], second[:middle], cost)
    return _bound(event, first[middle:], second[middle:], cost)
