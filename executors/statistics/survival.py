"""The log partial likelihood ratio of grouped survival records."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from executors.statistics.survival_sums import Doubles, Integers, Pair, cumulate, total

__all__ = ["Groups", "later", "log_ratio", "weights"]


class Groups(Protocol):
    """Per distinct time, ascending; see `executors.summaries.survival_groups`."""

    @property
    def count(self) -> Integers: ...
    @property
    def events(self) -> Integers: ...
    def part(self, name: str) -> Pair: ...


def weights(groups: Groups, floor: int) -> Doubles:
    """w(Y) = min(1, Y / floor) of each time, Y the records at risk then; 1 for floor 0."""
    at_risk = np.cumsum(groups.count[::-1])[::-1]
    return np.ones(len(at_risk)) if floor == 0 else np.minimum(1.0, at_risk / floor)


def later(terms: Pair, row: int = 0) -> Pair:
    """The sums of one row over each time and all later ones, shape (g,)."""
    high, low = cumulate((terms[0][row, ::-1], terms[1][row, ::-1]))
    return high[::-1], low[::-1]


def log_ratio(groups: Groups, floor: int) -> float:
    """L = sum over events of w(Y) [(b1-b0).x - log S1 + log S0], with Breslow's ties.

    S0 and S1 sum exp(b.x) over the Y records at risk, the event's own time included; w(Y) is
    min(1, Y / floor), and 1 for floor 0. Natural logarithm, no 1/n. Off by at most the e of
    `executors.pricing.survival.with_slack`.
    """
    drop = _log_later(groups.part("alternative")) - _log_later(groups.part("null"))
    high, low = groups.part("gain")
    terms = weights(groups, floor) * (high[0] + low[0] - groups.events * drop)
    return total(np.where(groups.events > 0, terms, 0.0))


def _log_later(terms: Pair) -> Doubles:
    """log of the sums over each time and all later ones."""
    high, low = later(terms)
    return np.asarray(np.log(high) + low / high, dtype=np.float64)
