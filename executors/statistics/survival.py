"""The log partial likelihood ratio of grouped survival records."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from executors.statistics.survival_sums import Doubles, Integers, Pair, cumulate

__all__ = ["Groups", "log_ratio"]


class Groups(Protocol):
    """Per distinct time, ascending; see `executors.summaries.survival_groups`."""

    @property
    def count(self) -> Integers: ...
    @property
    def events(self) -> Integers: ...
    @property
    def gain(self) -> Pair: ...
    @property
    def null(self) -> Pair: ...
    @property
    def alternative(self) -> Pair: ...


def log_ratio(groups: Groups, floor: int) -> float:
    """L = sum over events of w(Y) [(b1-b0).x - log S1 + log S0], with Breslow's ties.

    S0 and S1 sum exp(b.x) over the Y records at risk, the event's own time included; w(Y) is
    min(1, Y / floor), and 1 for floor 0. Natural logarithm, no 1/n. Off by at most the e of
    `executors.pricing.survival.with_slack`.
    """
    at_risk = np.cumsum(groups.count[::-1])[::-1]
    weight = np.ones(len(at_risk)) if floor == 0 else np.minimum(1.0, at_risk / floor)
    drop = _log_later(groups.alternative) - _log_later(groups.null)
    terms = weight * (groups.gain[0] + groups.gain[1] - groups.events * drop)
    return math.fsum(terms[groups.events > 0])


def _log_later(terms: Pair) -> Doubles:
    """log of the sums over each time and all later ones."""
    high, low = cumulate((terms[0][::-1], terms[1][::-1]))
    return (np.log(high) + low / high)[::-1]
